// Broadcast on host memory: S is the root's buffer, which every rank gets. MPI_Bcast has one buffer: nothing
// is copied, in place or not.
#include <algorithm>
#include <array>

#include "analysis/back_to_back.hpp"
#include "analysis/host_algorithm.hpp"
#include "analysis/host_pipeline.hpp"
#include "analysis/round_patterns.hpp"

namespace collbench {
namespace {

double in_rounds(const HostCall& call, const std::vector<Round>& rounds, SentData data) {
  RoundClock clock(call.model, data, call.size_bytes);
  return seconds_back_to_back(clock, [&] {
    for (const Round& round : rounds) clock.exchange(round, call.size_bytes);
  });
}

/// The root sends to each.
double basic_linear(const HostCall& call) {
  return in_rounds(call, linear_from_root(call.model, call.root), SentData::standing);
}

/// Who has it sends to half of those that have not. R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005.
double binomial(const HostCall& call) {
  return in_rounds(call, binomial_from_root(call.model, call.root), SentData::forwarded);
}

double pipeline(const HostCall& call) {
  const RoundClock start(call.model, SentData::forwarded, call.size_bytes);
  return pipeline_seconds(call, chain_from_root(call.model, call.root), start, [](double) { return 0.0; });
}

constexpr std::array<HostAlgorithm, 3> kAlgorithms{{{"basic_linear", any_ranks, basic_linear},
                                                    {"pipeline", any_ranks, pipeline},
                                                    {"binomial", any_ranks, binomial}}};

}  // namespace

std::span<const HostAlgorithm> host_broadcast_algorithms() { return kAlgorithms; }

}  // namespace collbench
