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

TEST(NcclTestsJson, SmallRatesHaveSixDecimals) {
  std::string text = json();
  for (const auto& [from, to] :
       {std::pair("10000.0, \"alg_bw\": 100.0, \"bus_bw\": 75.0",
                  "25.18, \"alg_bw\": 0.000001, \"bus_bw\": 0.000001"),
        std::pair("\"size\": 1000000000, \"count\": 62500000", "\"size\": 32, \"count\": 2")})
    text.replace(text.find(from), std::string_view(from).size(), to);
  const std::size_t in_place = text.find("{\"time\": 12500.0");
  text.replace(in_place, text.find('}', in_place) + 1 - in_place,
               "{\"time\": \"nan\", \"alg_bw\": 0, \"bus_bw\": 0}");
  text.replace(text.find("{\"size\""), 0, "");
  const std::string big = json();
  const std::size_t row = big.find("{\"size\"");
  text.insert(text.find("{\"size\""), big.substr(row, big.find("}}]") + 2 - row) + ", ");
  const auto run = import_log(text, "a.json", {});
  EXPECT_EQ(run.ranks.size(), 4U) << "a rate of one microbyte says little of how many there are";
  EXPECT_EQ(run.rows.size(), 3U);
  EXPECT_THAT(run.log->left_out.at(0).what, "rows whose time is not a positive number") << "in place";
}

/// -I 1: the times of each call, and of each process.
std::string with_calls(std::string_view processes, int rows = 1) {
  std::string text = json();
  const std::size_t at = text.find("{\"size\"");
  std::string row = text.substr(at, text.find("}}]") + 2 - at);
  row.insert(row.find("\"in_place\""),
             R"("out_of_place_per_iter": {"skipped_iterations": 1, "min_us": 9000.0,)"
             R"( "times_us": [90000.0, 9000.0, 10000.0, 12000.0])" +
                 std::string(processes) + "}, ");
  text.erase(at, text.find("}}]") + 2 - at);
  for (int i = 0; i < rows; ++i) text.insert(at, i == 0 ? row : row + ", ");
  return text;
}

TEST(NcclTestsJson, TheTimesOfEachCallAreSamples) {
  std::string text = with_calls("");
  text.insert(text.find("\"iterations\""), "\"aggregated_iterations\": 10, ");
  const collbench::Run run = import_log(text, "a.json", {});
  const Measurement& row = run.rows.at(0).measurement;
  EXPECT_EQ(row.seconds, 0.01);
  EXPECT_EQ(row.samples, 3U) << "the first was skipped";
  EXPECT_EQ(row.iterations_per_sample, 10U);
  EXPECT_DOUBLE_EQ(row.minimum, 0.009);
  EXPECT_DOUBLE_EQ(row.median, 0.01);
  EXPECT_DOUBLE_EQ(row.p99, 0.012);
  EXPECT_TRUE(row.ranks.empty());
  EXPECT_EQ(run.rows.at(1).measurement.samples, 0U) << "in place without";
  EXPECT_THAT(read_nccl_tests_json(with_calls(""), "a.json").rows.at(0).line, 7);
}

TEST(NcclTestsJson, WhoseCallsAreShortComesLast) {
  const auto of_four_processes = [](int rows, std::string_view blocking = "3") {
    std::string text = with_calls(
        R"(, "per_process_max_times_us": [[1, 9000, 10000, 12000], [1, 9100, 10100, 12000], [1, 9100, 10100, 12000],)"
        R"( [1, 5000, 6000, 7000]])",
        rows);
    text.replace(text.find("\"ngpus\": 4"), 10, "\"ngpus\": 1");
    text.insert(text.find("\"-g\""), "\"-z\", \"" + std::string(blocking) + "\", ");
    const std::size_t at = text.find("{\"rank\"");
    const std::string device = text.substr(at, text.find("}]},") + 1 - at);
    for (const std::string_view rank : {"3", "2", "1"}) {
      std::string other = device;
      text.insert(at + device.size(),
                  ", " + other.replace(other.find("0"), 1, rank).replace(other.find("node01") + 5, 1, rank));
    }
    return import_log(text, "a.json", {});
  };
  const auto run = of_four_processes(3);
  const std::vector<RankTimes>& ranks = run.rows.at(0).measurement.ranks;
  ASSERT_EQ(ranks.size(), 4U);
  EXPECT_EQ(ranks[3].rank, 3);
  EXPECT_DOUBLE_EQ(ranks[3].median_seconds, 0.006);
  EXPECT_DOUBLE_EQ(ranks[3].p99_seconds, 0.007);
  const auto names_last = testing::Contains(testing::HasSubstr("come last"));
  EXPECT_THAT(
      run.log->notes,
      testing::Contains(testing::HasSubstr(
          "may come last and make the others wait, with the time of their calls over the median process's "
          "(median of the rows): rank 3 on node03 (0.60)")));
  EXPECT_THAT(of_four_processes(2).log->notes, testing::Not(names_last)) << "too few rows";
  EXPECT_TRUE(of_four_processes(3, "1").rows.at(0).measurement.ranks.empty())
      << "a call ends where the next begins";
}

}  // namespace
}  // namespace collbench::analysis::nccl_tests_json_test
