#include "analysis/plan/timeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "analysis/plan/model_catalog.hpp"
#include "analysis/report/plan/plan_timeline.hpp"
#include "base/error.hpp"
#include "tests/analysis/models/nccl/clusters.hpp"

namespace collbench::analysis::timeline_test {
namespace {

/// A plan of equal stages, 1 s forward and 2 s backward each, nothing else.
TrainingPlan plan_of(int stages, int chunks, int micro_batches) {
  TrainingPlan plan;
  plan.job = {
      .model = find_model("llama-3.1-8b").shape, .global_batch = micro_batches, .pp = stages, .vpp = chunks};
  plan.step.stages.assign(static_cast<std::size_t>(stages), {.forward = 1, .backward = 2});
  return plan;
}

double end_of(const std::vector<TimelineSpan>& spans) {
  double end = 0;
  for (const TimelineSpan& span : spans) end = std::max(end, span.end);
  return end;
}

// Narayanan et al. 2021, section 2.2: (m + (p − 1) / v) (f + b).
TEST(Timeline, EndsWhereThePaperSays) {
  EXPECT_DOUBLE_EQ(end_of(timeline(plan_of(1, 1, 4))), 12);
  EXPECT_DOUBLE_EQ(end_of(timeline(plan_of(4, 1, 8))), (8 + 3) * 3);
  EXPECT_NEAR(end_of(timeline(plan_of(4, 2, 8))), (8 + 3 / 2.0) * 3, 1e-9);
  EXPECT_NEAR(end_of(timeline(plan_of(4, 5, 16))), (16 + 3 / 5.0) * 3, 1e-9);
  EXPECT_DOUBLE_EQ(end_of(timeline(plan_of(8, 1, 2))), (2 + 7) * 3) << "fewer micro-batches than stages";
}

TEST(Timeline, EveryPassRunsOnceInAnOrderThatItsDataAllow) {
  const TrainingPlan plan = plan_of(4, 2, 6);  // the last group of micro-batches is smaller
  std::map<std::tuple<int, int, int, int>, const TimelineSpan*> seen;
  const std::vector<TimelineSpan> spans = timeline(plan);
  for (const TimelineSpan& span : spans) {
    const auto key = std::tuple(static_cast<int>(span.kind), span.stage, span.chunk, span.micro_batch);
    EXPECT_TRUE(seen.emplace(key, &span).second);
  }
  EXPECT_EQ(seen.size(), 2U * 4 * 2 * 6);
  const auto at = [&](SpanKind kind, int virtual_stage, int micro_batch) {
    return *seen.at({static_cast<int>(kind), virtual_stage % 4, virtual_stage / 4, micro_batch});
  };
  for (int micro_batch = 0; micro_batch < 6; ++micro_batch) {
    for (int stage = 1; stage < 8; ++stage) {
      EXPECT_GE(at(SpanKind::forward, stage, micro_batch).begin,
                at(SpanKind::forward, stage - 1, micro_batch).end);
      EXPECT_GE(at(SpanKind::backward, stage - 1, micro_batch).begin,
                at(SpanKind::backward, stage, micro_batch).end);
    }
    EXPECT_GE(at(SpanKind::backward, 7, micro_batch).begin, at(SpanKind::forward, 7, micro_batch).end);
  }
  for (std::size_t i = 1; i < spans.size(); ++i) {
    if (spans[i].stage == spans[i - 1].stage) {
      EXPECT_GE(spans[i].begin, spans[i - 1].end);
    }
  }
}

// Megatron-LM schedules.py: 2 (p - 1 - i) + (v - 1) p passes to warm up, then one forward before each
// backward.
TEST(Timeline, WarmsUpAsMegatron) {
  const std::vector<TimelineSpan> spans = timeline(plan_of(4, 2, 8));
  const auto forward_before_backward = [&](int stage) {
    int count = 0;
    for (const TimelineSpan& span : spans) {
      if (span.stage != stage) continue;
      if (span.kind == SpanKind::backward) break;
      ++count;
    }
    return count;
  };
  EXPECT_EQ(forward_before_backward(0), 2 * 3 + 4 + 1);
  EXPECT_EQ(forward_before_backward(3), 4 + 1);
}

TEST(Timeline, OfARealPlanIsAsLongAsItsStep) {
  PlanRequest request;
  request.model = find_model("llama-3.1-70b").shape;
  request.n_gpus = 1024;
  request.tp = 4, request.pp = 4, request.cp = 2, request.vpp = 5;
  request.global_batch = 512;
  const TrainingPlan plan = training_plan(request, cluster_of("hgx-h100", 1));
  // The last stage has the head besides, and the plan counts what the others wait for it.
  EXPECT_NEAR(end_of(timeline(plan)), plan.step_seconds, 0.02 * plan.step_seconds);

  // Trace Event Format, JSON Object Format: every event has ph, pid and name; a complete one ts and dur.
  const auto trace = nlohmann::json::parse(timeline_trace(plan));
  std::size_t complete = 0;
  for (const auto& event : trace.at("traceEvents")) {
    EXPECT_TRUE(event.at("name").is_string() && event.at("pid").is_number());
    if (event.at("ph") != "X") continue;
    ++complete;
    EXPECT_GE(event.at("ts").get<double>(), 0);
    EXPECT_GT(event.at("dur").get<double>(), 0);
    EXPECT_LT(event.at("tid").get<int>(), 4);
  }
  EXPECT_EQ(complete, timeline(plan).size());
  EXPECT_NE(timeline_svg(plan).find("</svg>"), std::string::npos);
}

TEST(Timeline, RefusesWhatIsTooLong) {
  EXPECT_THROW(static_cast<void>(timeline(plan_of(16, 4, 10'000))), Error);
}

}  // namespace
}  // namespace collbench::analysis::timeline_test
