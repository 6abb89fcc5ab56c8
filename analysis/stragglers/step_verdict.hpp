#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/record/identities.hpp"
#include "base/record/measurement.hpp"
#include "base/record/run.hpp"
#include "base/record/straggler_probe.hpp"

namespace collbench::analysis {

/// With fewer passes nobody is named: what three of four exceed is then one of the first two or three.
inline constexpr int kMinStepPasses = 6;
/// A kernel that takes so much longer than those of the others is slow: on GPUs practitioners evict from "a
/// few
/// %" on; on host memory, where cores share clocks and caches, twice that.
inline constexpr double kSlowComputeShare = 0.05;
/// What makes others wait for less of a step is not named.
inline constexpr double kMinStepShare = 0.02;
/// Nor what is shorter: the system's own interruptions.
inline constexpr double kMinStepSeconds = 20e-6;

/// Who makes the others wait in the steps of a row: slow in compute, late for another reason, or behind a
/// slow link. A rank is named where what it takes beyond the others' median is, in three of four passes,
/// beyond all lines above, and in the median beyond six robust standard deviations of the ranks (of three or
/// more). Links are those that the run's probes between passes found (`probe`, null: nobody looked).
/// `obstacle`: why ranks cannot be judged one by one; empty: they can.
[[nodiscard]] StepVerdict step_verdict(const Measurement& measured, const Identities& ranks,
                                       const RankProbe* probe, const std::string& obstacle);

/// Begins the note of a run whose ranks could not be probed one by one; the reason follows.
inline constexpr std::string_view kNotProbed = "stragglers not probed: ";

/// Writes the verdict of each row of steps into the run, with what its probes and notes say.
void tell_steps(Run& run);

/// As medians over launches of the same rows, and their verdict.
void merge_steps(Run& merged, const std::vector<Run>& launches);

/// The medians over the ranks of a row; all 0 where it has no steps.
[[nodiscard]] StepTimes median_step(const Measurement& measured);

}  // namespace collbench::analysis
