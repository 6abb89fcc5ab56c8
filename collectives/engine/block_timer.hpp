#pragma once
#include <algorithm>
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

/// Runs `issue` `iterations` times and reads the clock `now` after every `iterations_per_sample`; the last
/// sample may be shorter. Nothing else stands between two iterations: bench/sample_cost.cpp measures what it
/// costs.
template <typename Now, typename Issue>
[[nodiscard]] Block time_block(const Now& now, std::uint64_t iterations, std::uint64_t iterations_per_sample,
                               const Issue& issue) {
  Block block;
  if (iterations == 0) return block;
  block.samples.reserve((iterations + iterations_per_sample - 1) / iterations_per_sample);
  const double start = now();
  double before = start;
  for (std::uint64_t left = iterations; left > 0;) {
    const std::uint64_t repeats = std::min(left, iterations_per_sample);
    for (std::uint64_t i = 0; i < repeats; ++i) issue();
    const double after = now();
    block.samples.push_back((after - before) / static_cast<double>(repeats));
    before = after;
    left -= repeats;
  }
  block.elapsed_seconds = before - start;
  return block;
}

}  // namespace collbench::collectives
