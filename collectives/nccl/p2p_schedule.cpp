#include "collectives/nccl/p2p_schedule.hpp"

#include "collectives/operations.hpp"

namespace collbench::collectives {
namespace {

using Transfers = std::vector<P2pOp>;

P2pOp send(int peer, std::uint64_t offset, std::uint64_t count) { return {true, peer, offset, count}; }
P2pOp receive(int peer, std::uint64_t offset, std::uint64_t count) { return {false, peer, offset, count}; }

std::uint64_t block_at(int rank, std::uint64_t count) { return static_cast<std::uint64_t>(rank) * count; }

Transfers all_to_all(std::uint64_t count, const CallContext& shape) {
  Transfers all;
  for (int peer = 0; peer < shape.ranks; ++peer) {
    all.push_back(send(peer, block_at(peer, count), count));
    all.push_back(receive(peer, block_at(peer, count), count));
  }
  return all;
}

Transfers all_to_all_v(std::uint64_t count, const CallContext& shape) {
  const Exchanges each = exchanges(count, shape);
  Transfers all;
  for (int peer = 0; peer < shape.ranks; ++peer) {
    const auto at = static_cast<std::size_t>(peer);
    all.push_back(send(peer, each.sent_from[at], each.sent[at]));
    all.push_back(receive(peer, each.received_at[at], each.received[at]));
  }
  return all;
}

Transfers send_recv(std::uint64_t count, const CallContext& shape) {
  return {send((shape.rank + 1) % shape.ranks, 0, count),
          receive((shape.rank + shape.ranks - 1) % shape.ranks, 0, count)};
}

Transfers ping_pong(std::uint64_t count, const CallContext& shape) {
  const auto peer = ping_pong_peer(shape.rank, shape.ranks);
  if (!peer) return {};
  Transfers all{send(*peer, 0, count), receive(*peer, 0, count)};
  if (shape.rank != 0) std::swap(all[0], all[1]);
  return all;
}

Transfers gather(std::uint64_t count, const CallContext& shape) {
  Transfers all{send(shape.root, 0, count)};
  if (shape.rank != shape.root) return all;
  for (int peer = 0; peer < shape.ranks; ++peer) all.push_back(receive(peer, block_at(peer, count), count));
  return all;
}

Transfers scatter(std::uint64_t count, const CallContext& shape) {
  Transfers all;
  if (shape.rank == shape.root) {
    for (int peer = 0; peer < shape.ranks; ++peer) all.push_back(send(peer, block_at(peer, count), count));
  }
  all.push_back(receive(shape.root, 0, count));
  return all;
}

Transfers all_transfers(const RowKey& key, const CallContext& shape) {
  switch (key.operation) {
    case OperationId::all_to_all:
      return all_to_all(key.count, shape);
    case OperationId::all_to_all_v:
      return all_to_all_v(key.count, shape);
    case OperationId::send_recv:
      return send_recv(key.count, shape);
    case OperationId::ping_pong:
      return ping_pong(key.count, shape);
    case OperationId::gather:
      return gather(key.count, shape);
    case OperationId::scatter:
      return scatter(key.count, shape);
    default:
      return {};
  }
}

}  // namespace

std::vector<P2pOp> p2p_schedule(const RowKey& key, const CallContext& shape) {
  Transfers all = all_transfers(key, shape);
  std::erase_if(all, [](const P2pOp& each) { return each.count == 0; });
  return all;
}

}  // namespace collbench::collectives
