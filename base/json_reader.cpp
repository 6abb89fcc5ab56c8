#include "base/json_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <set>

#include "base/text_input.hpp"

namespace collbench {
namespace {

constexpr std::string_view kDamaged =
    "the file is damaged, or not of the kind that is read here: give another file (for an nccl-tests log, "
    "use collbench judge)";

/// "line:column" of the 1-based position `byte` in `text`; the column counts bytes.
std::string line_and_column(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte == 0 ? 0 : byte - 1, text.size()));
  const auto line = std::ranges::count(before, '\n') + 1;
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return fmt::format("{}:{}", line, before.size() - line_start + 1);
}

constexpr std::size_t kExcerpt = 30;

/// The line from the start of the word or text on whose last letter the parser stopped (1-based `byte`).
std::string_view token_at(std::string_view text, std::size_t byte) {
  std::size_t start = std::min(byte == 0 ? 0 : byte - 1, text.size());
  if (start > 0 && start < text.size() && text[start] == '"') {
    const std::size_t open = text.rfind('"', start - 1);
    if (open != std::string_view::npos &&
        text.substr(open, start - open).find('\n') == std::string_view::npos)
      start = open;
  } else {
    while (start > 0 && (std::isalnum(static_cast<unsigned char>(text[start - 1])) != 0 ||
                         text[start - 1] == '.' || text[start - 1] == '-' || text[start - 1] == '_'))
      --start;
  }
  const std::string_view rest = text.substr(start);
  return trim(rest.substr(0, rest.find('\n')));
}

/// What is wrong at the 1-based position `byte`, in words: what stands there, and why it cannot.
std::string parse_failure(std::string_view text, std::size_t byte, std::string_view message) {
  const auto says = [message](std::string_view words) {
    return message.find(words) != std::string_view::npos;
  };
  if (says("ill-formed UTF-8")) return "is not JSON: a byte here is not UTF-8";
  if (says("control character"))
    return "is not JSON: a text between quotes holds a line end or a control character";
  const std::string_view token = token_at(text, byte);
  if (token.empty()) return "is not JSON: nothing stands where a value is expected";
  if (says("expected end of input")) {
    return fmt::format(
        "is not JSON from here on: '{}' follows where the document has ended; two files may have been "
        "written into one",
        excerpt(token, kExcerpt));
  }
  return fmt::format("is not JSON from here on: '{}' cannot stand here", excerpt(token, kExcerpt));
}

/// Whether an end that came too early is all that is wrong.
bool is_cut(std::string_view text, std::size_t byte, std::string_view message) {
  const bool at_end = trim(text.substr(std::min(byte, text.size()))).empty();
  const bool wants_more = message.find("unexpected end of input") != std::string_view::npos ||
                          message.find("missing closing quote") != std::string_view::npos ||
                          message.find("invalid literal") != std::string_view::npos ||
                          message.find("invalid number") != std::string_view::npos ||
                          message.find("invalid string") != std::string_view::npos;
  return at_end && wants_more && (trim(text).starts_with('{') || trim(text).starts_with('['));
}

/// The number of nlohmann's "number overflow parsing '1e999'", and where the text has it.
struct NoDouble {
  std::string number;
  std::size_t byte = 0;  ///< from 1
};

NoDouble no_double(std::string_view text, std::string_view message) {
  const std::size_t open = message.find('\'');
  const std::size_t close = message.rfind('\'');
  if (open == std::string_view::npos || close <= open) return {};
  NoDouble found{std::string(message.substr(open + 1, close - open - 1)), 0};
  found.byte = text.find(found.number) + 1;  // npos + 1 is 0
  return found;
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

/// The path of the first key that an object has twice; empty where none has.
std::string double_key(std::string_view text) {
  struct Open {
    bool is_object = false;
    std::set<std::string> keys;
    std::string key;        // of the member in hand
    std::size_t items = 0;  // before the one in hand
  };
  using Event = nlohmann::json::parse_event_t;
  std::vector<Open> open;
  std::string found;
  const auto path = [&open] {
    std::string keys;
    for (const Open& each : open)
      keys = each.is_object ? joined(keys, each.key) : fmt::format("{}[{}]", keys, each.items);
    return keys.empty() ? "\"\"" : keys;
  };
  const auto step = [&](int, Event event, const nlohmann::json& value) {
    if (event == Event::key) {
      open.back().key = value.get<std::string>();
      if (!open.back().keys.insert(open.back().key).second && found.empty()) found = path();
    } else if (event == Event::object_start || event == Event::array_start) {
      open.push_back({.is_object = event == Event::object_start, .keys = {}, .key = {}});
    } else {
      if (event != Event::value) open.pop_back();
      if (!open.empty()) ++open.back().items;
    }
    return true;
  };
  return nlohmann::json::parse(text, step).is_discarded() ? "" : found;
}

/// The document. An object that has fewer members in it than keys were read has one of them twice.
nlohmann::json parse_with_single_keys(std::string_view text, std::string_view where) {
  using Event = nlohmann::json::parse_event_t;
  std::vector<std::size_t> keys;  // of each object that is open
  bool is_single = true;
  const auto count = [&](int, Event event, const nlohmann::json& value) {
    if (event == Event::object_start) {
      keys.push_back(0);
    } else if (event == Event::key) {
      ++keys.back();
    } else if (event == Event::object_end) {
      is_single = is_single && value.size() == keys.back();
      keys.pop_back();
    }
    return true;
  };
  nlohmann::json document = nlohmann::json::parse(text, count);
  if (is_single) return document;
  throw usage_error(std::string(where),
                    fmt::format("has {} twice where one value was expected", double_key(text)),
                    std::string(kDamaged));
}

template <class LocationOfByte>
nlohmann::json parse(std::string_view text, std::string_view where, LocationOfByte location_of_byte,
                     std::string_view what = "file") {
  if (const std::size_t byte = too_deep_at(text); byte > 0) {
    throw usage_error(fmt::format("{}:{}", where, location_of_byte(byte)),
                      fmt::format("is nested deeper than {} levels", kMaxDepth), std::string(kDamaged));
  }
  try {
    return parse_with_single_keys(text, where);
  } catch (const nlohmann::json::parse_error& error) {
    const std::string at = fmt::format("{}:{}", where, location_of_byte(error.byte));
    if (is_cut(text, error.byte, error.what())) {
      throw usage_error(at, fmt::format("the {} is cut: its JSON ends here before it is complete", what),
                        "copy the whole file again");
    }
    throw usage_error(at, parse_failure(text, error.byte, error.what()), std::string(kDamaged));
  } catch (const nlohmann::json::exception& error) {  // a number that no double holds
    const NoDouble found = no_double(text, error.what());
    throw usage_error(
        fmt::format("{}:{}", where, location_of_byte(found.byte)),
        fmt::format("the number {} is larger than any that can be", excerpt(found.number, kExcerpt)),
        std::string(kDamaged));
  }
}

}  // namespace

nlohmann::json parse_json(std::string_view text, std::string_view file_name) {
  return parse(text, file_name, [&](std::size_t byte) { return line_and_column(text, byte); });
}

nlohmann::json parse_json_line(std::string_view line, std::string_view where) {
  return parse(line, where, [](std::size_t byte) { return fmt::format("{}", byte); }, "line");
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

double JsonReader::number(const NumberRange& range) const {
  const double value = value_.is_number() ? value_.get<double>() : std::numeric_limits<double>::quiet_NaN();
  if (!range.contains(value)) throw expected(range.words);
  return value;
}

std::optional<double> JsonReader::optional_number(const NumberRange& range) const {
  return value_.is_null() ? std::nullopt : std::optional(number(range));
}

std::string JsonReader::compact() const { return value_.dump(); }

Error JsonReader::expected(std::string_view what) const {
  const std::string_view location = path_.empty() ? "the document" : std::string_view(path_);
  return usage_error(std::string(file_name_),
                     fmt::format("{} is {} where {} was expected", location, shown(value_), what),
                     std::string(kDamaged));
}

}  // namespace collbench
