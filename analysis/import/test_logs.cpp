#include "analysis/import/test_logs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "base/statistics.hpp"
#include "base/text_input.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

void require_useful(const TestLog& log, const ImportOptions& options, std::string_view file) {
  if (options.operation) {
    throw usage_error("--operation",
                      fmt::format("{} is {}: its tests have names of their own", file, log.format),
                      "leave --operation out");
  }
  if (!options.topology.empty()) {
    throw usage_error("--topology",
                      fmt::format("{} is {}: what its tests should give is not modeled", file, log.format),
                      "leave --topology out; collbench compare and baseline hold it against an earlier run");
  }
  if (options.job.nodes || options.job.ranks_per_node) {
    throw usage_error(options.job.nodes ? "--nodes" : "--ranks-per-node",
                      fmt::format("{} is {}, which says itself where it ran", file, log.format),
                      "leave it out");
  }
}

int launches_in(const TestLog& log) {
  int last = -1;
  for (const TestValue& value : log.values) last = std::max(last, value.launch);
  return last + 1;
}

/// Of several invocations the one that is asked for.
void choose_launch(TestLog& log, const ImportOptions& options, std::string_view file) {
  if (!options.run) return;
  if (*options.run > launches_in(log)) {
    throw usage_error("--run",
                      fmt::format("{} has {} with values", file,
                                  counted(static_cast<std::size_t>(launches_in(log)), "run")),
                      "choose one of them, from 1");
  }
  std::erase_if(log.values, [&](const TestValue& value) { return value.launch != *options.run - 1; });
}

Error no_values(const TestLog& log, std::string_view file) {
  std::string what = fmt::format("has no value of {} that can be read", log.format);
  std::string where(file);
  for (const LogSkipped& each : log.facts.left_out) {
    if (where == file) where = location(file, each.line);
    what += fmt::format("{}{}: {}", &each == log.facts.left_out.data() ? " (" : "; ", each.what, each.count);
  }
  if (!log.facts.left_out.empty()) what += ")";
  if (!log.facts.notes.empty()) what += ": " + log.facts.notes.front();
  return usage_error(where, what, "give the program's whole output");
}

Identities identities_of(const TestLog& log, LogFacts& facts) {
  Identities identities;
  std::vector<std::string> hosts;
  std::map<int, int> local_ranks;
  for (const TestRank& rank : log.ranks) {
    auto host = std::find(hosts.begin(), hosts.end(), rank.host);
    if (host == hosts.end()) host = hosts.insert(hosts.end(), rank.host);
    const int node = static_cast<int>(host - hosts.begin());
    identities.push_back({static_cast<int>(identities.size()), rank.host, node, local_ranks[node]++});
  }
  if (identities.empty()) return {{0, "", 0, 0}};
  facts.ranks = {static_cast<int>(identities.size()), log.ranks.front().line};
  facts.nodes = {static_cast<int>(hosts.size()), log.ranks.front().line};
  if (!hosts.front().empty()) facts.hosts = {std::move(hosts), log.ranks.front().line};
  return identities;
}

Row new_row(const TestValue& value) {
  Row row;
  Measurement& measured = row.measurement;
  measured.key.operation = OperationId::test;
  measured.key.test = value.test;
  measured.key.states_rate = value.states_rate;
  measured.unavailable = value.unavailable;
  measured.note = value.note;
  measured.moved_bytes = value.moved_bytes;
  return row;
}

/// Another value of the row's test, of the same launch or of a later one.
void add_value(Row& row, const TestValue& value, int& last_launch) {
  Measurement& measured = row.measurement;
  if (!value.unavailable.empty()) return;
  measured.unavailable.clear();  // another launch measured it
  measured.pass_seconds.push_back(value.seconds);
  if (measured.launch_passes.empty() || last_launch != value.launch) measured.launch_passes.push_back(0);
  ++measured.launch_passes.back();
  last_launch = value.launch;
  measured.iterations += value.iterations;
  if (!measured.moved_bytes) measured.moved_bytes = value.moved_bytes;
}

void summarize(Measurement& measured, bool over_launches) {
  if (measured.pass_seconds.empty()) return;
  std::vector<double> values = measured.pass_seconds;
  if (over_launches) {
    values.clear();
    auto pass = measured.pass_seconds.begin();
    for (const int count : measured.launch_passes) {
      values.push_back(median({pass, pass + count}));
      pass += count;
    }
  }
  measured.seconds = median(values);
  if (const auto interval = median_interval(values))
    measured.interval = TimeInterval{interval->low, interval->high, interval->confidence, over_launches};
}

}  // namespace

void TestLog::skip_line(const std::string& what, int line) {
  LogTable counter;
  counter.facts.left_out = std::move(facts.left_out);
  counter.skip_line(what, line);
  facts.left_out = std::move(counter.facts.left_out);
}

Run run_of_tests(TestLog log, const ImportOptions& options, std::string_view file) {
  require_useful(log, options, file);
  choose_launch(log, options, file);
  const bool any = std::any_of(log.values.begin(), log.values.end(),
                               [](const TestValue& value) { return value.unavailable.empty(); });
  if (!any) throw no_values(log, file);
  Run run;
  run.ranks = identities_of(log, log.facts);
  std::map<std::pair<std::string, bool>, std::size_t> rows;  // by name and what is stated
  std::vector<int> last_launches;
  for (const TestValue& value : log.values) {
    const auto [known, is_new] = rows.try_emplace({value.test, value.states_rate}, run.rows.size());
    if (is_new) {
      run.rows.push_back(new_row(value));
      last_launches.push_back(-1);
    }
    add_value(run.rows[known->second], value, last_launches[known->second]);
  }
  for (const Row& row : run.rows)
    run.launches = std::max(run.launches, static_cast<int>(row.measurement.launch_passes.size()));
  run.repeated = run.launches > 1;
  for (Row& row : run.rows) summarize(row.measurement, run.repeated);
  log.facts.file = file;
  log.facts.format = log.format;
  log.facts.program = {log.program, log.version_line};
  if (!log.version.empty()) log.facts.version = {log.version, log.version_line};
  run.backend = BackendId::other;
  run.time_reduction = RankAggregate::average;
  run.buffers = {.allocator = "", .registration = std::nullopt, .exact_counts = std::nullopt};
  run.complete = log.complete;
  run.started = log.started;
  run.versions.cuda = log.cuda;
  run.log = std::move(log.facts);
  return run;
}

namespace {

bool is_object_of_tests(std::string_view object) {
  constexpr std::size_t kFirstKey = 64;  // both begin with their key, whatever the layout
  const std::string_view start = object.substr(0, kFirstKey);
  const std::size_t quote = start.find_first_not_of(" \t\r\n", 1);
  if (quote == std::string_view::npos) return false;
  const std::string_view key = start.substr(quote);
  return key.starts_with("\"nvbandwidth\"") || key.starts_with("\"context\"") ||
         key.starts_with("\"benchmarks\"");
}

/// One past the brace that closes the object at the start of `text`; all of it where none does.
std::size_t end_of_object(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      return i + 1;
    }
  }
  return text.size();
}

/// Google Benchmark writes numbers that are not finite as NaN and Infinity, which are no JSON.
std::string with_finite_numbers(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!in_string && (c == 'N' || c == 'I' || c == '-')) {
      const std::string_view rest = text.substr(c == '-' ? i + 1 : i);
      const std::size_t length = rest.starts_with("NaN") ? 3 : rest.starts_with("Infinity") ? 8 : 0;
      if (length > 0) {
        result += "null";
        i += length - (c == '-' ? 0 : 1);
        continue;
      }
    }
    if (in_string && c == '\\' && i + 1 < text.size()) {
      result += c;
      result += text[++i];
      continue;
    }
    if (c == '"') in_string = !in_string;
    result += c;
  }
  return result;
}

/// The lines of `"name":` behind the list's key, one for each entry of the list.
EntryLines entry_lines(std::string_view text, std::string_view list) {
  std::vector<int> lines;
  constexpr std::string_view kName = "\"name\"";
  std::size_t counted_to = 0;
  int line = 1;
  for (std::size_t at = text.find(kName, std::min(text.find(list), text.size()));
       at != std::string_view::npos; at = text.find(kName, at + kName.size())) {
    line += static_cast<int>(std::count(text.begin() + static_cast<std::ptrdiff_t>(counted_to),
                                        text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    counted_to = at;
    lines.push_back(line);
  }
  return [lines = std::move(lines)](std::size_t entry) { return entry < lines.size() ? lines[entry] : 1; };
}

}  // namespace

std::string_view tests_json_in(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  for (std::size_t at = text.find('{'); at != std::string_view::npos; at = text.find('{', at + 1)) {
    const std::size_t line = text.rfind('\n', at) + 1;  // npos + 1 is 0
    if (trim(text.substr(line, at - line)).empty() && is_object_of_tests(text.substr(at)))
      return text.substr(at);
  }
  return {};
}

TestLog read_tests_json(std::string_view text, std::string_view file) {
  const std::string_view found = tests_json_in(text);
  // Lines keep their numbers: what stands before becomes as many empty ones.
  const std::string_view before = text.substr(0, static_cast<std::size_t>(found.data() - text.data()));
  const std::string json_text =
      std::string(static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')), '\n') +
      with_finite_numbers(found.substr(0, end_of_object(found)));
  try {
    const nlohmann::json document = parse_json(json_text, file);
    const JsonReader json(document, file);
    if (json.find("nvbandwidth")) return read_nvbandwidth_json(json, entry_lines(json_text, "\"testcases\""));
    return read_google_benchmark(json, entry_lines(json_text, "\"benchmarks\""));
  } catch (const Error& error) {  // its next step is for records of ours
    throw usage_error(error.where(), error.what(), "give the program's whole output, as it wrote it");
  }
}

}  // namespace collbench::analysis
