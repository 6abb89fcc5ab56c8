#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/import/import_log.hpp"
#include "base/error.hpp"
#include "tests/analysis/import/read_text.hpp"

namespace collbench::analysis::rccl_tests_json_test {
namespace {

using testing::HasSubstr;

/// A row of eight ranks: time in µs.
std::string row(const std::string& name, std::uint64_t size, int in_place, double time, double factor,
                int cycle = 0) {
  const double rate = static_cast<double>(size) / time / 1e3;
  return fmt::format(
      R"({{"numCycle":{}, "name":"{}", "nodes":2, "ranks":8, "ranksPerNode":4, "gpusPerRank":1, "size":{}, )"
      R"("type":"float", "redop":"sum", "inPlace":{}, "time":{:.6f}, "algBw":{:.6f}, "busBw":{:.6f}, "wrong":"{}"}})",
      cycle, name, size, in_place, time, rate, rate * factor, in_place == 1 ? "N/A" : "0");
}

Run read(const std::string& text) { return import_log(text, "a.json", {}); }

TEST(RcclTestsJson, IsARun) {
  const auto run =
      read("[\n" + row("AllReduce", 1024, 0, 21.5, 1.75) + ",\n" + row("AllReduce", 1024, 1, 22.5, 1.75) +
           ",\n" + row("AllReduce", 1U << 30U, 0, 5000, 1.75) + "\n]\n");
  ASSERT_EQ(run.rows.size(), 3U);
  EXPECT_EQ(run.ranks.size(), 8U);
  EXPECT_EQ(run.log->nodes->value, 2);
  EXPECT_EQ(run.log->format, "rccl-tests JSON");
  EXPECT_EQ(run.log->gpu->value, "AMD (rccl-tests)");
  const Measurement& second = run.rows[1].measurement;
  EXPECT_TRUE(second.key.in_place);
  EXPECT_DOUBLE_EQ(second.seconds, 22.5e-6);
  EXPECT_FALSE(second.wrong_elements);
  EXPECT_EQ(run.rows[2].measurement.wrong_elements, 0U);
  EXPECT_EQ(run.rows[2].measurement.source, "a.json:4");
}

TEST(RcclTestsJson, OfAGatherTheSizeIsOfAllRanks) {
  const auto run = read(row("AllGather", 1U << 20U, 0, 50, 0.875));
  EXPECT_EQ(run.rows.at(0).measurement.key.operation, OperationId::all_gather);
  EXPECT_EQ(run.rows.at(0).measurement.key.count, (1U << 20U) / 8 / 4);
}

/// As the first version wrote it: without the number of nodes.
TEST(RcclTestsJson, TheFirstFormIsRead) {
  const auto run = read(
      R"({"#wrong":"3","algBw":0.05,"busBw":0.075,"gpus":4,"inPlace":0,"name":"AllReduce","redop":"sum","size":1000,"time":20.0,"type":"float"})"
      "\n");
  EXPECT_EQ(run.ranks.size(), 4U);
  EXPECT_FALSE(run.log->nodes);
  EXPECT_EQ(run.rows.at(0).measurement.wrong_elements, 3U);
}

TEST(RcclTestsJson, OperationsAndCyclesAreRunsOfTheirOwn) {
  const auto refusal = [](const std::string& text) {
    try {
      (void)read(text);
    } catch (const Error& error) {
      return describe(error);
    }
    return std::string("no refusal");
  };
  const std::string first = row("AllReduce", 1024, 0, 21.5, 1.75) + "\n";
  EXPECT_THAT(refusal(first + row("AllReduce", 1024, 0, 21.5, 1.75, 1)), HasSubstr("holds 2 runs"));
  EXPECT_THAT(refusal(first + row("AllGather", 1024, 0, 21.5, 0.875)), HasSubstr("holds 2 runs"));
  EXPECT_THAT(refusal(first + row("Mystery", 1024, 0, 21.5, 1)), HasSubstr("a.json:2"));
  const std::string cut = refusal(first + R"({"numCycle":0, "name":"AllRed)");
  EXPECT_THAT(cut, testing::AllOf(HasSubstr("a.json:2"), HasSubstr("rccl-tests writes an object a line")));
  EXPECT_THAT(cut, testing::Not(HasSubstr("give another file")));
  EXPECT_THAT(refusal(row("AllReduce", 1024, 1, 21.5, 1.75)),
              HasSubstr("rows in place without their row out of place"));
}

}  // namespace
}  // namespace collbench::analysis::rccl_tests_json_test
