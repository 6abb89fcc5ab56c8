#pragma once
#include <string>
#include <string_view>

namespace collbench::analysis {

enum class FabricKind {
  unstated,
  rail_optimized,  ///< NIC r of the nodes of a group meets in one leaf switch; spines join the leaves
  fat_tree,        ///< all NICs of a node end in one leaf switch
  rail_only,       ///< no switch joins the rails
};

enum class Routing {
  adaptive,  ///< packet by packet, or spraying: the uplinks share the load evenly
  fixed,     ///< a path for each destination (InfiniBand without adaptive routing)
  ecmp,      ///< a path for each flow, by its hash
};

/// What lies between the nodes. Without one every NIC has its rate, whoever the peer is.
struct Fabric {
  FabricKind kind = FabricKind::unstated;
  int leaf_nodes = 0;           ///< nodes below one leaf switch; 0: not told, as leaf_nodes() assumes
  double oversubscription = 1;  ///< rate below a leaf over that of its uplinks
  Routing routing = Routing::adaptive;
  int flows = 1;        ///< ecmp: equal flows (queue pairs) of one NIC that are hashed each
  bool ordered = true;  ///< ranks follow the leaf switches
  bool sharp = false;   ///< the switches reduce, and NCCL's CollNet plugin is there

  bool operator==(const Fabric&) const = default;
};

/// "rail-optimized", "fat-tree,leaf=32,oversubscription=2,routing=ecmp,flows=4,placement=random,sharp".
/// Throws Error (usage), naming `option`, for a word or a number that it does not know, for one that is told
/// twice, and for an empty text.
[[nodiscard]] Fabric parse_fabric(std::string_view text, const std::string& option);

/// The same for people: "fat tree, 32 nodes a leaf switch, 2:1 oversubscribed, ECMP with 4 flows a NIC, …".
[[nodiscard]] std::string words(const Fabric& fabric);

/// Nodes below one leaf switch. Where it is not told, 32 ports lead down, half of a switch of 64 (NVIDIA
/// QM9700, 64 × 400 Gb/s): 32 nodes of a rail, or as many nodes as have 32 NICs. `nics` of a node.
[[nodiscard]] int leaf_nodes(const Fabric& fabric, int nics);

/// The part of a link's rate that the flows on the fullest of `links` equal links get, where `flows` flows of
/// that rate, in `parts` equal parts each, are spread over the links by chance: 1 over the expected largest
/// load (balls into bins, each bin a Poisson variable of the same mean). At most 1.
[[nodiscard]] double slowest_hashed_share(double flows, double links, int parts);

/// The part of a NIC's rate that each hop of a ring or tree over `nodes` nodes gets; `nics` of a node. In the
/// order of the leaves one flow leaves each leaf for each NIC of a node; by chance (N − L)/(N − 1) of all do.
/// Trees cross leaves about as often as rings in the same order; nothing else is assumed of them.
[[nodiscard]] double neighbor_share(const Fabric& fabric, int nodes, int nics);

/// The same of an exchange between all ranks, of which (N − L)/(N − 1) leaves the leaf. `pxn`: NVLink brings
/// data to the GPU beside the peer's rail first (NCCL's PXN), so that nothing crosses the rails; without it
/// (g − 1)/g of what would stay below a rail's leaf leaves it as well.
[[nodiscard]] double exchange_share(const Fabric& fabric, int nodes, int nics, int ranks_per_node, bool pxn);

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
