#include "collectives/engine/block_timer.hpp"

#include <algorithm>

#include "base/deterministic_random.hpp"

namespace collbench::collectives {

std::vector<BlockSpan> block_spans(std::uint64_t iterations, std::uint64_t iterations_per_sample) {
  std::vector<BlockSpan> spans;
  const std::uint64_t whole = iterations / iterations_per_sample;
  if (whole <= kMaxBlockSamples) {
    for (std::uint64_t i = 0; i < whole; ++i) spans.push_back({.iterations = iterations_per_sample});
    if (const std::uint64_t rest = iterations % iterations_per_sample; rest > 0)
      spans.push_back({.iterations = rest});
    return spans;
  }
  std::uint64_t done = 0;
  const auto add = [&](std::uint64_t until, bool is_sample) {
    if (until > done) spans.push_back({.iterations = until - done, .is_sample = is_sample});
    done = until;
  };
  for (std::uint64_t part = 0; part < kMaxBlockSamples; ++part) {
    const std::uint64_t first = part * whole / kMaxBlockSamples;
    const std::uint64_t behind = (part + 1) * whole / kMaxBlockSamples;
    const std::uint64_t sample = first + scrambled(part) % (behind - first);
    add(sample * iterations_per_sample, false);
    add((sample + 1) * iterations_per_sample, true);
  }
  add(iterations, false);
  return spans;
}

}  // namespace collbench::collectives
