#include "base/record/run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "tests/base/impossible_values.hpp"
#include "tests/base/record/random_run.hpp"
#include "tests/sanitizers.hpp"

namespace collbench::run_test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string message_of(std::string_view text) {
  try {
    static_cast<void>(run_from_json_text(text, "run.json"));
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::usage);
    return describe(error);
  }
  return "no error";
}

/// A run with something in every part, small enough to damage at each of its bytes.
Run small_run() {
  Run run;
  run.environment = {{"NCCL_ALGO", "Ring"}};
  run.command_line = {"collbench", "-b", "8"};
  run.ranks = {{0, "node01", 0, 0}, {1, "node02", 1, 0}};
  run.cores_per_node = {2, 2};
  run.cluster = Cluster{R"({"hosts":[]})", {{"node01", 0, {{"GPU 0", {{"uuid", "GPU-1"}}}}}}, {"1 node"}};
  run.environment_notes = {"more ranks than cores"};
  run.calibration = Calibration{};
  run.calibration->intra = Tier{1e-6, 5e9, 1e-7, 4096};
  run.calibration->gammas = {{DataType::float32, Reduction::sum, 2e-10}};
  run.calibration->points = {{CalibrationKind::copy, 64, 1e-8, std::nullopt, std::nullopt}};
  Row row;
  row.measurement.key.reduction = Reduction::sum;
  row.measurement.pass_seconds = {1e-6, 2e-6};
  row.measurement.interval = {1e-6, 2e-6, 0.96};
  row.measurement.ranks = {{0, 1e-6, 2e-6}};
  row.measurement.wrong_elements = 1;
  row.measurement.wrong = {{1, "node02", 1, 3, "6", "5"}};
  row.expectation.ring_seconds = 1e-6;
  run.rows = {row};
  run.node_groups = {{{"node02"}, 1, row}, {{"node01", "node02"}, 2, row}};
  return run;
}

TEST(RunJson, ComesBackAsItWas) {
  RandomRun random(3);
  for (int i = 0; i < 200; ++i) {
    const auto run = random.run();
    const std::string text = to_json_text(run);
    const auto again = run_from_json_text(text, "run.json");
    EXPECT_EQ(again, run) << text;
    EXPECT_EQ(to_json_text(again), text);
  }
}

TEST(RunJson, ARunIsOneLinePerRow) {
  auto run = small_run();
  run.rows.push_back(run.rows.front());
  const std::string text = to_json_text(run);
  EXPECT_THAT(text, testing::StartsWith("{\n\"record\": \"collbench run\",\n\"schema_version\": 2,\n"));
  EXPECT_THAT(text, HasSubstr("\"rows\": [\n {\"operation\":\"AllReduce\","));
  EXPECT_THAT(text, HasSubstr("},\n {\"operation\":\"AllReduce\","));
  EXPECT_THAT(text, testing::EndsWith("}]\n}\n"));
}

TEST(RunJson, WhatIsNotFiniteIsNull) {
  auto run = small_run();
  run.rows[0].measurement.samples = 1;
  run.rows[0].measurement.p99 = std::numeric_limits<double>::quiet_NaN();
  run.rows[0].expectation.ring_seconds = -std::numeric_limits<double>::infinity();
  const std::string text = to_json_text(run);
  EXPECT_THAT(text, HasSubstr("\"p99_seconds\":null"));
  EXPECT_THAT(text, Not(testing::ContainsRegex("[^a-z](nan|inf)")));
  const auto again = run_from_json_text(text, "run.json");
  EXPECT_TRUE(std::isnan(again.rows[0].measurement.p99));
  EXPECT_FALSE(again.rows[0].expectation.ring_seconds);
}

TEST(RunJson, BytesThatAreNotUtf8AreReplaced) {
  auto run = small_run();
  run.label = "node\xff";
  EXPECT_EQ(run_from_json_text(to_json_text(run), "run.json").label, "node\xEF\xBF\xBD");
}

void read_run(const std::string& text, const std::string& file) { (void)run_from_json_text(text, file); }

TEST(RunJson, AnImpossibleNumberIsRefusedWithItsPath) {
  RandomRun random(5);
  std::set<std::string> tried;
  for (int i = 0; i < (few_draws() ? 20 : 60); ++i)
    expect_impossible_numbers_refused(nlohmann::json::parse(to_json_text(random.run())), read_run,
                                      {"rates", "cluster.shapes", "samples_kept"}, tried);
  EXPECT_GT(tried.size(), 100U);
}

TEST(RunJson, NoTimeIsShorterThanAPicosecond) {
  nlohmann::json json = nlohmann::json::parse(to_json_text(small_run()));
  json["rows"][0]["seconds"] = 1e-300;
  EXPECT_THAT(
      message_of(json.dump()),
      HasSubstr("run.json: rows[0].seconds is 1e-300 where 0 or a time from 1e-12 to 1e10 seconds was "
                "expected"));
}

TEST(RunJson, AHostThatCannotBeOneIsRefusedWithItsPath) {
  auto run = small_run();
  run.incident = Incident{};
  run.incident->ranks = {{0, "node01"}};
  run.pauses = {{0, "node01", "measuring", 0, 1.0}};
  run.telemetry = Telemetry{};
  run.telemetry->gpus.resize(1);
  run.rows[0].measurement.marks = {{"node01", "GPU 0", GpuTrouble::sw_power_cap}};
  run.log = LogFacts{};
  run.log->hosts = {{"node01"}, 1};
  const auto json = nlohmann::json::parse(to_json_text(run));
  EXPECT_EQ(run_from_json_text(json.dump(), "run.json"), run);
  expect_impossible_hosts_refused(
      json, read_run,
      {"/ranks/1/host", "/rows/0/wrong/0/host", "/rows/0/marks/0/host", "/incident/ranks/0/host",
       "/pauses/0/host", "/telemetry/gpus/0/host", "/cluster/nodes/0/host", "/log/hosts/value/0"});
}

TEST(RunJson, UnknownKeysArePassedOver) {
  auto json = nlohmann::json::parse(to_json_text(small_run()));
  json["later"] = {1, 2};
  json["rows"][0]["later"] = "x";
  EXPECT_EQ(run_from_json_text(json.dump(), "run.json"), small_run());
}

TEST(RunJson, AForeignFileIsSaidToBeNoRunRecord) {
  EXPECT_THAT(message_of(R"({"version": 3, "tests": []})"), HasSubstr("run.json: is not a run record"));
  EXPECT_THAT(message_of(R"({"record": "collbench topology"})"), HasSubstr("is not a run record"));
  EXPECT_THAT(message_of("[]"), HasSubstr("the document is an array where an object was expected"));
}

TEST(RunJson, ANewerSchemaSaysWhichAndToUpdate) {
  auto json = nlohmann::json::parse(to_json_text(small_run()));
  json["schema_version"] = 7;
  EXPECT_EQ(message_of(json.dump()),
            "collbench: run.json: is a run record of schema version 7, and this collbench reads up to 2; "
            "update collbench");
}

TEST(RunJson, EveryKeyOfARowIsMissedByItsPath) {
  const auto json = nlohmann::json::parse(to_json_text(small_run()));
  for (const auto& member : json["rows"][0].items()) {
    if (member.key() == "rates" || member.key() == "wrong_elements" || member.key() == "reduction" ||
        member.key() == "root" || member.key() == "interval" || member.key() == "ring_seconds" ||
        member.key() == "tree_seconds" || member.key() == "expected_seconds" ||
        member.key() == "fastest_seconds" || member.key() == "slowest_seconds" ||
        member.key() == "limited_by" || member.key() == "verdict" || member.key() == "explanation" ||
        member.key() == "launch_passes" || member.key() == "nccl" || member.key() == "launch_variation" ||
        member.key() == "source" || member.key() == "enqueue_seconds" || member.key() == "marks" ||
        member.key() == "pass_probes" || member.key() == "states" || member.key() == "test" ||
        member.key() == "nvls_seconds" || member.key() == "step" || member.key() == "warmup_iterations" ||
        member.key() == "verdict_ratio" || member.key() == "healthy_range" ||
        member.key() == "not_ruled_out") {
      continue;  // none when absent
    }
    auto damaged = json;
    damaged["rows"][0].erase(member.key());
    EXPECT_THAT(message_of(damaged.dump()), HasSubstr("run.json: has no rows[0]." + member.key() + ";"));
  }
}

TEST(RunJson, RanksStandInOrderAndOnNodesThatExist) {
  const auto json = nlohmann::json::parse(to_json_text(small_run()));
  auto damaged = json;
  damaged["ranks"][1]["rank"] = 5;
  EXPECT_THAT(message_of(damaged.dump()), HasSubstr("ranks[1].rank is 5 where rank 1 was expected"));
  damaged = json;
  damaged["ranks"][1]["node"] = 2147483647;
  EXPECT_THAT(message_of(damaged.dump()), HasSubstr("ranks[1].node is 2147483647"));
}

TEST(RunJson, ATruncatedRecordIsAlwaysAnError) {
  const std::string text = to_json_text(small_run());
  for (std::size_t length = 0; length + 2 < text.size(); length += few_draws() ? 11 : 1) {
    EXPECT_THAT(message_of(std::string_view(text).substr(0, length)), HasSubstr("run.json:")) << length;
  }
}

TEST(RunJson, ADamagedRecordIsAnErrorOrARunAndNothingElse) {
  const std::string text = to_json_text(small_run());
  constexpr std::array kBytes{'\0', '"', '9', '-', ']', 'e', '\xff'};
  std::size_t refused = 0;
  std::size_t tried = 0;
  // Of the bytes one each, in turn; under the sanitizers at every 11th place: run_record_fuzz tries more.
  for (std::size_t index = 0; index < text.size(); index += few_draws() ? 11 : 1) {
    std::string damaged = text;
    damaged[index] = kBytes[index % kBytes.size()];
    ++tried;
    if (message_of(damaged) != "no error") ++refused;  // any other exception fails the test
  }
  EXPECT_GT(refused, tried / kBytes.size());
}

/// AllReduce of 1 GB in half a second on four ranks: algbw 2 GB/s, bus factor 1.5.
Row all_reduce() {
  Row row;
  row.measurement.key.size_bytes = 1'000'000'000;
  row.measurement.seconds = 0.5;
  row.expectation = {0.4, 0.8, 0.25, "ring"};
  return row;
}

TEST(Rates, FollowFromTheTimes) {
  const Rates result = rates(all_reduce(), 4);
  EXPECT_DOUBLE_EQ(result.algorithm_bandwidth.value(), 2e9);
  EXPECT_DOUBLE_EQ(result.bus_bandwidth.value(), 3e9);
  EXPECT_DOUBLE_EQ(result.ring_bus_bandwidth.value(), 3.75e9);
  EXPECT_DOUBLE_EQ(result.tree_bus_bandwidth.value(), 1.875e9);
  EXPECT_DOUBLE_EQ(result.expected_bus_bandwidth.value(), 6e9);
}

TEST(Rates, MeasuredOverExpectedIsBelowOneWhenSlower) {
  EXPECT_DOUBLE_EQ(rates(all_reduce(), 4).measured_over_expected.value(), 0.5);
}

TEST(Rates, AStepHasNone) {
  Row row;
  row.measurement.key = {
      .operation = OperationId::step, .size_bytes = 1000, .count = 250, .reduction = Reduction::sum};
  row.measurement.seconds = 1;
  EXPECT_EQ(rates(row, 4).algorithm_bandwidth, std::nullopt);
  EXPECT_EQ(rates(row, 4).bus_bandwidth, std::nullopt);
  row.measurement.key.operation = OperationId::all_reduce;
  EXPECT_EQ(rates(row, 4).algorithm_bandwidth, 1000);
}

TEST(Rates, NoneWithoutATime) {
  Row row = all_reduce();
  for (const double seconds : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    row.measurement.seconds = seconds;
    const Rates result = rates(row, 4);
    EXPECT_FALSE(result.algorithm_bandwidth);
    EXPECT_FALSE(result.bus_bandwidth);
    EXPECT_FALSE(result.measured_over_expected);
    EXPECT_TRUE(result.expected_bus_bandwidth);
  }
}

TEST(Rates, NoneWhereTheModelDoesNotExist) {
  Row row = all_reduce();
  row.expectation = {};
  const Rates result = rates(row, 4);
  EXPECT_FALSE(result.ring_bus_bandwidth || result.tree_bus_bandwidth || result.expected_bus_bandwidth);
  EXPECT_FALSE(result.measured_over_expected);
}

TEST(Rates, OneRankMovesNothingOverABus) {
  const Rates result = rates(all_reduce(), 1);
  EXPECT_TRUE(result.algorithm_bandwidth);
  EXPECT_FALSE(result.bus_bandwidth);
}

TEST(IntervalHalfWidth, IsRelativeToTheTime) {
  Measurement measurement;
  measurement.seconds = 0.5;
  EXPECT_FALSE(interval_half_width(measurement));
  measurement.interval = {0.45, 0.65, 0.97};
  EXPECT_DOUBLE_EQ(interval_half_width(measurement).value(), 0.2);
  measurement.interval = {0.5, 0.5, 0.97};
  EXPECT_EQ(interval_half_width(measurement), 0.0);
  measurement.seconds = 0;
  EXPECT_FALSE(interval_half_width(measurement));
}

}  // namespace

}  // namespace collbench::run_test
