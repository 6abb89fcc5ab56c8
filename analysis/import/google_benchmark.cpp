#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <iterator>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/import/test_logs.hpp"
#include "analysis/import/time_and_hosts.hpp"
#include "base/json_reader.hpp"
#include "base/text_input.hpp"
#include "base/units.hpp"

// What programs of Google Benchmark write with --benchmark_format=json or --benchmark_out
// (github.com/google/benchmark, src/json_reporter.cc of 1.0 to 1.9): a "context", and "benchmarks" of which
// each is a repetition or an aggregate of them. Times are of one iteration, in "time_unit".

namespace collbench::analysis {
namespace {

constexpr std::size_t kMaxBenchmarkName = 200;

struct TimeUnit {
  std::string_view name;
  double seconds;
};
constexpr std::array<TimeUnit, 4> kTimeUnits{{{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}}};

std::string text_or_nothing(const JsonReader& json, std::string_view key) {
  const auto value = json.find(key);
  return value ? value->text() : std::string();
}

/// The aggregate that an entry is ("median"), by its field or, before 1.5, by the end of its name; empty: a
/// repetition.
std::string aggregate_of(const JsonReader& entry, std::string_view name) {
  const std::string type = text_or_nothing(entry, "run_type");
  if (type == "iteration") return {};
  if (type == "aggregate") {
    const std::string aggregate = text_or_nothing(entry, "aggregate_name");
    return aggregate.empty() ? "aggregate" : aggregate;
  }
  if (entry.find("big_o") || entry.find("rms")) return "complexity";
  for (const std::string_view end : {"_mean", "_median", "_stddev", "_cv", "_BigO", "_RMS"}) {
    if (name.ends_with(end)) return std::string(end.substr(1));
  }
  return {};
}

/// The test's name without that of the aggregate.
std::string test_of(const JsonReader& entry, const std::string& name, const std::string& aggregate) {
  if (const std::string run = text_or_nothing(entry, "run_name"); !run.empty()) return run;
  return name.ends_with("_" + aggregate) ? name.substr(0, name.size() - aggregate.size() - 1) : name;
}

std::optional<double> positive(const std::optional<JsonReader>& json) {
  if (!json) return std::nullopt;
  const double value = json->number();
  return std::isnormal(value) && value > 0 ? std::optional(value) : std::nullopt;
}

/// A counter of the program's own may have any name and be no number.
std::optional<double> bytes_per_second(const JsonReader& entry) {
  const auto rate = entry.find("bytes_per_second");
  return rate && rate->is_number() ? positive(rate) : std::nullopt;
}

/// Rates are of CPU time, and of real time where the name says that this or the program's own clock counts
/// (docs/user_guide.md of the library, "Timers").
bool counts_real_time(std::string_view test) {
  return test.find("/real_time") != std::string_view::npos ||
         test.find("/manual_time") != std::string_view::npos;
}

class GoogleBenchmarkReader {
 public:
  explicit GoogleBenchmarkReader(EntryLines line_of_entry) : line_of_entry_(std::move(line_of_entry)) {}

  TestLog read(const JsonReader& json) {
    log_.format = "Google Benchmark JSON";
    log_.program = "google-benchmark";
    if (const auto context = json.find("context")) take_context(*context);
    const std::vector<JsonReader> entries = json.at("benchmarks").items();
    for (std::size_t i = 0; i < entries.size(); ++i) take_entry(entries[i], line_of_entry_(i));
    add_aggregates();
    return std::move(log_);
  }

 private:
  void take_context(const JsonReader& context) {
    log_.started = utc_of_local_time(text_or_nothing(context, "date"));
    if (const std::string host = text_or_nothing(context, "host_name"); !host.empty())
      log_.ranks.push_back({host, 0});
    if (std::string path = text_or_nothing(context, "executable"); !path.empty()) {
      path = path.substr(path.find_last_of("/\\") + 1);
      if (!path.empty()) log_.program = excerpt(path);
    }
    log_.version = text_or_nothing(context, "library_version");
    if (text_or_nothing(context, "library_build_type") == "debug")
      log_.facts.notes.emplace_back("the benchmark library is a debug build, which adds to the times");
    if (const auto scaling = context.find("cpu_scaling_enabled"); scaling && scaling->boolean())
      log_.facts.notes.emplace_back("the CPU scaled its clock while it was measured");
    take_load(context);
  }

  /// Others' work on as many processors as there are, or more.
  void take_load(const JsonReader& context) {
    const auto load = context.find("load_avg");
    const auto cpus = context.find("num_cpus");
    if (!load || !cpus) return;
    const std::vector<JsonReader> averages = load->items();
    if (averages.empty() || !(averages.front().number() >= cpus->number())) return;
    log_.facts.notes.push_back(fmt::format("the load average was {:.3g} on {:.0f} CPUs when it began",
                                           averages.front().number(), cpus->number()));
  }

  void take_entry(const JsonReader& entry, int line) {
    const std::string name = text_or_nothing(entry, "name");
    if (name.empty()) {
      log_.skip_line("entries without a name", line);
      return;
    }
    const std::string aggregate = aggregate_of(entry, name);
    const std::string test = excerpt(test_of(entry, name, aggregate), kMaxBenchmarkName);
    if (const auto error = entry.find("error_occurred"); error && error->boolean()) {
      add_unavailable(test, "failed: " + excerpt(text_or_nothing(entry, "error_message")), line);
      return;
    }
    if (const auto skipped = entry.find("skipped"); skipped && skipped->boolean()) {
      add_unavailable(test, "skipped: " + excerpt(text_or_nothing(entry, "skip_message")), line);
      return;
    }
    if (aggregate.empty() || aggregate == "median" || aggregate == "mean") {
      if (auto value = value_of(entry, test, line)) keep(*std::move(value), aggregate);
      return;
    }
    log_.skip_line("aggregates that are no time of a call (stddev, cv, complexity, …)", line);
  }

  void add_unavailable(const std::string& test, const std::string& why, int line) {
    if (!log_.values.empty() && log_.values.back().test == test && log_.values.back().unavailable == why)
      return;  // each repetition says it
    log_.values.push_back({.line = line, .test = test, .unavailable = why, .note = {}});
  }

  std::optional<TestValue> value_of(const JsonReader& entry, const std::string& test, int line) {
    const auto time = positive(entry.find("real_time"));
    const std::string unit_name = text_or_nothing(entry, "time_unit");  // none before 1.1: ns
    const auto* const unit = std::find_if(kTimeUnits.begin(), kTimeUnits.end(), [&](const TimeUnit& each) {
      return each.name == (unit_name.empty() ? "ns" : unit_name);
    });
    if (unit == kTimeUnits.end()) throw entry.at("time_unit").expected("ns, us, ms or s");
    if (!time || !is_duration(*time * unit->seconds)) {
      log_.skip_line("entries whose time is no positive number", line);
      return std::nullopt;
    }
    TestValue value{
        .line = line, .test = test, .seconds = *time * unit->seconds, .unavailable = {}, .note = {}};
    if (const auto iterations = entry.find("iterations"))
      value.iterations = iterations->integer<std::uint64_t>();
    const auto rate = bytes_per_second(entry);
    const auto counted =
        counts_real_time(test) ? time : positive(entry.find("cpu_time"));  // that the rate is of
    if (rate && counted) {
      const double bytes = *rate * *counted * unit->seconds;
      // Whole bytes, but for the digits that the two lost on their way.
      const double whole = std::round(bytes);
      value.moved_bytes = std::abs(bytes - whole) <= bytes * 1e-6 ? whole : bytes;
      if (!(*value.moved_bytes > 0) || !kQuantity.contains(*value.moved_bytes)) value.moved_bytes.reset();
    }
    return value;
  }

  void keep(TestValue value, const std::string& aggregate) {
    if (aggregate.empty()) {
      repeated_.insert(value.test);
      log_.values.push_back(std::move(value));
      return;
    }
    value.note = aggregate + " of the repetitions";
    auto [known, is_new] = aggregates_.try_emplace(value.test, value);
    if (!is_new && aggregate == "median") known->second = std::move(value);
  }

  /// Of tests whose repetitions are not there (--benchmark_report_aggregates_only): the median, else the
  /// mean.
  void add_aggregates() {
    std::size_t left = 0;
    int line = 0;
    for (auto& [test, value] : aggregates_) {
      if (!repeated_.contains(test)) {
        log_.values.push_back(std::move(value));
        continue;
      }
      ++left;
      line = line == 0 ? value.line : std::min(line, value.line);
    }
    for (std::size_t i = 0; i < left; ++i)
      log_.skip_line("aggregates of tests whose repetitions are there", line);
    // A list's sort keeps the order of what stands in one line, and needs no buffer that newer libraries
    // deprecate.
    std::list<TestValue> by_line(std::make_move_iterator(log_.values.begin()),
                                 std::make_move_iterator(log_.values.end()));
    by_line.sort([](const TestValue& a, const TestValue& b) { return a.line < b.line; });
    log_.values.assign(std::make_move_iterator(by_line.begin()), std::make_move_iterator(by_line.end()));
  }

  EntryLines line_of_entry_;
  TestLog log_;
  std::set<std::string> repeated_;
  std::map<std::string, TestValue> aggregates_;
};

}  // namespace

std::string utc_of_local_time(std::string_view time) {
  constexpr std::size_t kSeconds = 19;  // "2024-05-01T14:00:00"
  if (time.size() < kSeconds) return {};
  const auto local = utc_time(time.substr(0, kSeconds));
  const std::string_view offset = trim(time.substr(kSeconds));
  if (!local || offset.empty()) return {};
  if (offset == "Z") return *local;
  const bool colon = offset.size() == 6 && offset[3] == ':';
  if ((offset[0] != '+' && offset[0] != '-') || (!colon && offset.size() != 5)) return {};
  const auto hours = parse_integer(offset.substr(1, 2), 0, 23);
  const auto minutes = parse_integer(offset.substr(colon ? 4 : 3, 2), 0, 59);
  if (!hours || !minutes) return {};
  const auto part = [&local](std::size_t at, std::size_t length) {
    return static_cast<int>(*parse_integer(local->substr(at, length), 0, 9999));
  };
  using namespace std::chrono;
  const sys_days day{year(part(0, 4)) / month(static_cast<unsigned>(part(5, 2))) /
                     std::chrono::day(static_cast<unsigned>(part(8, 2)))};
  const auto ahead = std::chrono::hours(*hours) + std::chrono::minutes(*minutes);
  const auto at = day + std::chrono::hours(part(11, 2)) + std::chrono::minutes(part(14, 2)) +
                  seconds(part(17, 2)) - (offset[0] == '+' ? ahead : -ahead);
  const auto midnight = floor<days>(at);
  const year_month_day date(midnight);
  const hh_mm_ss clock(at - midnight);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

TestLog read_google_benchmark(const JsonReader& json, const EntryLines& line_of_entry) {
  return GoogleBenchmarkReader(line_of_entry).read(json);
}

}  // namespace collbench::analysis
