#include "analysis/import/log_readers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/json_reader.hpp"
#include "base/nccl_version.hpp"
#include "base/secrets/secrets.hpp"
#include "base/statistics.hpp"
#include "base/text_input.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

/// ReportLines of a JSON file stand where their key does.
int line_of_key(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(fmt::format("\"{}\"", key));
  return at == std::string_view::npos ? 1 : line_of(text, at);
}

std::string trimmed(const JsonReader& json) { return std::string(trim(json.text())); }

bool may_be_written_down(std::string_view variable) {
  constexpr std::array<std::string_view, 6> kAllowed{"NCCL_", "CUDA_VISIBLE_DEVICES", "OMPI_MCA_", "UCX_",
                                                     "FI_",   "SLURM_JOB_ID"};
  return std::ranges::any_of(kAllowed, [&](std::string_view prefix) { return variable.starts_with(prefix); });
}

void take_environment(const JsonReader& json, LogTable& table) {
  const auto variables = json.find("env");
  if (!variables) return;
  for (const JsonReader& each : variables->items()) {
    const std::string variable = each.text();
    const std::size_t equals = variable.find('=');
    if (equals == std::string::npos || !may_be_written_down(variable)) continue;
    table.environment.emplace(variable.substr(0, equals), variable.substr(equals + 1));
  }
}

void take_program(const JsonReader& json, std::string_view text, LogTable& table) {
  const auto words = json.find("args");
  if (!words) return;
  std::string before;
  std::vector<std::string> line;
  for (const JsonReader& each : words->items()) {
    const std::string& word = line.emplace_back(each.text());
    if (const std::string program = nccl_tests_program(word); !program.empty()) {
      set_once(table.facts.program, program, line_of_key(text, "args"));
    }
    const auto how = parse_integer(word, 0, 3);
    if (how && (before == "-a" || before == "--average")) {
      table.time_reduction = static_cast<RankAggregate>(*how);
    }
    if (word == "-z3" || (word == "3" && (before == "-z" || before == "--blocking")))
      table.calls_have_starts = true;
    before = word;
  }
  table.registration = nccl_tests_registration(line).value_or(BufferRegistration::none);
  if (!line.empty())
    table.facts.command = {fmt::format("{}", fmt::join(recorded_words(line), " ")),
                           line_of_key(text, "args")};
}

/// The program registers locally what this NCCL has no symmetric windows for (nccl-tests src/common.cu).
void apply_version(std::int64_t nccl, LogTable& table) {
  constexpr std::int64_t kFirstWithWindows = 22700;
  if (table.registration == BufferRegistration::symmetric && nccl < kFirstWithWindows) {
    table.registration = BufferRegistration::local;
  }
}

void take_config(const JsonReader& config, std::string_view text, LogTable& table) {
  const int line = line_of_key(text, "config");
  constexpr int kMaxCount = 1 << 20U;
  const int threads = std::min(config.at("nthreads").integer<int>(1), kMaxCount);
  const int gpus = std::min(config.at("ngpus").integer<int>(1), kMaxCount / threads);
  table.facts.gpus_per_process = {threads * gpus, line};
  table.facts.threads_per_process = {threads, line};
  if (const auto iterations = config.find("iterations"))
    table.iterations = iterations->integer<std::uint64_t>();
  if (const auto calls = config.find("aggregated_iterations"))
    table.calls_per_iteration = std::max<std::uint64_t>(1, calls->integer<std::uint64_t>());
  const auto devices = config.find("devices");
  if (!devices) return;
  const int devices_line = line_of_key(text, "devices");
  for (const JsonReader& each : devices->items()) {
    LogDevice device{each.at("rank").integer<int>(),
                     each.at("pid").integer<int>(),
                     trimmed(each.at("hostname")),
                     trimmed(each.at("device_info")),
                     devices_line,
                     ""};
    if (!device.gpu.empty()) set_once(table.facts.gpu, device.gpu, devices_line);
    table.devices.push_back(std::move(device));
  }
  // The program writes only the first device of each process (nccl-tests src/util.cu).
  table.devices_per_process = threads * gpus > 1;
}

/// The program writes six decimals.
PrintedNumber exact(double value) {
  constexpr double kPrecision = 1e-6;
  return {value, std::max(kPrecision / 2, value * kPrecision)};
}

/// The program writes "nan" for what is no number.
double number_of(const JsonReader& json) {
  return json.is_number() || json.text() != "nan" ? json.number(kQuantity) : 0;
}

std::optional<LogHalf> half_of(const JsonReader& json) {
  const auto time = json.find("time");
  if (!time) return std::nullopt;
  LogHalf half;
  half.seconds = number_of(*time) * kMicrosecond;
  half.algorithm_bandwidth = exact(number_of(json.at("alg_bw")));
  half.bus_bandwidth = exact(number_of(json.at("bus_bw")));
  if (const auto wrong = json.find("nwrong")) {
    half.checked = true;
    const double count = wrong->number(kQuantity);
    if (count < 1e18) half.wrong_elements = static_cast<std::uint64_t>(count);
  }
  return half;
}

/// The seconds of an array's microseconds, without the first and without what is no duration ("nan").
std::vector<double> seconds_after(const JsonReader& json, std::size_t skipped) {
  std::vector<double> seconds;
  for (const JsonReader& each : json.items()) {
    const double one = number_of(each) * kMicrosecond;
    if (skipped > 0)
      --skipped;
    else if (is_duration(one))
      seconds.push_back(one);
  }
  return seconds;
}

/// `json`: out_of_place_per_iter or in_place_per_iter.
LogCalls calls_of(const JsonReader& json, const LogTable& table) {
  const auto skips = json.find("skipped_iterations");  // 2.19.6
  const auto skipped = skips ? skips->integer<std::size_t>() : 0;
  LogCalls calls{.seconds = seconds_after(json.at("times_us"), skipped)};
  const auto processes = json.find("per_process_max_times_us");
  // Only with -z 3 has each call a start of its own: else an idle time is in the call before it.
  if (!processes || !table.calls_have_starts) return calls;
  const std::vector<JsonReader> of_processes = processes->items();
  if (of_processes.size() != table.devices.size()) return calls;
  for (std::size_t i = 0; i < of_processes.size(); ++i) {
    const std::vector<double> seconds = seconds_after(of_processes[i], skipped);
    if (seconds.empty()) continue;
    calls.ranks.push_back({.rank = table.devices[i].rank,
                           .median_seconds = median(seconds),
                           .p99_seconds = quantile(seconds, 0.99)});
  }
  return calls;
}

/// Why a row is left out; empty for one that is kept.
std::string unusable(const JsonReader& json) {
  if (json.at("size").integer<std::uint64_t>() == 0) return std::string(kRowsOfNoBytes);
  const std::string type = trimmed(json.at("type"));
  if (find_data_type(type) == nullptr) return "rows of type " + excerpt(type);
  if (trimmed(json.at("redop")) == "mulsum") return "rows of reduction mulsum";
  if (!json.find("out_of_place")) return "rows in place without their row out of place";
  const auto out = half_of(json.at("out_of_place"));
  return !out || is_duration(out->seconds) ? "" : std::string(kRowsWithoutTime);
}

void take_row(const JsonReader& json, int line, LogTable& table) {
  if (const std::string why = unusable(json); !why.empty()) {
    table.skip_line(why, line);
    return;
  }
  LogRow row;
  row.line = line;
  row.size_bytes = json.at("size").integer<std::uint64_t>();
  row.count = json.at("count").integer<std::uint64_t>();
  row.type = find_data_type(trimmed(json.at("type")))->id;
  if (const Reduction* found = find_reduction(trimmed(json.at("redop")))) row.reduction = *found;
  if (const auto root = parse_integer(trimmed(json.at("root")), -1, 1 << 24U)) {
    row.root = static_cast<int>(*root);
  }
  const auto out = half_of(json.at("out_of_place"));
  if (!out) {
    table.cpu_time = true;
    return;
  }
  row.out_of_place = *out;
  if (const auto in_place = json.find("in_place")) row.in_place = half_of(*in_place);
  if (row.in_place && !is_duration(row.in_place->seconds)) {
    table.skip_line(std::string(kRowsWithoutTime), line);
    row.in_place.reset();
  }
  if (const auto calls = json.find("out_of_place_per_iter")) row.out_of_place.calls = calls_of(*calls, table);
  if (const auto calls = json.find("in_place_per_iter"); calls && row.in_place)
    row.in_place->calls = calls_of(*calls, table);
  table.rows.push_back(row);
}

LogTable table_of(const JsonReader& json, std::string_view text) {
  LogTable table;
  table.first_line = 1;
  take_program(json, text, table);
  take_environment(json, table);
  take_config(json.at("config"), text, table);
  if (const auto version = json.find("nccl_version")) {
    const auto code = version->integer<std::int64_t>();
    table.facts.nccl = {nccl_version_text(code), line_of_key(text, "nccl_version")};
    apply_version(code, table);
  }
  if (const auto start = json.find("start_time")) table.started = trimmed(*start);
  if (const auto end = json.find("end_time")) {
    table.finished = trimmed(*end);
    table.ended = true;
  }
  std::size_t at = text.find("\"results\"");
  for (const JsonReader& row : json.at("results").items()) {
    at = std::min(text.find("\"size\"", at + 1), text.size());
    take_row(row, line_of(text, at), table);
  }
  if (const auto bounds = json.find("out_of_bounds")) {
    table.facts.out_of_bounds = {bounds->at("count").integer<std::uint64_t>(),
                                 line_of_key(text, "out_of_bounds")};
  }
  return table;
}

/// As `error`, with what helps here: it is no record of ours that is damaged.
Error not_whole(const Error& error) {
  return usage_error(error.where(), error.what(),
                     "nccl-tests leaves -J so where it does not come to its end: give what it printed");
}

/// JSON of another command, which has an object a line.
void require_no_inspector(std::string_view text, std::string_view file) {
  const std::string_view first = text.substr(0, text.find('\n'));
  for (const std::string_view key : {"\"coll_perf\"", "\"p2p_perf\"", "\"dump_stats\""})
    if (first.find(key) != std::string_view::npos)
      throw usage_error(std::string(file), "has lines of NCCL Inspector, not of nccl-tests",
                        "collbench inspector reads them");
}

}  // namespace

bool looks_like_json(std::string_view text) {
  text = trim(text);
  return text.starts_with('{') && !line_in_json(text.substr(0, text.find('\n')));
}

LogTable read_nccl_tests_json(std::string_view text, std::string_view file) {
  require_no_inspector(text, file);
  nlohmann::json document;
  try {
    document = parse_json(text, file);
  } catch (const Error& error) {
    throw not_whole(error);
  }
  const JsonReader json(document, file);
  if (json.find("record")) {
    throw usage_error(std::string(file), "is a record that collbench wrote, not a log",
                      "use collbench report");
  }
  if (!json.find("results") || !json.find("config")) {
    throw usage_error(std::string(file), "is JSON, but not what nccl-tests writes with -J",
                      "give the file of -J, or the program's output as text");
  }
  try {
    return table_of(json, text);
  } catch (const Error& error) {
    throw not_whole(error);
  }
}

}  // namespace collbench::analysis
