#pragma once
#include <cstdint>
#include <optional>
#include <vector>

namespace collbench::collectives {

/// What one block of iterations took on one rank.
struct Block {
  double elapsed_seconds = 0;                ///< of all iterations
  std::vector<double> samples;               ///< seconds per iteration, one value per sample
  std::optional<std::uint64_t> page_faults;  ///< of all iterations; none where nobody counts them
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

/// Runs `issue` `iterations` times and reads the clock `now` after every span of it. Nothing else stands
/// between two iterations: bench/sample_cost.cpp measures what it costs.
template <typename Now, typename Issue>
[[nodiscard]] Block time_block(const Now& now, std::uint64_t iterations, std::uint64_t iterations_per_sample,
                               const Issue& issue) {
  Block block;
  if (iterations == 0) return block;
  const std::vector<BlockSpan> spans = block_spans(iterations, iterations_per_sample);
  block.samples.reserve(kMaxBlockSamples);
  const double start = now();
  double before = start;
  for (const BlockSpan& span : spans) {
    for (std::uint64_t i = 0; i < span.iterations; ++i) issue();
    const double after = now();
    if (span.is_sample) block.samples.push_back((after - before) / static_cast<double>(span.iterations));
    before = after;
  }
  block.elapsed_seconds = before - start;
  return block;
}

}  // namespace collbench::collectives
