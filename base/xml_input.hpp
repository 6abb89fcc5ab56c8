#pragma once
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace collbench {

/// The bound of XmlInput::integer where the format sets none.
inline constexpr int kMaxXmlInteger = 1 << 30;

/// A parsed XML file that knows where its nodes stand. Keeps a reference to `text` and `file`.
class XmlInput {
 public:
  /// Refuses what is no text, is larger than kMaxInputBytes, declares entities or another encoding than
  /// UTF-8, is not well-formed, nests deeper than 200, or has another root than `root`: Error (usage) with
  /// FILE:LINE. `expected` says what should be there: "an NCCL topology XML".
  XmlInput(std::string_view text, std::string_view file, const char* root, std::string_view expected);

  [[nodiscard]] pugi::xml_node root() const { return document_.document_element(); }

  /// "FILE:LINE" of a node.
  [[nodiscard]] std::string where(pugi::xml_node node) const;

  /// An Error (usage) at a node; to be thrown.
  [[nodiscard]] Error error(pugi::xml_node node, std::string_view what) const;

  /// The attribute's text, on one line; none when it is absent.
  [[nodiscard]] static std::optional<std::string> text_of(pugi::xml_node node, const char* attribute);

  /// The attribute as an integer in [least, most]; none when absent. Throws when it is anything else.
  [[nodiscard]] std::optional<int> integer(pugi::xml_node node, const char* attribute, int least,
                                           int most) const;

  /// The attribute as a number that is finite and not negative; none when absent. Throws when it is anything
  /// else.
  [[nodiscard]] std::optional<double> number(pugi::xml_node node, const char* attribute) const;

 private:
  std::string_view text_;
  std::string_view file_;
  pugi::xml_document document_;
};

}  // namespace collbench
