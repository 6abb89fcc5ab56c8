#pragma once
#include "analysis/models/fabric/fabric.hpp"

namespace collbench::analysis {

/// What all groups of a job send out of the fullest leaf switch at once: in NICs' rates, of each NIC of a
/// node.
struct LeafLoad {
  double ring = 0;      ///< by rings and trees: hops to a node below another leaf
  double exchange = 0;  ///< by exchanges between all ranks of a group
  double domains = 0;   ///< nodes of the job below the leaf

  bool operator==(const LeafLoad&) const = default;
};

/// The part of a NIC's rate that each hop of the groups' rings gets, as neighbor_share() has it of a cluster
/// that has the leaves alone. `nics` of a node.
[[nodiscard]] double neighbor_share(const Fabric& fabric, const LeafLoad& load, int nics);

/// The same of their exchanges, as exchange_share(): `peers` of each rank are below other leaves.
[[nodiscard]] double exchange_share(const Fabric& fabric, const LeafLoad& load, int nics, double peers);

}  // namespace collbench::analysis
