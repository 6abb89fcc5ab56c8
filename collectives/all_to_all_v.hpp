#pragma once
#include "collectives/collective.hpp"

namespace collbench {

/// What one rank exchanges with each rank, by rank, and where it begins in its buffers. Elements.
struct Exchanges {
  std::vector<std::uint64_t> sent;
  std::vector<std::uint64_t> sent_from;
  std::vector<std::uint64_t> received;
  std::vector<std::uint64_t> received_at;
};

/// What a call of AllToAllv with `count` exchanges.
[[nodiscard]] Exchanges exchanges(std::uint64_t count, const CallShape& shape);

/// Every rank sends each rank as much as the traffic matrix says; what arrives stands in order of the
/// senders. S is the most that one rank sends or receives.
extern const Collective kAllToAllv;

}  // namespace collbench
