// SendRecv on host memory, the ring shift of nccl-tests: every rank sends S to the next and receives S from
// the one before.
// PingPong on host memory: ranks 0 and p − 1, a message each way. S is the message.
#include <array>

#include "analysis/models/host/algorithms.hpp"
#include "analysis/models/host/loggp_simulator.hpp"

namespace collbench::analysis {
namespace {

/// Shifts follow each other without a pause. Eager messages run on round the ring, so that a shift takes what
/// its hops take on average; where messages wait, it takes the slowest hop. A lap of p shifts shows either,
/// and the first lap is the start.
double send_recv(const HostCall& call) {
  LogGpSimulator clock(call.model, SentData::standing, 2 * call.size_bytes);
  const Round round = shift(call.model, 1);
  const auto lap = [&] {
    clock.repeat(round, call.size_bytes, 0, call.ranks());
    return clock.seconds();
  };
  const double first = lap();
  return (lap() - first) / call.ranks();
}

constexpr std::array<HostAlgorithm, 1> kSendRecv{{{"send_recv", any_ranks, send_recv}}};

/// Half of a round trip, as OSU and IMB take it: α + S/B of the link between the two ranks.
double ping_pong(const HostCall& call) {
  const auto last = static_cast<std::size_t>(call.ranks() - 1);
  std::vector<int> there(last + 1, kNobody);
  std::vector<int> back(last + 1, kNobody);
  there.front() = static_cast<int>(last);
  back.back() = 0;
  const std::array<Round, 2> rounds{round_of(call.model, there), round_of(call.model, back)};
  LogGpSimulator clock(call.model, SentData::standing, 2 * call.size_bytes);
  return seconds_back_to_back(clock,
                              [&] {
                                for (const Round& round : rounds) clock.exchange(round, call.size_bytes);
                              }) /
         2;
}

constexpr std::array<HostAlgorithm, 1> kPingPong{{{"ping_pong", any_ranks, ping_pong}}};

}  // namespace

std::span<const HostAlgorithm> host_send_recv_algorithms() { return kSendRecv; }

std::span<const HostAlgorithm> host_ping_pong_algorithms() { return kPingPong; }

}  // namespace collbench::analysis
