#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "analysis/import/import_log.hpp"
#include "analysis/import/test_logs.hpp"
#include "base/error.hpp"

namespace collbench::analysis::google_benchmark_test {
namespace {

constexpr const char* kContext = R"({
  "context": {
    "date": "2024-05-01T14:00:00+02:00",
    "host_name": "build3",
    "executable": "./bench/memcpy_benchmark",
    "num_cpus": 8,
    "mhz_per_cpu": 2400,
    "cpu_scaling_enabled": false,
    "caches": [],
    "load_avg": [0.5,0.4,0.3],
    "library_version": "v1.9.4",
    "library_build_type": "release",
    "json_schema_version": 1
  },
  "benchmarks": [
)";

/// An entry as 1.5 and later write it.
std::string entry(const std::string& name, const std::string& time, const std::string& more = "",
                  const std::string& aggregate = "") {
  const std::string run_type = aggregate.empty()
                                   ? R"("run_type": "iteration", )"
                                   : R"("run_type": "aggregate", "aggregate_name": ")" + aggregate + "\", ";
  return "    {\n      \"name\": \"" + name + (aggregate.empty() ? "" : "_" + aggregate) +
         "\",\n      \"run_name\": \"" + name + "\",\n      " + run_type +
         R"("iterations": 1000, "real_time": )" + time + R"(, "cpu_time": )" + time +
         R"(, "time_unit": "us")" + more + "\n    }";
}

std::string document(const std::vector<std::string>& entries) {
  std::string text = kContext;
  for (const std::string& each : entries) text += (&each == entries.data() ? "" : ",\n") + each;
  return text + "\n  ]\n}\n";
}

Run imported(const std::string& text) { return import_log(text, "b.json", {}); }

TEST(GoogleBenchmark, AnEntryIsATest) {
  const auto run = imported(document({entry("BM_Memcpy/1024", "2.0", R"(, "bytes_per_second": 5.12e8)")}));
  ASSERT_EQ(run.rows.size(), 1U);
  const Measurement& row = run.rows[0].measurement;
  EXPECT_EQ(row.key.test, "BM_Memcpy/1024");
  EXPECT_FALSE(row.key.states_rate);
  EXPECT_DOUBLE_EQ(row.seconds, 2e-6);
  EXPECT_DOUBLE_EQ(row.moved_bytes.value(), 1024);
  EXPECT_EQ(row.iterations, 1000U);
  EXPECT_EQ(run.started, "2024-05-01T12:00:00Z");
  EXPECT_EQ(run.ranks.at(0).host, "build3");
  EXPECT_EQ(run.log->program->value, "memcpy_benchmark");
  EXPECT_EQ(run.log->version->value, "v1.9.4");
}

TEST(GoogleBenchmark, ARateIsOfTheTimeThatItsProgramCounts) {
  const auto rate_of = [&](const std::string& name) {
    std::string text = entry(name, "4.0", R"(, "bytes_per_second": 1e9)");
    text.replace(text.find(R"("cpu_time": 4.0)"), 15, R"("cpu_time": 2.0)");
    const auto run = imported(document({text}));
    return rates(run.rows.at(0), 1).bus_bandwidth.value();
  };
  EXPECT_DOUBLE_EQ(rate_of("a"), 0.5e9);  // 2,000 bytes in 4 µs, of which 2 µs were CPU time
  EXPECT_DOUBLE_EQ(rate_of("a/real_time"), 1e9);
  EXPECT_DOUBLE_EQ(rate_of("a/manual_time"), 1e9);
}

TEST(GoogleBenchmark, RepetitionsAreOneRowWithAnInterval) {
  const auto run = imported(document({entry("a", "3"), entry("a", "1"), entry("a", "2"), entry("a", "4"),
                                      entry("a", "5"), entry("a", "6"), entry("a", "3.5", "", "mean"),
                                      entry("a", "3.5", "", "median"), entry("a", "1.8", "", "stddev")}));
  ASSERT_EQ(run.rows.size(), 1U);
  EXPECT_DOUBLE_EQ(run.rows[0].measurement.seconds, 3.5e-6);
  ASSERT_TRUE(run.rows[0].measurement.interval);
  EXPECT_DOUBLE_EQ(run.rows[0].measurement.interval->low_seconds, 1e-6);
  EXPECT_FALSE(run.rows[0].measurement.interval->over_launches);
  EXPECT_EQ(run.launches, 1);
  ASSERT_EQ(run.log->left_out.size(), 2U);
  EXPECT_EQ(run.log->left_out[1].count, 1U);  // of one test
}

TEST(GoogleBenchmark, OfAggregatesAloneTheMedianCounts) {
  const auto run = imported(document({entry("b", "9", "", "mean"), entry("a", "4", "", "mean"),
                                      entry("a", "3", "", "median"), entry("a", "0.1", "", "cv")}));
  ASSERT_EQ(run.rows.size(), 2U);
  EXPECT_EQ(run.rows[0].measurement.key.test, "b");
  EXPECT_EQ(run.rows[0].measurement.note, "mean of the repetitions");
  EXPECT_DOUBLE_EQ(run.rows[1].measurement.seconds, 3e-6);
}

TEST(GoogleBenchmark, OldVersionsTellAggregatesByName) {
  const auto run = imported(R"({"context": {"date": "2016-08-02 17:44:46", "num_cpus": 4},
    "benchmarks": [{"name": "a", "iterations": 10, "real_time": 5, "cpu_time": 5},
      {"name": "a_mean", "iterations": 2, "real_time": 6, "cpu_time": 6},
      {"name": "a_BigO", "cpu_coefficient": 1, "big_o": "N"}, {"name": "a_RMS", "rms": 3}]})");
  ASSERT_EQ(run.rows.size(), 1U);
  EXPECT_DOUBLE_EQ(run.rows[0].measurement.seconds, 5e-9);
  EXPECT_EQ(run.started, "");  // local, and nobody says where
}

TEST(GoogleBenchmark, ErrorsAndSkippedTestsAreRowsThatDidNotRun) {
  const auto run = imported(document({entry("a", "1"),
                                      R"({"name": "b", "run_name": "b", "run_type": "iteration",
    "error_occurred": true, "error_message": "no <b>device</b>"})",
                                      R"({"name": "c", "skipped": true, "skip_message": "not here"})"}));
  ASSERT_EQ(run.rows.size(), 3U);
  EXPECT_EQ(run.rows[1].measurement.unavailable, "failed: no <b>device</b>");
  EXPECT_EQ(run.rows[2].measurement.unavailable, "skipped: not here");
}

TEST(GoogleBenchmark, WhatIsNotFiniteIsCounted) {
  const auto run = imported(
      document({entry("a", "1", R"(, "NaN": NaN, "x": -Infinity)"), entry("b", "NaN"), entry("c", "Infinity"),
                entry("d", "0"), entry("NaN in a name, \\\"Infinity\\\"", "2")}));
  ASSERT_EQ(run.rows.size(), 2U);
  EXPECT_EQ(run.rows[1].measurement.key.test, "NaN in a name, \"Infinity\"");
  EXPECT_EQ(run.log->left_out.at(0).count, 3U);
}

TEST(GoogleBenchmark, WhatDisturbedItIsSaid) {
  std::string text = document({entry("a", "1")});
  const auto replace = [&text](const std::string& what, const std::string& with) {
    text.replace(text.find(what), what.size(), with);
  };
  EXPECT_TRUE(imported(text).log->notes.empty());
  replace("\"release\"", "\"debug\"");
  replace("\"cpu_scaling_enabled\": false", "\"cpu_scaling_enabled\": true");
  replace("[0.5,", "[25,");
  EXPECT_THAT(imported(text).log->notes,
              testing::ElementsAre(testing::HasSubstr("debug build"), testing::HasSubstr("scaled its clock"),
                                   "the load average was 25 on 8 CPUs when it began"));
}

TEST(GoogleBenchmark, WhatIsNoTimeUnitOrNoListIsNamed) {
  for (const auto& [text, words] : std::vector<std::pair<std::string, std::string>>{
           {document({R"({"name": "a", "real_time": 1, "cpu_time": 1, "time_unit": "h"})"}),
            "benchmarks[0].time_unit"},
           {document({R"({"name": "a", "real_time": "1"})"}), "benchmarks[0].real_time"},
           {document({}), "has no value of Google Benchmark JSON"},
           {R"({"context": {}, "rows": []})", "benchmarks"},
           {document({entry("a", "1")}).substr(0, document({entry("a", "1")}).size() - 30),
            "the file is cut"}}) {
    try {
      (void)imported(text);
      ADD_FAILURE() << words;
    } catch (const Error& error) {
      EXPECT_THAT(describe(error), testing::HasSubstr(words));
    }
  }
}

TEST(GoogleBenchmark, LocalTimesBecomeUtc) {
  EXPECT_EQ(utc_of_local_time("2024-01-01T00:30:00+01:00"), "2023-12-31T23:30:00Z");
  EXPECT_EQ(utc_of_local_time("2024-02-28T23:30:00-0130"), "2024-02-29T01:00:00Z");
  EXPECT_EQ(utc_of_local_time("2024-05-01T14:00:00Z"), "2024-05-01T14:00:00Z");
  for (const char* bad : {"", "2024-05-01 14:00:00", "2024-13-01T14:00:00Z", "2024-05-01T14:00:00+0",
                          "2024-05-01T14:00:00+99:00", "now"})
    EXPECT_EQ(utc_of_local_time(bad), "") << bad;
}

}  // namespace
}  // namespace collbench::analysis::google_benchmark_test
