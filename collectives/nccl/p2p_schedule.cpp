#include "collectives/nccl/nccl_row.hpp"

namespace collbench::collectives {

std::vector<P2pOp> p2p_schedule(const RowKey& key, const CallContext& call) {
  std::vector<P2pOp> all;
  const auto put = [&all](bool sends, int peer, std::uint64_t offset, std::uint64_t count) {
    if (count > 0) all.push_back({sends, peer, offset, count});
  };
  const auto send = [&](int peer, std::uint64_t offset) { put(true, peer, offset, key.count); };
  const auto receive = [&](int peer, std::uint64_t offset) { put(false, peer, offset, key.count); };
  const auto block_at = [&](int rank) { return static_cast<std::uint64_t>(rank) * key.count; };
  switch (key.operation) {
    case OperationId::all_to_all:
      for (int peer = 0; peer < call.ranks; ++peer) {
        send(peer, block_at(peer));
        receive(peer, block_at(peer));
      }
      break;
    case OperationId::all_to_all_v: {
      const Exchanges each = exchanges(key.count, call);
      for (int peer = 0; peer < call.ranks; ++peer) {
        const auto at = static_cast<std::size_t>(peer);
        put(true, peer, each.sent_from[at], each.sent[at]);
        put(false, peer, each.received_at[at], each.received[at]);
      }
      break;
    }
    case OperationId::send_recv:
      send((call.rank + 1) % call.ranks, 0);
      receive((call.rank + call.ranks - 1) % call.ranks, 0);
      break;
    case OperationId::ping_pong:
      if (const auto peer = ping_pong_peer(call.rank, call.ranks)) {
        put(call.rank == 0, *peer, 0, key.count);
        put(call.rank != 0, *peer, 0, key.count);
      }
      break;
    case OperationId::gather:
      send(call.root, 0);
      for (int peer = 0; call.rank == call.root && peer < call.ranks; ++peer) receive(peer, block_at(peer));
      break;
    case OperationId::scatter:
      for (int peer = 0; call.rank == call.root && peer < call.ranks; ++peer) send(peer, block_at(peer));
      receive(call.root, 0);
      break;
    case OperationId::all_reduce:
    case OperationId::all_gather:
    case OperationId::reduce_scatter:
    case OperationId::broadcast:
    case OperationId::reduce:
    case OperationId::step:
    case OperationId::hypercube:
      break;
  }
  return all;
}

}  // namespace collbench::collectives
