#include "base/xml_input.hpp"

#include <fmt/format.h>

#include "base/text_input.hpp"
#include "base/text_sinks.hpp"

namespace collbench {
namespace {

// hwloc nests caches and bridges some 25 deep, NCCL 10. The readers recurse, so the depth is bounded first.
constexpr int kMaxElementDepth = 200;
constexpr std::string_view kSaveWhole = "save the whole file again";

/// Whether the tree is deeper than kMaxElementDepth. Walks without recursion.
bool too_deep(const pugi::xml_document& document) {
  int depth = 0;
  pugi::xml_node node = document.document_element();
  while (node && depth <= kMaxElementDepth) {
    if (node.first_child()) {
      node = node.first_child();
      ++depth;
      continue;
    }
    while (node && !node.next_sibling()) {
      node = node.parent();
      --depth;
    }
    if (node) node = node.next_sibling();
  }
  return depth > kMaxElementDepth;
}

}  // namespace

XmlInput::XmlInput(std::string_view text, std::string_view file, const char* root, std::string_view expected)
    : text_(text), file_(file) {
  require_text(text, file, expected);
  const auto refuse_at = [&](std::size_t offset, std::string_view what) {
    return usage_error(location(file, line_of(text, offset)), fmt::format("{}; expected {}", what, expected),
                       std::string(kSaveWhole));
  };
  // pugixml expands no entities but XML's own five, so a bomb is harmless; a real file declares none.
  if (const std::size_t at = text.find("<!ENTITY"); at != std::string_view::npos) {
    throw refuse_at(at, "the file declares XML entities, which no topology needs");
  }
  const pugi::xml_parse_result result = document_.load_buffer(
      text.data(), text.size(), pugi::parse_default | pugi::parse_declaration, pugi::encoding_utf8);
  if (!result) {
    throw refuse_at(static_cast<std::size_t>(result.offset),
                    fmt::format("this is not XML: {}", result.description()));
  }
  const std::string encoding = lower(document_.first_child().attribute("encoding").value());
  if (!encoding.empty() && encoding != "utf-8" && encoding != "us-ascii") {
    throw refuse_at(0, fmt::format("the encoding is {}, not UTF-8", excerpt(encoding)));
  }
  if (too_deep(document_)) throw refuse_at(0, fmt::format("elements nest deeper than {}", kMaxElementDepth));
  if (this->root().name() != std::string_view(root)) {
    throw refuse_at(
        static_cast<std::size_t>(this->root().offset_debug()),
        fmt::format("the outermost element is <{}>, not <{}>", excerpt(this->root().name()), root));
  }
}

std::string XmlInput::where(pugi::xml_node node) const {
  return location(file_, line_of(text_, static_cast<std::size_t>(node.offset_debug())));
}

Error XmlInput::error(pugi::xml_node node, std::string_view what) const {
  return usage_error(where(node), fmt::format("<{}>: {}", node.name(), what), std::string(kSaveWhole));
}

std::optional<std::string> XmlInput::text_of(pugi::xml_node node, const char* attribute) {
  const pugi::xml_attribute found = node.attribute(attribute);
  if (!found) return std::nullopt;
  return one_line(trim(found.value()));
}

std::optional<int> XmlInput::integer(pugi::xml_node node, const char* attribute, int least, int most) const {
  const auto text = text_of(node, attribute);
  if (!text) return std::nullopt;
  const auto value = parse_integer(*text, least, most);
  if (!value) {
    throw error(
        node, fmt::format("{}=\"{}\" is not a number from {} to {}", attribute, excerpt(*text), least, most));
  }
  return static_cast<int>(*value);
}

std::optional<double> XmlInput::number(pugi::xml_node node, const char* attribute) const {
  const auto text = text_of(node, attribute);
  if (!text) return std::nullopt;
  const auto value = leading_number(*text);
  if (!value || text->find_first_not_of("0123456789.e+-") != std::string::npos)
    throw error(node, fmt::format("{}=\"{}\" is not a number", attribute, excerpt(*text)));
  return value;
}

}  // namespace collbench
