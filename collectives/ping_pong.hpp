#pragma once
#include <optional>

#include "collectives/collective.hpp"

namespace collbench {

/// The rank that exchanges messages with this one; none for those that look on.
[[nodiscard]] std::optional<int> ping_pong_peer(int rank, int ranks);

/// Ranks 0 and p − 1 send each other a message in turn; the others look on. S is the message, and its time is
/// half of a round trip, as OSU's osu_latency and IMB's PingPong have it.
extern const Collective kPingPong;

}  // namespace collbench
