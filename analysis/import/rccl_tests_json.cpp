#include <algorithm>

#include "analysis/import/log_readers.hpp"
#include "base/error.hpp"
#include "base/json_reader.hpp"
#include "base/text_input.hpp"
#include "base/units.hpp"

// rccl-tests -x FILE -Z json (2024-10 and newer): {"numCycle":0, "name":"AllReduce", "nodes":1, "ranks":8, …,
// "size":1024, "type":"float", "redop":"sum", "inPlace":0, "time":21.5, "algBw":0.047628, "busBw":0.083349,
// "wrong":"0"} on each line, in and out of place in lines of their own; the lines stand between [ and ] in
// some versions, and the first ones wrote "gpus" and "#wrong".
namespace collbench::analysis {
namespace {

/// What is the same in all lines of one table.
struct TableKey {
  const Operation* operation = nullptr;
  int ranks = 0;
  std::int64_t cycle = 0;
  bool operator==(const TableKey&) const = default;
};

TableKey rccl_table_key(const JsonReader& json) {
  const JsonReader name = json.at("name");
  const Operation* const operation = find_operation(name.text());
  if (operation == nullptr) throw name.expected("the name of an operation");
  const auto ranks = json.find("ranks");
  const auto cycle = json.find("numCycle");
  return {operation, (ranks ? *ranks : json.at("gpus")).integer<int>(1),
          cycle ? cycle->integer<std::int64_t>() : 0};
}

LogTable new_table(const TableKey& key, const JsonReader& json, int line) {
  LogTable table;
  table.first_line = line;
  table.facts.program = {std::string(key.operation->nccl_tests_name) + "_perf", line};
  table.facts.gpu = {"AMD (rccl-tests)", line};
  table.facts.ranks = {key.ranks, line};
  if (const auto nodes = json.find("nodes")) table.facts.nodes = {nodes->integer<int>(1), line};
  return table;
}

LogHalf rccl_half(const JsonReader& json) {
  constexpr double kPrecision = 1e-5;  // of 21.500000 µs and 0.047628 GB/s
  const auto printed = [](double value) { return PrintedNumber{value, value * kPrecision + 5e-7}; };
  LogHalf half;
  half.seconds = json.at("time").number(kQuantity) * kMicrosecond;
  half.algorithm_bandwidth = printed(json.at("algBw").number(kQuantity));
  half.bus_bandwidth = printed(json.at("busBw").number(kQuantity));
  const auto wrong = json.find("wrong");
  const auto count = parse_integer((wrong ? *wrong : json.at("#wrong")).text(), 0, std::int64_t{1} << 62U);
  half.checked = count.has_value();  // else "N/A"
  if (count) half.wrong_elements = static_cast<std::uint64_t>(*count);
  return half;
}

/// Why the line becomes no row; empty for one that does. One in place goes to the row before it.
std::string take_line(const JsonReader& json, int line, const TableKey& key, LogTable& table) {
  const DataTypeTraits* const type = find_data_type(json.at("type").text());
  if (type == nullptr) return "rows of type " + excerpt(json.at("type").text());
  const LogHalf half = rccl_half(json);
  const auto size = json.at("size").integer<std::uint64_t>();
  if (size == 0) return std::string(kRowsOfNoBytes);
  if (!is_duration(half.seconds)) return std::string(kRowsWithoutTime);
  if (json.at("inPlace").integer<int>() != 0) {
    if (table.rows.empty() || table.rows.back().size_bytes != size || table.rows.back().in_place)
      return "rows in place without their row out of place";
    table.rows.back().in_place = half;
    return "";
  }
  const auto parts =
      key.operation->size_meaning == SizeMeaning::total ? static_cast<std::uint64_t>(key.ranks) : 1;
  LogRow row{.line = line,
             .size_bytes = size,
             .count = size / parts / type->bytes,
             .type = type->id,
             .out_of_place = half};
  if (const Reduction* const found = find_reduction(json.at("redop").text())) row.reduction = *found;
  table.rows.push_back(row);
  return "";
}

bool has_row(const LogTable& table, const JsonReader& json) {
  return json.at("inPlace").integer<int>() == 0 && std::ranges::any_of(table.rows, [&](const LogRow& row) {
           return row.size_bytes == json.at("size").integer<std::uint64_t>() &&
                  traits(row.type).name == json.at("type").text();
         });
}

}  // namespace

bool is_rccl_tests_json(std::string_view start) {
  start = trim(start);
  return (start.starts_with('{') || start.starts_with('[')) &&
         start.find("\"algBw\"") != std::string_view::npos;
}

std::vector<LogTable> read_rccl_tests_json(const std::function<const LogLine*()>& next,
                                           std::string_view file) {
  std::vector<LogTable> tables;
  TableKey current;
  while (const LogLine* const line = next()) {
    std::string_view object = trim(line->text);
    if (object.ends_with(',')) object.remove_suffix(1);
    if (object.empty() || object == "[" || object == "]") continue;
    const std::string where = location(file, line->number);
    nlohmann::json document;
    try {
      document = parse_json_line(object, where);
    } catch (const Error& error) {  // it is no record of ours that is damaged
      throw usage_error(
          error.where(), error.what(),
          "rccl-tests writes an object a line with -x: give that file whole, or what it printed");
    }
    const JsonReader json(document, where);
    const TableKey key = rccl_table_key(json);
    if (tables.empty() || !(key == current) || has_row(tables.back(), json))
      tables.push_back(new_table(key, json, line->number));
    current = key;
    if (const std::string why = take_line(json, line->number, key, tables.back()); !why.empty())
      tables.back().skip_line(why, line->number);
  }
  for (LogTable& table : tables) table.ended = true;
  return tables;
}

}  // namespace collbench::analysis
