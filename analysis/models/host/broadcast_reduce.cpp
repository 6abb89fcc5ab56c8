// Broadcast on host memory: S is the root's buffer, which every rank gets. MPI_Bcast has one buffer: nothing
// is copied, in place or not.
// Reduce on host memory: S is the buffer of one rank; the root gets the reduction of all of them.
#include <array>

#include "analysis/models/host/algorithms.hpp"
#include "analysis/models/host/comm_schedules.hpp"
#include "analysis/models/host/loggp_simulator.hpp"

namespace collbench::analysis {
namespace {

double broadcast_in_rounds(const HostCall& call, const std::vector<Round>& rounds, SentData data) {
  LogGpSimulator clock(call.model, data, call.size_bytes);
  return seconds_back_to_back(clock, [&] {
    for (const Round& round : rounds) clock.exchange(round, call.size_bytes);
  });
}

double broadcast_linear(const HostCall& call) {
  return broadcast_in_rounds(call, linear_rounds(call.model, TreeWay::from_root, call.root),
                             SentData::standing);
}

/// Who has it sends to half of those that have not. R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005.
double broadcast_binomial(const HostCall& call) {
  return broadcast_in_rounds(call, binomial_rounds(call.model, TreeWay::from_root, call.root),
                             SentData::forwarded);
}

double broadcast_pipeline(const HostCall& call) {
  const LogGpSimulator start(call.model, SentData::forwarded, call.size_bytes);
  return pipeline_seconds(call, chain_round(call.model, TreeWay::from_root, call.root), start,
                          [](double) { return 0.0; });
}

constexpr std::array<HostAlgorithm, 3> kBroadcast{{{"basic_linear", any_ranks, broadcast_linear},
                                                   {"pipeline", any_ranks, broadcast_pipeline},
                                                   {"binomial", any_ranks, broadcast_binomial}}};

/// What a rank touches: its own buffer, the result, and what arrives.
LogGpSimulator clock_for(const HostCall& call, SentData data) {
  return {call.model, data, (call.in_place ? 2 : 3) * call.size_bytes};
}

double reduce_in_rounds(const HostCall& call, const std::vector<Round>& rounds, SentData data) {
  LogGpSimulator clock = clock_for(call, data);
  const double reduce = clock.reduce(call.size_bytes);
  return seconds_back_to_back(clock, [&] {
    for (const Round& round : rounds) clock.exchange(round, call.size_bytes, reduce);
  });
}

/// Everybody sends to the root, which reduces them in turn.
double reduce_linear(const HostCall& call) {
  return reduce_in_rounds(call, linear_rounds(call.model, TreeWay::to_root, call.root), SentData::standing);
}

/// A broadcast's binomial tree the other way round, with a reduction at each meeting. R. Thakur,
/// R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005.
double reduce_binomial(const HostCall& call) {
  return reduce_in_rounds(call, binomial_rounds(call.model, TreeWay::to_root, call.root),
                          SentData::forwarded);
}

double reduce_pipeline(const HostCall& call) {
  const LogGpSimulator start = clock_for(call, SentData::forwarded);
  return pipeline_seconds(call, chain_round(call.model, TreeWay::to_root, call.root), start,
                          [&start](double segment) { return start.reduce(segment); });
}

constexpr std::array<HostAlgorithm, 3> kReduce{{{"linear", any_ranks, reduce_linear},
                                                {"pipeline", any_ranks, reduce_pipeline},
                                                {"binomial", any_ranks, reduce_binomial}}};

}  // namespace

std::span<const HostAlgorithm> host_broadcast_algorithms() { return kBroadcast; }

std::span<const HostAlgorithm> host_reduce_algorithms() { return kReduce; }

}  // namespace collbench::analysis
