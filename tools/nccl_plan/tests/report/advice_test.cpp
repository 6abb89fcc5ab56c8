#include "tools/nccl_plan/report/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>

#include "base/document/text_layout.hpp"

namespace collbench::analysis::nccl_advice_test {
namespace {

using testing::HasSubstr;

/// A plan with rings of these channels × GB/s, and NCCL's times of AllReduce and AllGather in ms.
NcclPlan plan(int channels, double gigabytes, std::optional<double> all_reduce,
              std::optional<double> all_gather) {
  NcclPlan made;
  made.nodes = 2;
  made.ranks = 16;
  const NcclSearchGraph ring{NcclAlgorithm::ring, 4,     2,     channels, gigabytes * 1e9,
                             gigabytes * 1e9,     "NVL", "PIX", {}};
  made.graphs = {{ring}, {ring}};
  const auto seconds = [](std::optional<double> milliseconds) {
    return milliseconds ? std::optional(*milliseconds / 1e3) : std::nullopt;
  };
  made.rows = {{OperationId::all_reduce, 1024, {"tree", "ll", 1, {}}, 900},  // its largest size alone counts
               {OperationId::all_reduce, 1U << 30U, {"ring", "simple", 8, {}}, seconds(all_reduce)},
               {OperationId::all_gather, 1U << 30U, {"ring", "simple", 8, {}}, seconds(all_gather)},
               {OperationId::all_to_all, 1U << 30U, {"p2p", "", 0, {}}, std::nullopt}};
  return made;
}

std::string advice_text(const NcclPlan& as_asked, const std::vector<NcclTrial>& trials, int columns) {
  return text(Document{nccl_advice_answer(as_asked, trials), {nccl_advice_section(as_asked, trials)}},
              {.columns = columns});
}

TEST(NcclAdvice, IsWhatTakesTheLeastTimeOfAllOperations) {
  const NcclAdvice advice =
      nccl_advice(plan(8, 24, 5, 5), {{"A", plan(7, 48, 4.5, 2.7)}, {"B", plan(8, 24, 4.4, 5)}});
  EXPECT_TRUE(advice.by_time);
  EXPECT_EQ(advice.best, 0);
  ASSERT_EQ(advice.saved.size(), 2U);
  EXPECT_NEAR(advice.saved[0], 0.28, 1e-9);
  EXPECT_NEAR(advice.saved[1], 0.06, 1e-9);
}

TEST(NcclAdvice, SaysNothingForLessThanAHundredth) {
  const NcclPlan as_asked = plan(8, 48, 4, 4);
  EXPECT_EQ(nccl_advice(as_asked, {{"A", plan(8, 48, 4, 3.95)}, {"B", plan(8, 24, 8, 8)}}).best, -1);
  EXPECT_THAT(advice_text(as_asked, {{"A", plan(8, 48, 4, 3.95)}}, 100),
              HasSubstr("advice: nothing that was tried saves 1 %"));
}

TEST(NcclAdvice, GoesByTheRingsWhereNcclSaysNoTime) {
  const NcclPlan as_asked = plan(8, 24, 5, std::nullopt);
  const std::vector<NcclTrial> trials{{"A", plan(7, 48, 4, 3)}};
  const NcclAdvice advice = nccl_advice(as_asked, trials);
  EXPECT_FALSE(advice.by_time);
  EXPECT_EQ(advice.best, 0);
  EXPECT_NEAR(advice.saved[0], 1 - 8 * 24 / (7.0 * 48), 1e-9);
  EXPECT_THAT(advice_text(as_asked, trials, 120), HasSubstr("this NCCL says no times"));
}

TEST(NcclAdvice, TheTextHasTheTrialsAndWhatToSet) {
  const std::string text = advice_text(
      plan(8, 24, 5, 5),
      {{"NCCL_IB_HCA=^=mlx5_7 on node 1", plan(7, 48, 4.5, 2.7)}, {"NCCL_CROSS_NIC=0", plan(4, 24, 9, 11)}},
      80);
  EXPECT_THAT(text, HasSubstr("by NCCL's own time of AllReduce of 1 GiB,\n  AllGather of 1 GiB\n"));
  EXPECT_THAT(text, HasSubstr("7 × 48"));
  EXPECT_THAT(text, HasSubstr("−28.0 %"));
  EXPECT_THAT(text, HasSubstr("+100.0 %"));
  EXPECT_THAT(text, HasSubstr("advice: NCCL_IB_HCA=^=mlx5_7 on node 1 (−28.0 % of the time); NCCL reads"));
  EXPECT_THAT(text, HasSubstr("AllGather (µs)"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 80) << line;
}

TEST(NcclAdvice, AWidePageHasTheTimeOfEachOperation) {
  const std::string text = advice_text(plan(8, 24, 5, 5), {{"A", plan(7, 48, 4.5, 2.7)}}, 120);
  EXPECT_THAT(text, HasSubstr("AllGather (µs)"));
  EXPECT_THAT(text, HasSubstr("2700"));
}

TEST(NcclAdvice, TheJsonHasTheSame) {
  const Json json = nccl_advice_json(plan(8, 24, 5, 5), {{"A", plan(7, 48, 4.5, 2.7)}});
  EXPECT_EQ(json.at("by"), "time");
  EXPECT_EQ(json.at("best"), "A");
  EXPECT_EQ(json.at("trials").at(0).at("ring_channels"), 7);
  EXPECT_DOUBLE_EQ(json.at("trials").at(0).at("expected_seconds").at("AllGather"), 2.7e-3);
  EXPECT_NEAR(json.at("trials").at(0).at("saved_percent").get<double>(), 28, 1e-9);
}

}  // namespace
}  // namespace collbench::analysis::nccl_advice_test
