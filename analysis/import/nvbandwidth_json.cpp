#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/import/test_logs.hpp"
#include "base/json_reader.hpp"
#include "base/text_input.hpp"

// What nvbandwidth -j prints (github.com/NVIDIA/nvbandwidth, json_output.cpp of 0.5 to 0.8): a matrix of
// texts for each test, "N/A" where there is no value.

namespace collbench::analysis {
namespace {

std::string member_text(const JsonReader& json, std::string_view key) {
  const auto value = json.find(key);
  return value ? std::string(trim(value->text())) : std::string();
}

/// A cell may be a text, as the program writes it, or a number, as scripts that touched it do.
std::string cell_text(const JsonReader& cell) {
  const std::string text = cell.compact();
  return text.starts_with('"') ? std::string(trim(cell.text())) : text == "null" ? "N/A" : text;
}

/// "0: NVIDIA H100 80GB HBM3 (00000000:1b:00): (node7)"
void add_devices(TestLog& log, const JsonReader& list) {
  for (const JsonReader& each : list.items()) {
    const std::string text = each.text();
    const std::size_t number = text.find(": ");
    const std::size_t bus = text.rfind(" (");
    if (number == std::string::npos || bus == std::string::npos || bus < number) continue;
    const std::string name = text.substr(number + 2, text.find(" (", number + 2) - number - 2);
    const bool has_host = text.find("): (") != std::string::npos && text.ends_with(')');
    const std::string host = has_host ? text.substr(bus + 2, text.size() - bus - 3) : "";
    if (log.ranks.empty()) log.ranks.push_back({host, 0});
    if (!log.facts.gpu) log.facts.gpu = {name, 0};
    if (log.facts.gpu->value != name)
      log.facts.notes.push_back(fmt::format("the GPUs are not all of one model ({})", excerpt(name)));
  }
}

/// The tables of the two directions and of both stand in one matrix behind one another, under the description
/// of the last: "… Total bandwidth (GB/s)".
std::size_t parts_in(std::string_view description, std::size_t rows) {
  constexpr std::size_t kDirectionsAndTotal = 3;
  const bool bidirectional = description.find(" Total ") != std::string_view::npos;
  return bidirectional && rows % kDirectionsAndTotal == 0 ? kDirectionsAndTotal : 1;
}

void add_matrix(TestLog& log, const std::string& test, const JsonReader& json, int line) {
  constexpr std::array<std::string_view, 3> kParts{"1", "2", "total"};
  const std::string description = member_text(json, "bandwidth_description");
  const std::vector<JsonReader> rows = json.at("bandwidth_matrix").items();
  const std::size_t parts = parts_in(description, rows.size());
  const std::size_t in_part = rows.size() / parts;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::string part(parts > 1 ? kParts.at(row / in_part) : "");
    std::size_t column = 0;
    for (const JsonReader& cell : rows[row].items()) {
      (void)add_nvbandwidth_cell(
          log, nvbandwidth_test_name(test, description, fmt::to_string(row % in_part), column++, part),
          description, cell_text(cell), line, 0);
    }
  }
}

}  // namespace

TestLog read_nvbandwidth_json(const JsonReader& json, const EntryLines& line_of_entry) {
  const JsonReader output = json.at("nvbandwidth");
  TestLog log;
  log.format = "nvbandwidth JSON";
  log.program = "nvbandwidth";
  log.version = member_text(output, "version");
  if (log.version.starts_with('v')) log.version.erase(0, 1);
  if (const auto cuda = output.find("CUDA Runtime Version")) log.cuda = cuda_version(cuda->compact());
  if (const std::string driver = member_text(output, "Driver Version"); !driver.empty())
    log.cuda += (log.cuda.empty() ? "driver " : ", driver ") + driver;
  if (const auto devices = output.find("GPU Device list")) add_devices(log, *devices);
  const std::string error = member_text(output, "error");
  if (!error.empty()) log.facts.notes.push_back("nvbandwidth says: " + excerpt(error, 200));
  log.complete = error.empty();
  const auto tests = output.find("testcases");
  if (!tests) return log;
  std::size_t entry = 0;
  for (const JsonReader& test : tests->items()) {
    const int line = line_of_entry(entry++);
    const std::string name = member_text(test, "name");
    if (test.find("bandwidth_matrix")) {
      add_matrix(log, name, test, line);
      continue;
    }
    const std::string status = lower(member_text(test, "status"));
    const std::string own_error = member_text(test, "error");
    const std::string why = own_error.empty() ? error : own_error;
    if (status == "running") {  // an error ended it: "Error" follows as an entry of its own
      add_unavailable_test(log, name, "failed" + (why.empty() ? why : ": " + excerpt(why)), line, 0);
      log.complete = false;
    } else {
      add_unavailable_test(log, name, status.empty() ? "no result" : status, line, 0);
    }
  }
  return log;
}

}  // namespace collbench::analysis
