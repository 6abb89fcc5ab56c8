#include "collectives/ping_pong.hpp"

namespace collbench {
namespace {

/// Messages in one direction on this rank.
std::uint64_t messages(const CallShape& shape) { return ping_pong_peer(shape.rank, shape.ranks) ? 1 : 0; }

Layout layout(std::uint64_t count, const CallShape& shape) {
  return {.count = count,
          .size_elements = count,
          .send_elements = count * messages(shape),
          .receive_elements = count * messages(shape)};
}

std::vector<Segment> result(const Layout& layout, const CallShape& shape) {
  const std::optional<int> peer = ping_pong_peer(shape.rank, shape.ranks);
  return {{.source = peer.value_or(shape.rank), .source_index = 0, .length = layout.receive_elements}};
}

}  // namespace

std::optional<int> ping_pong_peer(int rank, int ranks) {
  if (rank == 0) return ranks - 1;
  if (rank == ranks - 1) return 0;
  return std::nullopt;
}

const Collective kPingPong{.id = OperationId::ping_pong, .layout = layout, .result = result};

}  // namespace collbench
