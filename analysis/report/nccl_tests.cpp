#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/report/criteria.hpp"
#include "analysis/report/report.hpp"
#include "analysis/report/sections.hpp"
#include "base/record/run.hpp"
#include "base/text_sinks.hpp"
#include "base/units.hpp"

// What nccl-tests prints, and its -J file, for programs that read them: columns, widths and names as in
// src/util.cu of 2.19.6. What the record does not hold is left out, not made up.

namespace collbench::analysis {
namespace {

using Json = nlohmann::ordered_json;

/// Both forms of what nccl-tests has on one line; null: not measured.
struct TestsLine {
  const Row* out_of_place = nullptr;
  const Row* in_place = nullptr;

  [[nodiscard]] const Measurement& either() const {
    return (out_of_place != nullptr ? out_of_place : in_place)->measurement;
  }
};

/// The lines of one program of nccl-tests: those of an operation.
struct TestsTable {
  const Operation* operation = nullptr;
  std::vector<TestsLine> lines;
  std::uint64_t wrong_elements = 0;
  bool is_checked = false;  ///< some row
  double mean_busbw = 0;    ///< bytes per second

  [[nodiscard]] std::string program() const { return nccl_tests_program(*operation); }
};

TestsTable table_of_operation(const Run& run, const Operation& what) {
  TestsTable table{.operation = &what, .lines = {}};
  for (const Row& row : run.rows) {
    const Measurement& measured = row.measurement;
    if (measured.key.operation != what.id || !(measured.seconds > 0)) continue;
    table.wrong_elements += measured.wrong_elements.value_or(0);
    table.is_checked = table.is_checked || measured.wrong_elements;
    RowKey key = measured.key;
    key.in_place = false;
    const auto line = std::ranges::find_if(table.lines, [&key](const TestsLine& each) {
      RowKey other = each.either().key;
      other.in_place = false;
      return other == key;
    });
    TestsLine& mine = line == table.lines.end() ? table.lines.emplace_back() : *line;
    (measured.key.in_place ? mine.in_place : mine.out_of_place) = &row;
  }
  table.mean_busbw = mean_busbw(run, what.id).value_or(0);
  return table;
}

std::vector<TestsTable> tests_tables(const Run& run) {
  std::vector<TestsTable> tables;
  for (const Row& row : run.rows) {
    const Operation& what = operation(row.measurement.key.operation);
    const auto is_it = [&what](const TestsTable& each) { return each.operation == &what; };
    if (std::ranges::any_of(tables, is_it)) continue;
    if (TestsTable table = table_of_operation(run, what); !table.lines.empty())
      tables.push_back(std::move(table));
  }
  return tables;
}

/// As nccl-tests' getFloatStr: as many decimals as fit.
std::string fitting(double value, int width) {
  for (int decimals = 2; decimals >= 0; --decimals) {
    std::string text = fmt::format("{:{}.{}f}", value, width, decimals);
    if (static_cast<int>(text.size()) <= width) return text;
  }
  return fmt::format("{:{}.{}e}", value, width, width >= 7 ? 1 : 0);
}

double in_gb(std::optional<double> rate) { return rate.value_or(0) / kGigabyte; }

std::string half_text(const Row* row, std::size_t ranks) {
  // In columns of their own: programs count them from the end of the line.
  if (row == nullptr) return fmt::format("  {:>7}  {:>6}  {:>6}  {:>6}", "N/A", "N/A", "N/A", "N/A");
  const Rates of_row = rates(*row, static_cast<int>(ranks));
  const auto& wrong = row->measurement.wrong_elements;
  return fmt::format("  {}  {}  {}  {:>6}", fitting(row->measurement.seconds / kMicrosecond, 7),
                     fitting(in_gb(of_row.algorithm_bandwidth), 6), fitting(in_gb(of_row.bus_bandwidth), 6),
                     wrong ? fmt::format("{:g}", static_cast<double>(*wrong)) : "N/A");
}

std::string reduction_name(const RowKey& key) {
  return key.reduction ? std::string(name(*key.reduction)) : "none";
}

/// The device of a rank: its number, its PCI address but for the function, and its model.
struct TestsDevice {
  int index = 0;
  std::string address = "0000:00:00";
  std::string model = "host memory";
};

TestsDevice device_of(const Run& run, std::size_t rank) {
  if (run.backend != BackendId::nccl) return {.index = run.ranks[rank].local_rank};
  TestsDevice device{.index = run.ranks[rank].local_rank, .model = gpu_model(run)};
  if (device.model.empty()) device.model = "GPU";
  if (!run.cluster || rank >= run.cluster->placement.size()) return device;
  const std::string& address = run.cluster->placement[rank].gpu_address;
  if (!address.empty()) device.address = address.substr(0, address.find('.'));
  return device;
}

std::string head_of_table(const Run& run, const TestsTable& table) {
  const auto size = [](const TestsLine& line) { return line.either().key.size_bytes; };
  const auto [first, last] = std::ranges::minmax_element(
      table.lines, [&size](const TestsLine& a, const TestsLine& b) { return size(a) < size(b); });
  const Measurement& measured = table.lines.front().either();
  const auto passes = std::max<std::size_t>(1, measured.pass_seconds.size());
  std::string text = fmt::format(
      "# collbench {}, in the format of nccl-tests 2.19.6{}{}\n# Collective test starting: {}\n"
      "# nThread {} nGpus {} minBytes {} maxBytes {} warmup iters: {} iters: {} validation: {} graph: {} "
      "unalign: {}\n"
      "#\n# Using devices\n",
      one_line(run.versions.collbench), run.versions.nccl.empty() ? "" : "; NCCL version ",
      one_line(run.versions.nccl), table.program(), run.process.threads, run.process.gpus_per_thread(),
      size(*first), size(*last), measured.warmup_iterations / passes, measured.iterations / passes,
      table.is_checked ? 1 : 0, run.graph_launches, run.buffers.unaligned_elements);
  for (std::size_t rank = 0; rank < run.ranks.size(); ++rank) {
    const TestsDevice device = device_of(run, rank);
    text += fmt::format("#  Rank {:>2} Group  0 Pid {:>6} on {:>10} device {:>2} [{}] {}\n", rank, 0,
                        one_line(run.ranks[rank].host), device.index, one_line(device.address),
                        one_line(device.model));
  }
  return text +
         "#\n#                                                              out-of-place                     "
         "  in-place          \n"
         "#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   "
         "algbw   busbw  #wrong \n"
         "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  "
         "(GB/s)  (GB/s)         \n";
}

std::string table_text(const Run& run, const TestsTable& table) {
  std::string text = head_of_table(run, table);
  for (const TestsLine& line : table.lines) {
    const RowKey& key = line.either().key;
    text += fmt::format("{:>12}  {:>12}  {:>8}  {:>6}  {:>6}{}{}\n", key.size_bytes, key.count,
                        traits(key.type).name, reduction_name(key), key.root.value_or(-1),
                        half_text(line.out_of_place, run.ranks.size()),
                        half_text(line.in_place, run.ranks.size()));
  }
  if (!run.complete) text += "# error: the run was cut short\n";
  if (!table.is_checked) text += "# data: not checked, so nothing was counted\n";
  text +=
      fmt::format("# {:<20} : {} {}\n# {:<20} : {:g} \n#\n# Collective test concluded: {}\n",
                  "Out of bounds values", table.wrong_elements, table.wrong_elements > 0 ? "FAILED" : "OK",
                  "Avg bus bandwidth", table.mean_busbw / kGigabyte, table.program());
  return text;
}

/// Its units are nccl-tests' names for KiB, MiB and GiB.
std::string memory_amount(std::int64_t bytes) {
  constexpr std::array kUnits{"B", "KB", "MB", "GB"};
  auto amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; std::abs(amount) >= 1024 && unit + 1 < kUnits.size(); ++unit) amount /= 1024;
  const int digits = std::abs(amount) < 10 ? 2 : std::abs(amount) < 100 ? 1 : 0;
  return fmt::format("{:.{}f} {}", amount, digits, kUnits.at(unit));
}

std::string memory_line(const GpuMemory& taken) {
  return fmt::format("# {:<20} : Initialization {} | User-Allocated {} | Collective {} | Total  {}\n",
                     "GPU memory usage", memory_amount(taken.init_bytes), memory_amount(taken.buffer_bytes),
                     memory_amount(taken.collective_bytes),
                     memory_amount(taken.init_bytes + taken.buffer_bytes + taken.collective_bytes));
}

Json half_json(const Row* row, std::size_t ranks) {
  if (row == nullptr) return nullptr;
  const Rates of_row = rates(*row, static_cast<int>(ranks));
  const auto& wrong = row->measurement.wrong_elements;
  return {{"time", row->measurement.seconds / kMicrosecond},
          {"alg_bw", in_gb(of_row.algorithm_bandwidth)},
          {"bus_bw", in_gb(of_row.bus_bandwidth)},
          {"nwrong", wrong ? Json(*wrong) : Json(nullptr)}};
}

bool is_simulated(const Run& run) { return run.gpus_simulated || run.simulated; }

/// "2026-10-01 12:00:00", of "2026-10-01T12:00:00Z".
std::string local_form(std::string time) {
  std::ranges::replace(time, 'T', ' ');
  std::erase(time, 'Z');
  return time;
}

Json devices_json(const Run& run) {
  Json devices = Json::array();
  for (std::size_t rank = 0; rank < run.ranks.size(); ++rank) {
    const TestsDevice device = device_of(run, rank);
    devices.push_back({{"rank", rank},
                       {"group", 0},
                       {"pid", 0},
                       {"hostname", run.ranks[rank].host},
                       {"device", device.index},
                       {"device_hex", device.address},
                       {"device_info", device.model}});
  }
  return devices;
}

}  // namespace

std::string nccl_tests_program(const Operation& operation) {
  const std::string_view name = operation.nccl_tests_name;
  return fmt::format("{}_perf", name.empty() ? operation.option : name);
}

std::string report_nccl_tests(const Run& run) {
  std::string text = is_simulated(run) ? "# simulated: no time here was measured\n" : "";
  const std::vector<TestsTable> tables = tests_tables(run);
  for (std::size_t i = 0; i < tables.size(); ++i) {
    text += table_text(run, tables[i]);
    if (run.gpu_memory && i + 1 == tables.size()) text += memory_line(*run.gpu_memory);
    text += "#\n";
  }
  return text;
}

std::string report_nccl_tests_json(const Run& run) {
  Json results = Json::array();
  std::uint64_t wrong_elements = 0;
  bool is_checked = false;
  double busbw = 0;
  const std::vector<TestsTable> tables = tests_tables(run);
  for (const TestsTable& table : tables) {
    wrong_elements += table.wrong_elements;
    is_checked = is_checked || table.is_checked;
    busbw += table.mean_busbw / kGigabyte / static_cast<double>(tables.size());
    for (const TestsLine& line : table.lines) {
      const RowKey& key = line.either().key;
      results.push_back({{"size", key.size_bytes},
                         {"count", key.count},
                         {"type", traits(key.type).name},
                         {"redop", reduction_name(key)},
                         {"root", fmt::format("{:>6}", key.root.value_or(-1))},
                         {"out_of_place", half_json(line.out_of_place, run.ranks.size())},
                         {"in_place", half_json(line.in_place, run.ranks.size())},
                         {"actual_iterations", line.either().iterations},
                         {"experiment_name", table.operation->name}});
    }
  }
  // Readers take the operation from the program's name.
  Json arguments = Json::array({tables.empty() ? "collbench" : tables.front().program()});
  for (std::size_t i = 1; i < run.command_line.size(); ++i) arguments.push_back(run.command_line[i]);
  const char* const okay = !is_checked ? "unchecked" : wrong_elements == 0 ? "true" : "false";
  const Json document{{"version", 3},
                      {"start_time", local_form(run.started)},
                      {"args", arguments},
                      {"env", Json::array()},
                      {"config",
                       {{"nthreads", run.process.threads},
                        {"ngpus", run.process.gpus_per_thread()},
                        {"graph", run.graph_launches},
                        {"devices", devices_json(run)}}},
                      {"results", results},
                      {"out_of_bounds", {{"count", wrong_elements}, {"okay", okay}}},
                      {"average_bus_bandwidth", {{"bandwidth", busbw}, {"okay", "unchecked"}}},
                      {"end_time", local_form(run.finished)},
                      {"errors", run.complete ? Json::array() : Json::array({"the run was cut short"})},
                      {"simulated", is_simulated(run)}};
  return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace collbench::analysis
