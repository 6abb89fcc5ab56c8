#include "collectives/nccl/nccl_row.hpp"

namespace collbench::collectives {
namespace {

using Transfers = std::vector<P2pOp>;

P2pOp send(int peer, std::uint64_t offset, std::uint64_t count) { return {true, peer, offset, count}; }
P2pOp receive(int peer, std::uint64_t offset, std::uint64_t count) { return {false, peer, offset, count}; }

std::uint64_t block_at(int rank, std::uint64_t count) { return static_cast<std::uint64_t>(rank) * count; }

Transfers all_to_all(std::uint64_t count, const CallContext& call) {
  Transfers all;
  for (int peer = 0; peer < call.ranks; ++peer) {
    all.push_back(send(peer, block_at(peer, count), count));
    all.push_back(receive(peer, block_at(peer, count), count));
  }
  return all;
}

Transfers all_to_all_v(std::uint64_t count, const CallContext& call) {
  const Exchanges each = exchanges(count, call);
  Transfers all;
  for (int peer = 0; peer < call.ranks; ++peer) {
    const auto at = static_cast<std::size_t>(peer);
    all.push_back(send(peer, each.sent_from[at], each.sent[at]));
    all.push_back(receive(peer, each.received_at[at], each.received[at]));
  }
  return all;
}

Transfers send_recv(std::uint64_t count, const CallContext& call) {
  return {send((call.rank + 1) % call.ranks, 0, count),
          receive((call.rank + call.ranks - 1) % call.ranks, 0, count)};
}

Transfers ping_pong(std::uint64_t count, const CallContext& call) {
  const auto peer = ping_pong_peer(call.rank, call.ranks);
  if (!peer) return {};
  Transfers all{send(*peer, 0, count), receive(*peer, 0, count)};
  if (call.rank != 0) std::swap(all[0], all[1]);
  return all;
}

Transfers gather(std::uint64_t count, const CallContext& call) {
  Transfers all{send(call.root, 0, count)};
  if (call.rank != call.root) return all;
  for (int peer = 0; peer < call.ranks; ++peer) all.push_back(receive(peer, block_at(peer, count), count));
  return all;
}

Transfers scatter(std::uint64_t count, const CallContext& call) {
  Transfers all;
  if (call.rank == call.root) {
    for (int peer = 0; peer < call.ranks; ++peer) all.push_back(send(peer, block_at(peer, count), count));
  }
  all.push_back(receive(call.root, 0, count));
  return all;
}

Transfers all_transfers(const RowKey& key, const CallContext& call) {
  switch (key.operation) {
    case OperationId::all_to_all:
      return all_to_all(key.count, call);
    case OperationId::all_to_all_v:
      return all_to_all_v(key.count, call);
    case OperationId::send_recv:
      return send_recv(key.count, call);
    case OperationId::ping_pong:
      return ping_pong(key.count, call);
    case OperationId::gather:
      return gather(key.count, call);
    case OperationId::scatter:
      return scatter(key.count, call);
    case OperationId::all_reduce:
    case OperationId::all_gather:
    case OperationId::reduce_scatter:
    case OperationId::broadcast:
    case OperationId::reduce:
    case OperationId::step:
    case OperationId::hypercube:
      return {};
  }
  return {};
}

}  // namespace

std::vector<P2pOp> p2p_schedule(const RowKey& key, const CallContext& call) {
  Transfers all = all_transfers(key, call);
  std::erase_if(all, [](const P2pOp& each) { return each.count == 0; });
  return all;
}

}  // namespace collbench::collectives
