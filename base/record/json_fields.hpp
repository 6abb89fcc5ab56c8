#pragma once
#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_reader.hpp"
#include "base/record/data_type.hpp"

namespace collbench {

/// JSON whose keys keep the order in which they are written. nlohmann writes null for a number that is not
/// finite, and else the shortest decimal that reads back as the same double.
using Json = nlohmann::ordered_json;

/// On one line. A host name or a variable may hold any bytes: what is not UTF-8 becomes U+FFFD, and nothing
/// is thrown.
[[nodiscard]] std::string json_line(const Json& value);

/// As a file for people and programs: a member a line, `indent` more with each level. Likewise of any bytes.
[[nodiscard]] std::string json_document(const Json& value, int indent = 2);

/// What null is read as where a figure can be infinite or none: a ratio over 0.
inline constexpr double kNotFinite = std::numeric_limits<double>::quiet_NaN();

/// The fields that several records have, as JSON and back. What is none is null.
template <class Value>
[[nodiscard]] Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

template <class Values, class Writer>
[[nodiscard]] Json array_of(const Values& values, Writer writer) {
  Json array = Json::array();
  for (const auto& value : values) array.push_back(Json(writer(value)));
  return array;
}

template <class Reader>
[[nodiscard]] auto list_from_json(const JsonReader& json, Reader reader) {
  std::vector<decltype(reader(json))> values;
  for (const JsonReader& each : json.items()) values.push_back(reader(each));
  return values;
}

/// The enumerator whose name it is, by their list. Throws Error (usage) that expects `what`.
template <class Word, class Names>
[[nodiscard]] Word word_from_json(const JsonReader& json, const Names& names, std::string_view what) {
  const auto found = std::ranges::find(names, json.text());
  if (found == names.end()) throw json.expected(what);
  return static_cast<Word>(found - names.begin());
}

/// By name. Throw Error (usage) that names the place in the file when there is no such type or reduction.
[[nodiscard]] DataType data_type_from_json(const JsonReader& json);
[[nodiscard]] Reduction reduction_from_json(const JsonReader& json);

/// The name of a host (is_host_name). Lists for launchers and Slurm are made of these names: one that cannot
/// be of a host is an error.
[[nodiscard]] std::string host_name_from_json(const JsonReader& json);

/// The host of a rank: likewise, but for "#1" behind it, the node of --node-map, and empty where nobody named
/// it.
[[nodiscard]] std::string rank_host_from_json(const JsonReader& json);

}  // namespace collbench
