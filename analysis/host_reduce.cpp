// Reduce on host memory: S is the buffer of one rank; the root gets the reduction of all of them.
#include <algorithm>
#include <array>

#include "analysis/back_to_back.hpp"
#include "analysis/host_algorithm.hpp"
#include "analysis/host_pipeline.hpp"
#include "analysis/round_patterns.hpp"

namespace collbench {
namespace {

/// What a rank touches: its own buffer, the result, and what arrives.
RoundClock clock_for(const HostCall& call, SentData data) {
  return {call.model, data, (call.in_place ? 2 : 3) * call.size_bytes};
}

double in_rounds(const HostCall& call, const std::vector<Round>& rounds, SentData data) {
  RoundClock clock = clock_for(call, data);
  const double reduce = clock.reduce(call.size_bytes);
  return seconds_back_to_back(clock, [&] {
    for (const Round& round : rounds) clock.exchange(round, call.size_bytes, reduce);
  });
}

/// Everybody sends to the root, which reduces them in turn.
double linear(const HostCall& call) {
  return in_rounds(call, linear_to_root(call.model, call.root), SentData::standing);
}

/// A broadcast's binomial tree the other way round, with a reduction at each meeting. R. Thakur,
/// R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005.
double binomial(const HostCall& call) {
  return in_rounds(call, binomial_to_root(call.model, call.root), SentData::forwarded);
}

double pipeline(const HostCall& call) {
  const RoundClock start = clock_for(call, SentData::forwarded);
  return pipeline_seconds(call, chain_to_root(call.model, call.root), start,
                          [&start](double segment) { return start.reduce(segment); });
}

constexpr std::array<HostAlgorithm, 3> kAlgorithms{
    {{"linear", any_ranks, linear}, {"pipeline", any_ranks, pipeline}, {"binomial", any_ranks, binomial}}};

}  // namespace

std::span<const HostAlgorithm> host_reduce_algorithms() { return kAlgorithms; }

}  // namespace collbench
