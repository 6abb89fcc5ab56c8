#pragma once
#include <functional>

#include "base/record/identities.hpp"
#include "launch/ranks.hpp"
#include "topology/cluster/cluster_topology.hpp"

namespace collbench::program {

/// All machines of the run, on rank 0 (the others get an empty cluster). Collective. The first rank of each
/// node calls `look` once, all at the same time, and sends one message: its graph when no lower rank has a
/// machine of that shape, else its identities only. So what travels grows with the number of different nodes.
/// `machines` are the nodes that there really are, whatever --node-map says. An Error of `look` is thrown on
/// all ranks.
[[nodiscard]] topology::ClusterTopology gather_cluster(launch::Ranks& ranks, const Identities& machines,
                                                       const std::function<topology::Host()>& look);

}  // namespace collbench::program
