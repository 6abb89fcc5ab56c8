#pragma once
#include <cstdint>
#include <vector>

#include "base/record/measurement.hpp"
#include "collectives/operations.hpp"

namespace collbench::collectives {

/// One ncclSend or ncclRecv of this rank. Elements, from the beginning of the send or receive buffer.
struct P2pOp {
  bool sends = false;
  int peer = 0;
  std::uint64_t offset = 0;
  std::uint64_t count = 0;

  bool operator==(const P2pOp&) const = default;
};

/// What this rank sends and receives in an operation that NCCL has no call of its own for in every version:
/// AllToAll, AllToAllv, SendRecv, PingPong, Gather, Scatter. In the order of the calls; nothing of length 0.
[[nodiscard]] std::vector<P2pOp> p2p_schedule(const RowKey& key, const CallContext& call);

}  // namespace collbench::collectives
