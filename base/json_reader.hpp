#pragma once
#include <concepts>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/number_range.hpp"

namespace collbench {

/// `text` as JSON. Throws Error (usage) at `file_name`:line:column where it is not, and where an object has a
/// key twice: of two values neither is the right one.
[[nodiscard]] nlohmann::json parse_json(std::string_view text, std::string_view file_name);

/// A line of a file of lines, likewise; `where` is its file:line, and an error adds the column.
[[nodiscard]] nlohmann::json parse_json_line(std::string_view line, std::string_view where);

/// One value of a JSON document together with its path in it ("rows[3].interval"), so that whatever is wrong
/// with it can be named. Everything here throws Error (usage) and nothing else. Keeps references to the
/// document and to the file's name, which must outlive it.
class JsonReader {
 public:
  JsonReader(const nlohmann::json& document, std::string_view file_name)
      : JsonReader(document, file_name, "") {}

  /// The member `key` of an object; find: none when it is absent or null.
  [[nodiscard]] JsonReader at(std::string_view key) const;
  [[nodiscard]] std::optional<JsonReader> find(std::string_view key) const;

  /// The elements of an array; the members of an object.
  [[nodiscard]] std::vector<JsonReader> items() const;
  [[nodiscard]] std::vector<std::pair<std::string, JsonReader>> members() const;

  [[nodiscard]] bool is_number() const { return value_.is_number(); }
  [[nodiscard]] bool is_null() const { return value_.is_null(); }
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool boolean() const;
  /// NaN for null, which stands for a number that was not finite.
  [[nodiscard]] double number() const;
  /// The number of a record of ours: finite and within `range`.
  [[nodiscard]] double number(const NumberRange& range) const;
  /// The same; none for null, which stands for what is not known or was not finite.
  [[nodiscard]] std::optional<double> optional_number(const NumberRange& range) const;
  /// A whole number from `low` up to what the type holds.
  template <std::integral Integer>
  [[nodiscard]] Integer integer(Integer low = 0) const {
    if (value_.is_number_unsigned()) {
      const auto wide = value_.get<std::uint64_t>();
      if (std::in_range<Integer>(wide) && std::cmp_greater_equal(wide, low))
        return static_cast<Integer>(wide);
    } else if (value_.is_number_integer()) {
      const auto wide = value_.get<std::int64_t>();
      if (std::in_range<Integer>(wide) && std::cmp_greater_equal(wide, low))
        return static_cast<Integer>(wide);
    }
    throw expected("a whole number from " + std::to_string(low));
  }

  /// The value as it is, as JSON on one line.
  [[nodiscard]] std::string compact() const;

  /// The error that this value is not `what`; to be thrown.
  [[nodiscard]] Error expected(std::string_view what) const;

 private:
  JsonReader(const nlohmann::json& value, std::string_view file_name, std::string path)
      : value_(value), file_name_(file_name), path_(std::move(path)) {}

  const nlohmann::json& value_;
  std::string_view file_name_;
  std::string path_;
};

}  // namespace collbench
