#include "base/json_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/text_input.hpp"

namespace collbench {
namespace {

constexpr std::string_view kDamaged =
    "the file is damaged or was not written by collbench: give another file (for an nccl-tests log, use "
    "collbench import)";

/// "line:column" of the 1-based position `byte` in `text`; the column counts bytes.
std::string line_and_column(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte == 0 ? 0 : byte - 1, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return fmt::format("{}:{}", line, before.size() - line_start + 1);
}

/// What nlohmann says without its "[json.exception.parse_error.101] parse error at line 1, column 2: ".
std::string_view reason(std::string_view message) {
  const std::size_t end_of_position = message.find(": ");
  return end_of_position == std::string_view::npos ? message : message.substr(end_of_position + 2);
}

/// A value cut to what fits a message.
std::string shown(const nlohmann::json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "an array";
  const std::string text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  return text.size() <= 40 ? text : text.substr(0, 37) + "...";
}

/// The path of a member; appended, not formatted: a thousand machines have a million members.
std::string joined(std::string path, std::string_view key) {
  if (!path.empty()) path += '.';
  path += key;
  return path;
}

/// No document of collbench's, of nccl-tests or of a tool is nested deeper: whoever walks through a value
/// takes a stack frame for each level.
constexpr int kMaxDepth = 200;

/// The first byte, counted from 1, that is nested deeper than kMaxDepth; 0 where none is.
std::size_t too_deep_at(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxDepth) return i + 1;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return 0;
}

template <class LocationOfByte>
nlohmann::json parse(std::string_view text, std::string_view where, LocationOfByte location_of_byte) {
  if (const std::size_t byte = too_deep_at(text); byte > 0) {
    throw usage_error(fmt::format("{}:{}", where, location_of_byte(byte)),
                      fmt::format("is nested deeper than {} levels", kMaxDepth), std::string(kDamaged));
  }
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    const bool at_end =
        text.find_first_not_of(" \t\r\n", std::min(error.byte, text.size())) == std::string_view::npos;
    if (at_end && trim(text).starts_with('{') &&
        std::string_view(error.what()).find("unexpected end of input") != std::string_view::npos) {
      throw usage_error(fmt::format("{}:{}", where, location_of_byte(error.byte)),
                        "the file is cut: its JSON ends here before it is complete",
                        "copy the whole file again");
    }
    throw usage_error(fmt::format("{}:{}", where, location_of_byte(error.byte)),
                      fmt::format("is not JSON from here on: {}", reason(error.what())),
                      std::string(kDamaged));
  } catch (const nlohmann::json::exception& error) {  // a number that no double holds
    throw usage_error(std::string(where), fmt::format("cannot be read as JSON: {}", error.what()),
                      std::string(kDamaged));
  }
}

}  // namespace

nlohmann::json parse_json(std::string_view text, std::string_view file_name) {
  return parse(text, file_name, [&](std::size_t byte) { return line_and_column(text, byte); });
}

nlohmann::json parse_json_line(std::string_view line, std::string_view where) {
  return parse(line, where, [](std::size_t byte) { return fmt::format("{}", byte); });
}

JsonReader JsonReader::at(std::string_view key) const {
  if (!value_.is_object()) throw expected("an object");
  const auto found = value_.find(key);
  std::string path = joined(path_, key);
  if (found == value_.end()) {
    throw usage_error(std::string(file_name_), fmt::format("has no {}", path), std::string(kDamaged));
  }
  return {*found, file_name_, std::move(path)};
}

std::optional<JsonReader> JsonReader::find(std::string_view key) const {
  if (!value_.is_object()) throw expected("an object");
  const auto found = value_.find(key);
  if (found == value_.end() || found->is_null()) return std::nullopt;
  return JsonReader{*found, file_name_, joined(path_, key)};
}

std::vector<JsonReader> JsonReader::items() const {
  if (!value_.is_array()) throw expected("an array");
  std::vector<JsonReader> result;
  result.reserve(value_.size());
  for (const nlohmann::json& item : value_) {
    result.push_back({item, file_name_, path_ + '[' + std::to_string(result.size()) + ']'});
  }
  return result;
}

std::vector<std::pair<std::string, JsonReader>> JsonReader::members() const {
  if (!value_.is_object()) throw expected("an object");
  std::vector<std::pair<std::string, JsonReader>> result;
  for (const auto& member : value_.items()) result.emplace_back(member.key(), at(member.key()));
  return result;
}

std::string JsonReader::text() const {
  if (!value_.is_string()) throw expected("a string");
  return value_.get<std::string>();
}

bool JsonReader::boolean() const {
  if (!value_.is_boolean()) throw expected("true or false");
  return value_.get<bool>();
}

double JsonReader::number() const {
  if (value_.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (!value_.is_number()) throw expected("a number");
  return value_.get<double>();
}

std::string JsonReader::compact() const { return value_.dump(); }

Error JsonReader::expected(std::string_view what) const {
  const std::string_view location = path_.empty() ? "the document" : std::string_view(path_);
  return usage_error(std::string(file_name_),
                     fmt::format("{} is {} where {} was expected", location, shown(value_), what),
                     std::string(kDamaged));
}

}  // namespace collbench
