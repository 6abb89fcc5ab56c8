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

std::vector<BlockSpan> slice_spans(std::uint64_t iterations, std::uint64_t iterations_per_sample) {
  const std::uint64_t samples = (kCallsBetweenQuestions + iterations_per_sample - 1) / iterations_per_sample;
  const std::uint64_t each = samples * iterations_per_sample;
  std::vector<BlockSpan> spans;
  for (std::uint64_t done = 0; done < iterations; done += spans.back().iterations)
    spans.push_back({.iterations = std::min(each, iterations - done)});
  return spans;
}

std::uint64_t iterations_of(std::span<const BlockSpan> spans, std::size_t count) {
  std::uint64_t sum = 0;
  for (const BlockSpan& span : spans.first(count)) sum += span.iterations;
  return sum;
}

std::vector<double> time_slices(
    std::span<const BlockSpan> spans, const GoesOn& goes_on,
    const std::function<std::vector<double>(std::span<const BlockSpan> slice)>& time) {
  if (!goes_on) return time(spans);
  std::vector<double> seconds;
  while (seconds.size() < spans.size() && (seconds.empty() || goes_on())) {
    const auto left = spans.subspan(seconds.size());
    std::size_t count = 0;
    for (std::uint64_t calls = 0; count < left.size() && calls < kCallsBetweenQuestions; ++count)
      calls += left[count].iterations;
    const std::vector<double> more = time(left.first(count));
    seconds.insert(seconds.end(), more.begin(), more.end());
  }
  return seconds;
}

}  // namespace collbench::collectives
