#include "tools/plan/step/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>
#include <utility>

#include "base/error.hpp"

namespace collbench::analysis {
namespace {

constexpr std::int64_t kMaxSpans = 200'000;
constexpr double kNotYet = -1;

struct Pass {
  SpanKind kind = SpanKind::forward;
  int micro_batch = 0;
  int chunk = 0;
};

/// Micro-batches in groups of as many as there are stages, each group through one chunk after the other.
std::vector<Pass> pass_order(const TrainingJob& job, SpanKind kind) {
  std::vector<Pass> order;
  const int all = job.micro_batches();
  for (int first = 0; first < all; first += job.pp) {
    for (int i = 0; i < job.vpp; ++i) {
      const int chunk = kind == SpanKind::forward ? i : job.vpp - 1 - i;
      for (int at = first; at < std::min(first + job.pp, all); ++at) order.push_back({kind, at, chunk});
    }
  }
  return order;
}

/// What a stage does in its order: forward passes to warm up, then one forward and one backward each, then
/// the backward passes that are left.
std::vector<Pass> stage_order(const TrainingJob& job, int stage) {
  const std::vector<Pass> forward = pass_order(job, SpanKind::forward);
  const std::vector<Pass> backward = pass_order(job, SpanKind::backward);
  const int behind = job.pp - 1 - stage;
  const int warm_up = job.vpp > 1 ? 2 * behind + (job.vpp - 1) * job.pp : behind;
  const std::size_t ahead = std::min(forward.size(), static_cast<std::size_t>(warm_up));
  std::vector<Pass> order(forward.begin(), forward.begin() + static_cast<std::ptrdiff_t>(ahead));
  for (std::size_t i = 0; i < backward.size(); ++i) {
    if (ahead + i < forward.size()) order.push_back(forward[ahead + i]);
    order.push_back(backward[i]);
  }
  return order;
}

/// Without bubbles: as 1F1B, and each backward pass is followed by the weights' part of one that is as many
/// micro-batches older as there are stages before this one, which leaves the way free for the first ones.
std::vector<Pass> zero_bubble_order(const TrainingJob& job, int stage) {
  const int all = job.micro_batches();
  const int ahead = std::min(all, job.pp - 1 - stage);
  std::vector<Pass> order;
  for (int at = 0; at < ahead; ++at) order.push_back({SpanKind::forward, at, 0});
  for (int at = 0; at < all; ++at) {
    if (ahead + at < all) order.push_back({SpanKind::forward, ahead + at, 0});
    order.push_back({SpanKind::backward, at, 0});
    if (at >= stage) order.push_back({SpanKind::weights, at - stage, 0});
  }
  for (int at = std::max(0, all - stage); at < all; ++at) order.push_back({SpanKind::weights, at, 0});
  return order;
}

/// When passes end; kNotYet where they have not.
class PassEnds {
 public:
  explicit PassEnds(const TrainingJob& job)
      : job_(job),
        ends_(2 * static_cast<std::size_t>(job.pp) * static_cast<std::size_t>(job.vpp) *
                  static_cast<std::size_t>(job.micro_batches()),
              kNotYet) {}

  double& of(int stage, const Pass& pass) {
    const auto size = [](int count) { return static_cast<std::size_t>(count); };
    const std::size_t part = size(pass.chunk) * size(job_.pp) + size(stage);
    const std::size_t at = part * size(job_.micro_batches()) + size(pass.micro_batch);
    return ends_.at(2 * at + (pass.kind == SpanKind::forward ? 1 : 0));
  }

  /// When what the pass needs is there; kNotYet where it is not.
  double ready(int stage, const Pass& pass) {
    const int last_chunk = job_.vpp - 1;
    if (pass.kind == SpanKind::weights) return of(stage, {SpanKind::backward, pass.micro_batch, pass.chunk});
    if (pass.kind == SpanKind::forward) {
      if (stage > 0) return of(stage - 1, pass);
      return pass.chunk == 0 ? 0 : of(job_.pp - 1, {SpanKind::forward, pass.micro_batch, pass.chunk - 1});
    }
    if (stage + 1 < job_.pp) return of(stage + 1, pass);
    return pass.chunk == last_chunk ? of(stage, {SpanKind::forward, pass.micro_batch, pass.chunk})
                                    : of(0, {SpanKind::backward, pass.micro_batch, pass.chunk + 1});
  }

 private:
  const TrainingJob& job_;
  std::vector<double> ends_;
};

/// A stage's schedule, as far as it has come.
struct StageClock {
  std::vector<Pass> order{};
  std::size_t next = 0;
  double now = 0;
};

double seconds_of(const TrainingJob& job, const StagePasses& stage, SpanKind kind) {
  if (kind == SpanKind::forward) return stage.forward / job.vpp;
  if (kind == SpanKind::weights) return stage.weights;
  return (job.is_zero_bubble() ? stage.backward - stage.weights : stage.backward) / job.vpp;
}

/// Takes the stage as far as its data allow; whether it moved at all.
bool advance(const TrainingPlan& plan, int stage, StageClock& clock, PassEnds& ends,
             std::vector<TimelineSpan>& spans) {
  const StagePasses& seconds = plan.step.stages.at(static_cast<std::size_t>(stage));
  const std::size_t before = clock.next;
  for (; clock.next < clock.order.size(); ++clock.next) {
    const Pass& pass = clock.order[clock.next];
    const double ready = ends.ready(stage, pass);
    if (ready < 0) break;
    const double begin = std::max(ready, clock.now);
    clock.now = begin + seconds_of(plan.job, seconds, pass.kind);
    // Nothing waits for the gradients of weights.
    if (pass.kind != SpanKind::weights) ends.of(stage, pass) = clock.now;
    spans.push_back({stage, pass.kind, pass.micro_batch, pass.chunk, begin, clock.now});
  }
  return clock.next != before;
}

}  // namespace

std::string_view name(SpanKind kind) {
  constexpr std::array<std::string_view, 6> kNames{
      "forward",   "backward",       "gradients of weights", "data-parallel collectives",
      "optimizer", "jitter and host"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::vector<TimelineSpan> timeline(const TrainingPlan& plan) {
  const TrainingJob& job = plan.job;
  if (job.schedule == Schedule::dualpipe)
    throw usage_error("--timeline", "a dualpipe step is not drawn", "leave --timeline or --schedule out");
  const std::int64_t passes =
      std::int64_t{job.is_zero_bubble() ? 3 : 2} * job.pp * job.vpp * job.micro_batches();
  if (passes > kMaxSpans) {
    throw usage_error(
        "--timeline", fmt::format("the step has {} passes over {} stages", passes, job.pp),
        fmt::format("a timeline has at most {}: give a smaller --gbs, the pattern repeats", kMaxSpans));
  }
  std::vector<StageClock> clocks(static_cast<std::size_t>(job.pp));
  for (int stage = 0; stage < job.pp; ++stage)
    clocks[static_cast<std::size_t>(stage)].order =
        job.is_zero_bubble() ? zero_bubble_order(job, stage) : stage_order(job, stage);
  PassEnds ends(job);
  std::vector<TimelineSpan> spans;
  for (bool moved = true; moved;) {
    moved = false;
    for (int stage = 0; stage < job.pp; ++stage)
      moved = advance(plan, stage, clocks[static_cast<std::size_t>(stage)], ends, spans) || moved;
  }
  double last = 0;
  for (const StageClock& clock : clocks) last = std::max(last, clock.now);
  for (int stage = 0; stage < job.pp; ++stage) {
    double at = last;
    for (const auto& [kind, part] :
         {std::pair(SpanKind::data_parallel, StepPart::dp),
          std::pair(SpanKind::optimizer, StepPart::optimizer), std::pair(SpanKind::other, StepPart::other)}) {
      const double seconds = plan.step.seconds_of(part);
      if (seconds > 0) spans.push_back({stage, kind, 0, 0, at, at + seconds});
      at += seconds;
    }
  }
  std::ranges::sort(spans, [](const TimelineSpan& a, const TimelineSpan& b) {
    return std::tie(a.stage, a.begin, a.end, a.kind) < std::tie(b.stage, b.begin, b.end, b.kind);
  });
  return spans;
}

}  // namespace collbench::analysis
