// SendRecv on host memory, the ring shift of nccl-tests: every rank sends S to the next and receives S from
// the one before.
#include <array>

#include "analysis/host_algorithm.hpp"
#include "analysis/round_clock.hpp"

namespace collbench {
namespace {

/// Shifts follow each other without a pause. Eager messages run on round the ring, so that a shift takes what
/// its hops take on average; where messages wait, it takes the slowest hop. A lap of p shifts shows either,
/// and the first lap is the start.
double send_recv(const HostCall& call) {
  RoundClock clock(call.model, SentData::standing, 2 * call.size_bytes);
  const Round round = shift(call.model, 1);
  const auto lap = [&] {
    clock.repeat(round, call.size_bytes, 0, call.ranks());
    return clock.seconds();
  };
  const double first = lap();
  return (lap() - first) / call.ranks();
}

constexpr std::array<HostAlgorithm, 1> kAlgorithms{{{"send_recv", any_ranks, send_recv}}};

}  // namespace

std::span<const HostAlgorithm> host_send_recv_algorithms() { return kAlgorithms; }

}  // namespace collbench
