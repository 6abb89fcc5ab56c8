// PingPong on host memory: ranks 0 and p − 1, a message each way. S is the message.
#include <array>

#include "analysis/back_to_back.hpp"
#include "analysis/host_algorithm.hpp"

namespace collbench {
namespace {

/// Half of a round trip, as OSU and IMB take it: α + S/B of the link between the two ranks.
double ping_pong(const HostCall& call) {
  const auto last = static_cast<std::size_t>(call.ranks() - 1);
  std::vector<int> there(last + 1, kNobody);
  std::vector<int> back(last + 1, kNobody);
  there.front() = static_cast<int>(last);
  back.back() = 0;
  const std::array<Round, 2> rounds{round_of(call.model, there), round_of(call.model, back)};
  RoundClock clock(call.model, SentData::standing, 2 * call.size_bytes);
  return seconds_back_to_back(clock,
                              [&] {
                                for (const Round& round : rounds) clock.exchange(round, call.size_bytes);
                              }) /
         2;
}

constexpr std::array<HostAlgorithm, 1> kAlgorithms{{{"ping_pong", any_ranks, ping_pong}}};

}  // namespace

std::span<const HostAlgorithm> host_ping_pong_algorithms() { return kAlgorithms; }

}  // namespace collbench
