#include "analysis/import/log_readers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/import/import_log.hpp"
#include "base/error.hpp"
#include "tests/analysis/import/read_text.hpp"

namespace collbench::analysis::nccl_tests_json_test {
namespace {

/// One process with four GPUs, of which the program lists the first.
std::string json(std::string_view nwrong = "0") {
  return R"({"version": 3, "start_time": "2026-10-01 12:00:00",
"args": ["./build/all_gather_perf", "-g", "4", "-a", "3"],
"env": ["HOME=/root", "NCCL_ALGO=Ring", "SECRET_TOKEN=x"], "nccl_version": 22706,
"config": {"nthreads": 1, "ngpus": 4, "iterations": 20,
"devices": [{"rank": 0, "group": 0, "pid": 7, "hostname": "node01", "device": 0, "device_hex": "0x0f",
"device_info": "NVIDIA H100 80GB HBM3"}]},
"results": [{"size": 1000000000, "count": 62500000, "type": "float", "redop": "none", "root": "    -1",
"out_of_place": {"time": 10000.0, "alg_bw": 100.0, "bus_bw": 75.0, "nwrong": )" +
         std::string(nwrong) + R"(},
"in_place": {"time": 12500.0, "alg_bw": 80.0, "bus_bw": 60.0, "nwrong": null}}],
"out_of_bounds": {"count": 0, "okay": "true"}, "end_time": "2026-10-01 12:00:09"})";
}

TEST(NcclTestsJson, IsARunLikeItsText) {
  const auto run = import_log(json(), "a.json", {});
  ASSERT_EQ(run.rows.size(), 2U);
  EXPECT_EQ(run.rows[0].measurement.key.operation, OperationId::all_gather);
  EXPECT_DOUBLE_EQ(run.rows[1].measurement.seconds, 0.0125);
  EXPECT_EQ(run.rows[0].measurement.wrong_elements, 0U);
  EXPECT_FALSE(run.rows[1].measurement.wrong_elements);
  EXPECT_EQ(run.ranks.size(), 4U);  // the others follow the first device of their process
  EXPECT_EQ(run.ranks[3].host, "node01");
  EXPECT_EQ(run.time_reduction, RankAggregate::maximum);
  EXPECT_EQ(run.versions.nccl, "2.27.6");
  EXPECT_EQ(run.log->program->line, 2);
  EXPECT_TRUE(run.complete);
}

TEST(NcclTestsJson, HowTheBuffersWereRegistered) {
  const auto registered = [](std::string_view option, std::string_view nccl) {
    std::string text = json();
    text.replace(text.find("\"-a\", \"3\""), 9, option);
    text.replace(text.find("22706"), 5, nccl);
    return import_log(text, "a.json", {}).buffers.registration;
  };
  EXPECT_EQ(import_log(json(), "a.json", {}).buffers.registration, BufferRegistration::none);
  EXPECT_EQ(registered(R"("-R", "1")", "22706"), BufferRegistration::local);
  EXPECT_EQ(registered(R"("-R", "2")", "22706"), BufferRegistration::symmetric);
  EXPECT_EQ(registered(R"("-R", "2")", "22602"), BufferRegistration::local);  // the program falls back
}

TEST(NcclTestsJson, SecretsStayWhereTheyAre) {
  const LogTable table = read_nccl_tests_json(json(), "a.json");
  EXPECT_THAT(table.environment, testing::ElementsAre(testing::Pair("NCCL_ALGO", "Ring")));
}

TEST(NcclTestsJson, WhatIsSomethingElseIsSaid) {
  const auto refusal = [](const std::string& text) {
    try {
      (void)read_nccl_tests_json(text, "a.json");
    } catch (const Error& error) {
      return describe(error);
    }
    return std::string("no refusal");
  };
  EXPECT_THAT(refusal("{}"), testing::HasSubstr("is JSON, but not what nccl-tests writes"));
  EXPECT_THAT(refusal(R"({"record": "collbench run"})"), testing::HasSubstr("use collbench report"));
  EXPECT_THAT(refusal(json("nan")), testing::HasSubstr("a.json:8:"));
  EXPECT_THAT(refusal(json("\"x\"")), testing::HasSubstr("results[0].out_of_place.nwrong"));
  const std::string inspectors = R"({"header":{"id":"0x1"},"coll_perf":{"coll":"AllReduce"}})";
  EXPECT_EQ(
      refusal(inspectors + "\n" + inspectors),
      "collbench: a.json: has lines of NCCL Inspector, not of nccl-tests; collbench inspector reads them");
  EXPECT_THAT(refusal(inspectors), testing::HasSubstr("collbench inspector reads them"));
  // What is said of a damaged record of ours is not true of it.
  const std::string cut = refusal(json().substr(0, json().size() / 2));
  EXPECT_THAT(cut, testing::HasSubstr("nccl-tests leaves -J so where it does not come to its end"));
  EXPECT_THAT(cut, testing::Not(testing::HasSubstr("give another file")));
}

TEST(NcclTestsJson, WhatHasNoNumberIsLeftOut) {
  const auto with = [](std::string_view from, std::string_view to) {
    std::string text = json();
    text.replace(text.find(from), from.size(), to);
    return read_nccl_tests_json(text, "a.json");
  };
  const LogTable without_time = with("\"time\": 10000.0", "\"time\": \"nan\"");
  EXPECT_EQ(without_time.facts.left_out.at(0).what, "rows whose time is not a positive number");
  const std::string half = json().substr(json().find("{\"time\": 10000.0"));
  const LogTable in_place = with(half.substr(0, half.find('}') + 1), "null");
  EXPECT_EQ(in_place.facts.left_out.at(0).what, "rows in place without their row out of place");
}

/// -I 1: the times of each process.
TEST(NcclTestsJson, TheTimesOfEachIterationChangeNothing) {
  std::string text = json();
  text.insert(text.find("\"in_place\""),
              R"("out_of_place_per_iter": {"skipped_iterations": 0, "min_us": 1.0, "times_us": [1.0, 2.0],)"
              R"( "per_process_max_times_us": [[1.0, 2.0], [1.5, 2.5]]}, )");
  const LogTable table = read_nccl_tests_json(text, "a.json");
  EXPECT_EQ(table.rows.at(0).out_of_place.seconds, 0.01);
  EXPECT_EQ(table.facts.command->value, "./build/all_gather_perf -g 4 -a 3");
  EXPECT_EQ(table.rows.at(0).line, 7);
}

}  // namespace
}  // namespace collbench::analysis::nccl_tests_json_test
