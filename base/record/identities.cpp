#include "base/record/identities.hpp"

#include <algorithm>
#include <cstddef>

namespace collbench {

int node_count(const Identities& identities) {
  int count = 0;
  for (const Identity& identity : identities) count = std::max(count, identity.node + 1);
  return count;
}

std::vector<int> ranks_per_node(const Identities& identities) {
  std::vector<int> ranks(static_cast<std::size_t>(node_count(identities)), 0);
  for (const Identity& identity : identities) ++ranks.at(static_cast<std::size_t>(identity.node));
  return ranks;
}

bool ranks_take_turns(const Identities& identities, const std::vector<int>& cores_per_node) {
  const std::vector<int> ranks = ranks_per_node(identities);
  for (std::size_t node = 0; node < std::min(ranks.size(), cores_per_node.size()); ++node) {
    if (ranks[node] > cores_per_node[node]) return true;
  }
  return false;
}

}  // namespace collbench
