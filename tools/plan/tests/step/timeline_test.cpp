#include "tools/plan/step/timeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "tests/analysis/models/nccl/clusters.hpp"
#include "tools/plan/job/model_catalog.hpp"
#include "tools/plan/report/plan_report.hpp"

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

/// 1 s forward, 3 s backward, of which some for the weights.
TrainingPlan plan_without_bubbles(int stages, int micro_batches, double weights = 0.8) {
  TrainingPlan plan = plan_of(stages, 1, micro_batches);
  plan.job.schedule = Schedule::zb_h1;
  plan.step.stages.assign(static_cast<std::size_t>(stages),
                          {.forward = 1, .backward = 3, .weights = weights});
  return plan;
}

// Qi et al. 2023, table 1: m (F + B + W) + (p − 1)(F + B − W), and the activations of p micro-batches.
TEST(Timeline, WithoutBubblesEndsWhereThePaperSays) {
  for (const auto& [stages, micro_batches] : {std::pair(2, 2), {4, 4}, {4, 7}, {8, 32}}) {
    const std::vector<TimelineSpan> spans = timeline(plan_without_bubbles(stages, micro_batches));
    EXPECT_NEAR(end_of(spans), 4 * micro_batches + (stages - 1) * (1 + 2.2 - 0.8), 1e-9);
    // Where W takes longer than F, B is waited for all the same.
    EXPECT_NEAR(end_of(timeline(plan_without_bubbles(stages, micro_batches, 1.2))),
                4 * micro_batches + (stages - 1) * 1.8, 1e-9);
    for (int stage = 0; stage < stages; ++stage) {
      int kept = 0;
      int most = 0;
      for (const TimelineSpan& span : spans) {
        if (span.stage != stage) continue;
        kept += span.kind == SpanKind::forward ? 1 : 0;
        most = std::max(most, kept);
        kept -= span.kind == SpanKind::weights ? 1 : 0;
      }
      EXPECT_EQ(kept, 0);
      EXPECT_LE(most, stages);
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

  EXPECT_NE(timeline_svg(plan).find("</svg>"), std::string::npos);
}

// Trace Event Format, JSON Object Format: every event has ph, pid and name, a complete one ts and dur in
// microseconds. A viewer draws what overlaps on a thread as a stack, so nothing may.
TEST(Timeline, TheTraceIsWhatAViewerOpens) {
  const TrainingPlan plan = plan_without_bubbles(4, 8);
  const auto trace = nlohmann::json::parse(timeline_trace(plan));
  std::map<int, double> ends;
  std::map<int, double> busy;
  std::map<int, std::string> threads;
  std::size_t complete = 0;
  for (const auto& event : trace.at("traceEvents")) {
    ASSERT_TRUE(event.at("name").is_string() && event.at("pid").is_number());
    const std::string phase = event.at("ph");
    if (phase == "M" && event.at("name") == "thread_name")
      threads[event.at("tid")] = event.at("args").at("name");
    if (phase == "M") continue;
    ASSERT_EQ(phase, "X") << "a beginning without an end";
    ++complete;
    const int thread = event.at("tid");
    const double begin = event.at("ts");
    const double duration = event.at("dur");
    EXPECT_GE(begin, ends[thread] - 1e-6);
    EXPECT_GT(duration, 0);
    ends[thread] = begin + duration;
    busy[thread] += duration;
  }
  EXPECT_EQ(complete, timeline(plan).size());
  ASSERT_EQ(threads.size(), 4U);
  for (const auto& [thread, name] : threads) {
    EXPECT_EQ(name, "stage " + std::to_string(thread));
    EXPECT_NEAR(busy[thread], 8 * 4e6, 1e-3) << "all passes of a stage";
  }
}

TEST(Timeline, RefusesWhatIsTooLong) {
  EXPECT_THROW(static_cast<void>(timeline(plan_of(16, 4, 10'000))), Error);
}

}  // namespace
}  // namespace collbench::analysis::timeline_test
