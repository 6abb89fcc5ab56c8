#pragma once
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <concepts>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/record/json_fields.hpp"
#include "base/record/words.hpp"

// A record's JSON, both ways, from one list of its members: `each_field(visit, record)`, beside the record in
// its namespace, calls visit(key, member) for every member in the order of the JSON, and with a third
// argument where the member's type does not say all. A member that is optional may be absent or null; what
// older records lack is visited with visit.older, and keeps its value where it is absent; what is left out
// where it says nothing, with visit.where_given.

namespace collbench {

template <class Type, class Other>
concept Either = std::same_as<std::remove_const_t<Type>, Other>;  ///< Other, const or not

// What a third argument says beside a NumberRange (without one, numbers are of kQuantity).

/// The host of a rank (rank_host_from_json).
struct RankHost {};

/// Null stands for `instead`, which is written so unless it `stands` itself.
struct NumberOrNull {
  NumberRange range = kQuantity;
  double instead = kNotFinite;
  bool stands = false;
};

/// A word of `names`, whose enumerators follow each other from 0. `what`: for the error of another one.
template <class Names>
struct WordOf {
  const Names& names;
  std::string what = fmt::format("\"{}\"", fmt::join(names, "\" or \""));
};

template <class From>
struct ReadBy {
  From from;
};

/// By two functions; of each where the member is optional or a list and the functions take one.
template <class To, class From>
struct By {
  To to;
  From from;
};

/// A list of records as one array for each of their members: a third of the bytes of one object for each, and
/// a column for scripts. `what`: for the error where they differ in length.
struct Columns {
  const char* what;
};

class FieldWriter;

/// With `how`, where a record's ranges are those of the member that holds it.
template <class Record, class... How>
concept HasFields = requires(FieldWriter& visit, const Record& record, const How&... how) {
  each_field(visit, record, how...);
};

template <class Value>
inline constexpr bool kIsOptional = false;
template <class Value>
inline constexpr bool kIsOptional<std::optional<Value>> = true;
template <class Value>
inline constexpr bool kIsList = false;
template <class Value>
inline constexpr bool kIsList<std::vector<Value>> = true;

template <class Record, class... How>
[[nodiscard]] Json record_to_json(const Record& record, const How&... how);
template <class Record, class... How>
[[nodiscard]] Record record_from_json(const JsonReader& json, const How&... how);
template <class Record>
[[nodiscard]] Json columns_to_json(const std::vector<Record>& records);
template <class Record>
void columns_from_json(const JsonReader& json, std::vector<Record>& records, const char* what);

template <class Value, class How = NumberRange>
[[nodiscard]] Json field_to_json(const Value& value, const How& how = kQuantity) {
  if constexpr (requires { how.to(value); }) {
    return how.to(value);
  } else if constexpr (kIsOptional<Value>) {
    return value ? field_to_json(*value, how) : Json(nullptr);
  } else if constexpr (std::same_as<How, Columns>) {
    return columns_to_json(value);
  } else if constexpr (kIsList<Value>) {
    return array_of(value, [&how](const auto& each) { return field_to_json(each, how); });
  } else if constexpr (std::same_as<How, NumberOrNull>) {
    return value == how.instead && !how.stands ? Json(nullptr) : Json(value);
  } else if constexpr (requires { how.names; }) {
    return how.names.at(static_cast<std::size_t>(value));
  } else if constexpr (std::same_as<Value, DataType>) {
    return traits(value).name;
  } else if constexpr (std::is_enum_v<Value>) {
    return name(value);
  } else if constexpr (HasFields<Value>) {
    return record_to_json(value);
  } else if constexpr (HasFields<Value, How>) {
    return record_to_json(value, how);
  } else {
    return value;
  }
}

template <class Value, class How>
void field_from_json(const JsonReader& json, Value& value, const How& how) {
  if constexpr (requires { value = how.from(json); }) {
    value = how.from(json);
  } else if constexpr (kIsOptional<Value>) {
    field_from_json(json, value.emplace(), how);
  } else if constexpr (std::same_as<How, Columns>) {
    columns_from_json(json, value, how.what);
  } else if constexpr (kIsList<Value>) {
    value.clear();
    for (const JsonReader& each : json.items()) field_from_json(each, value.emplace_back(), how);
  } else if constexpr (std::same_as<How, NumberOrNull>) {
    value = json.optional_number(how.range).value_or(how.instead);
  } else if constexpr (std::same_as<How, RankHost>) {
    value = rank_host_from_json(json);
  } else if constexpr (requires { how.names; }) {
    value = word_from_json<Value>(json, how.names, how.what);
  } else if constexpr (std::same_as<Value, DataType>) {
    value = data_type_from_json(json);
  } else if constexpr (std::same_as<Value, Reduction>) {
    value = reduction_from_json(json);
  } else if constexpr (HasWords<Value>) {
    value = word_from_json<Value>(json, kWords<Value>, WordOf{kWords<Value>}.what);
  } else if constexpr (HasFields<Value>) {
    value = record_from_json<Value>(json);
  } else if constexpr (HasFields<Value, How>) {
    value = record_from_json<Value>(json, how);
  } else if constexpr (std::same_as<Value, std::string>) {
    value = json.text();
  } else if constexpr (std::same_as<Value, bool>) {
    value = json.boolean();
  } else if constexpr (std::integral<Value>) {
    value = json.integer<Value>();
  } else if constexpr (std::same_as<Value, double>) {
    value = json.number(how);
  } else {  // a map by name
    value.clear();
    for (const auto& [key, member] : json.members()) field_from_json(member, value[key], how);
  }
}

class FieldWriter {
 public:
  explicit FieldWriter(Json& json) : json_(json) {}

  template <class Value, class How = NumberRange>
  void operator()(const char* key, const Value& value, const How& how = kQuantity) {
    json_[key] = field_to_json(value, how);
  }
  template <class Value, class How = NumberRange>
  void older(const char* key, const Value& value, const How& how = kQuantity) {
    (*this)(key, value, how);
  }
  template <class Value>
  void where_given(const char* key, const Value& value) {
    if (value != Value{}) (*this)(key, value);
  }

 private:
  Json& json_;
};

class FieldReader {
 public:
  explicit FieldReader(const JsonReader& json) : json_(json) {}

  template <class Value, class How = NumberRange>
  void operator()(const char* key, Value& value, const How& how = kQuantity) {
    if constexpr (kIsOptional<Value> &&
                  !requires { requires std::same_as<decltype(how.from(json_)), Value>; }) {
      value.reset();
      older(key, value, how);
    } else {
      field_from_json(json_.at(key), value, how);
    }
  }
  template <class Value, class How = NumberRange>
  void older(const char* key, Value& value, const How& how = kQuantity) {
    if (const auto found = json_.find(key)) field_from_json(*found, value, how);
  }
  template <class Value>
  void where_given(const char* key, Value& value) {
    older(key, value);
  }

 private:
  const JsonReader& json_;
};

template <class Record, class... How>
Json record_to_json(const Record& record, const How&... how) {
  Json json = Json::object();
  FieldWriter visit(json);
  each_field(visit, record, how...);
  return json;
}

/// Throws Error (usage) that names the place in the file.
template <class Record, class... How>
Record record_from_json(const JsonReader& json, const How&... how) {
  Record record{};
  FieldReader visit(json);
  each_field(visit, record, how...);
  return record;
}

template <class Record>
Json columns_to_json(const std::vector<Record>& records) {
  Json columns = record_to_json(Record{});
  for (auto& column : columns) column = Json::array();
  for (const Record& record : records) {
    const Json cells = record_to_json(record);
    for (const auto& [key, value] : cells.items()) columns[key].push_back(value);
  }
  return columns;
}

/// Looks for the columns when it first visits a record; then reads the cells of one row after the other.
class ColumnReader {
 public:
  explicit ColumnReader(const JsonReader& json) : json_(json) {}

  template <class Value, class How = NumberRange>
  void operator()(const char* key, Value& value, const How& how = kQuantity) {
    if (!row_) {
      columns_.emplace_back(json_.at(key).items());
    } else if (const auto& column = columns_[column_++]) {
      const JsonReader& cell = (*column)[*row_];
      if constexpr (kIsOptional<Value>) {
        if (cell.is_null()) return;
      }
      field_from_json(cell, value, how);
    }
  }
  template <class Value, class How = NumberRange>
  void older(const char* key, Value& value, const How& how = kQuantity) {
    if (row_ || json_.find(key)) return (*this)(key, value, how);
    columns_.emplace_back();
  }

  [[nodiscard]] std::size_t rows(const char* what) const {
    for (const auto& column : columns_)
      if (column && column->size() != columns_.front()->size()) throw json_.expected(what);
    return columns_.front()->size();
  }
  void begin_row(std::size_t row) {
    row_ = row;
    column_ = 0;
  }

 private:
  const JsonReader& json_;
  std::vector<std::optional<std::vector<JsonReader>>> columns_;  ///< none: an older record lacks it
  std::optional<std::size_t> row_;
  std::size_t column_ = 0;
};

template <class Record>
void columns_from_json(const JsonReader& json, std::vector<Record>& records, const char* what) {
  ColumnReader visit(json);
  Record first{};
  each_field(visit, first);
  records.assign(visit.rows(what), Record{});
  for (std::size_t row = 0; row < records.size(); ++row) {
    visit.begin_row(row);
    each_field(visit, records[row]);
  }
}

}  // namespace collbench
