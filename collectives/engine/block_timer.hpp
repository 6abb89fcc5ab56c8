#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/record/straggler_probe.hpp"

namespace collbench::collectives {

/// What one block of iterations took on one rank.
struct Block {
  std::uint64_t iterations = 0;              ///< that were done
  double elapsed_seconds = 0;                ///< of all iterations
  std::vector<double> samples;               ///< seconds per iteration, one value per sample
  std::optional<std::uint64_t> page_faults;  ///< of all iterations; none where nobody counts them
  std::optional<double> core_wait_seconds;   ///< of all iterations; none where the kernel does not say
  std::optional<StepTimes> step{};           ///< of a Step: means over its steps
};

/// A block keeps so many samples at most. 256 of 64 passes are 16,384: 1 % of them, the p99, are 164.
inline constexpr std::uint64_t kMaxBlockSamples = 256;

/// Iterations between two readings of the clock.
struct BlockSpan {
  std::uint64_t iterations = 0;
  bool is_sample = true;  ///< false: what lies between two samples that are kept

  bool operator==(const BlockSpan&) const = default;
};

/// The spans of a block. Every `iterations_per_sample` of it are a sample, the last of which may be shorter.
/// Of more than kMaxBlockSamples whole ones as many are kept, one drawn from each of as many equal parts of
/// the block; the same on all ranks and in every run.
[[nodiscard]] std::vector<BlockSpan> block_spans(std::uint64_t iterations,
                                                 std::uint64_t iterations_per_sample);

/// Whether a block goes on: asked now and then, with the clock stopped, after the same call on all ranks. The
/// same answer on all of them; it may communicate. An empty one: it does.
using GoesOn = std::function<bool()>;

/// So many calls lie between two questions at most, and a span more. A question takes as long as some small
/// calls: a thousandth of the time. Where each call has to wait for a turn on a core that ranks share, some
/// milliseconds, they take half a minute.
inline constexpr std::uint64_t kCallsBetweenQuestions = 4096;

/// A block whose samples are not kept, as spans between which it is asked whether it goes on: of whole
/// samples, since a CUDA graph holds one.
[[nodiscard]] std::vector<BlockSpan> slice_spans(std::uint64_t iterations,
                                                 std::uint64_t iterations_per_sample);

/// Of the first `count` spans.
[[nodiscard]] std::uint64_t iterations_of(std::span<const BlockSpan> spans, std::size_t count);

/// Seconds of each span, as `time` says of some that follow each other: of all at once where `goes_on` is
/// empty, else of so many that kCallsBetweenQuestions lie between two questions. Fewer where the block ended.
[[nodiscard]] std::vector<double> time_slices(
    std::span<const BlockSpan> spans, const GoesOn& goes_on,
    const std::function<std::vector<double>(std::span<const BlockSpan> slice)>& time);

/// Runs `issue` `iterations` times, unless `goes_on` ends it, and reads the clock `now` after every span of
/// it. Nothing else stands between two iterations: bench/sample_cost.cpp measures what it costs.
template <typename Now, typename Issue>
[[nodiscard]] Block time_block(const Now& now, std::uint64_t iterations, std::uint64_t iterations_per_sample,
                               const Issue& issue, const GoesOn& goes_on = {}) {
  Block block;
  if (iterations == 0) return block;
  const std::vector<BlockSpan> spans = block_spans(iterations, iterations_per_sample);
  block.samples.reserve(kMaxBlockSamples);
  const double start = now();
  double before = start;
  double left_out = 0;
  std::uint64_t unasked = 0;
  for (const BlockSpan& span : spans) {
    if (unasked >= kCallsBetweenQuestions && goes_on) {
      if (!goes_on()) break;
      unasked = 0;
      left_out -= before;
      before = now();
      left_out += before;
    }
    for (std::uint64_t i = 0; i < span.iterations; ++i) issue();
    const double after = now();
    if (span.is_sample) block.samples.push_back((after - before) / static_cast<double>(span.iterations));
    before = after;
    unasked += span.iterations;
    block.iterations += span.iterations;
  }
  block.elapsed_seconds = before - start - left_out;
  return block;
}

}  // namespace collbench::collectives
