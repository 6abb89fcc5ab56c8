#pragma once
#include <string>
#include <vector>

namespace collbench {

struct Identity {
  int rank = 0;
  std::string host;    ///< MPI_Get_processor_name
  int node = 0;        ///< index of the host among the run's hosts, in order of their lowest rank
  int local_rank = 0;  ///< index of the rank among those of its node

  bool operator==(const Identity&) const = default;
};

/// All ranks, by rank.
using Identities = std::vector<Identity>;

[[nodiscard]] int node_count(const Identities& identities);

[[nodiscard]] std::vector<int> ranks_per_node(const Identities& identities);

/// Whether ranks of some node take turns on its cores: there are more of them. No where nobody knows.
[[nodiscard]] bool ranks_take_turns(const Identities& identities, const std::vector<int>& cores_per_node);

}  // namespace collbench
