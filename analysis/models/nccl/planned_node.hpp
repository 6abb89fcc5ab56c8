#pragma once
#include <optional>
#include <vector>

#include "analysis/models/nccl/channel_search.hpp"
#include "analysis/models/nccl/gpu_generations.hpp"
#include "analysis/models/nccl/nic_channels.hpp"
#include "topology/graph/topology.hpp"

namespace collbench::analysis {

/// What NCCL's own table expects of a large AllReduce over the channels of a plan, by algorithm: GB/s (1e9
/// bytes) of S / time; 0 where NCCL has no such algorithm. Of rings it is channels × speed × p / (2(p − 1)).
struct PlanRates {
  double ring = 0;
  double tree = 0;
  double nvls = 0;

  bool operator==(const PlanRates&) const = default;
};

/// NCCL 2.30.7 src/graph/tuning.cc, with its Simple protocol (nccl_cost).
[[nodiscard]] PlanRates plan_rates(const NodePlan& plan, GpuGeneration generation, int nodes, int ranks);

/// What NCCL's search finds on a node among several, held against the same devices with equal links: what
/// unequal links cost is the ratio of the two, and the models' own rate is that of equal links.
struct PlannedNode {
  NodePlan plan;                     ///< of this node, or what all nodes agree on where others differ
  PlanRates equal;                   ///< with equal links; of plan see plan_rates
  int missing_nvlinks = 0;           ///< of the GPU that has the fewest, to the one that has most
  int nics = 0;                      ///< that the search reaches with equal links
  std::optional<NicLink> waits_for;  ///< a NIC that is slower than NCCL believes: every channel waits for it

  bool operator==(const PlannedNode&) const = default;
};

/// PCIe links as NCCL reads them when it starts: of a GPU the lanes that it has now, of NICs and switches
/// those that both ends could have (NCCL 2.30.7 src/graph/xml.cc: NVML's current width; max_link_width of
/// sysfs).
[[nodiscard]] topology::Host as_nccl_reads_links(topology::Host host);

/// The same devices with equal links: every NIC of `nics` has the rate and the PCIe link of the best one,
/// every GPU the PCIe link and behind switches the NVLinks of the best one, and bridges above them the link
/// of the best one at their depth.
[[nodiscard]] topology::Host with_equal_links(topology::Host host, const std::vector<int>& nics);

/// The plans of `node`, with the settings, and of `equal`, with NCCL's own ones: the models' rates were
/// fitted to machines that had these. None where the PCI tree is not known. Only the rates and the plan are
/// filled in.
[[nodiscard]] std::optional<PlannedNode> planned_node(const topology::Host& node, const topology::Host& equal,
                                                      const std::vector<int>& nics, int nodes,
                                                      const NcclSettings& settings);

struct GpuCluster;

/// The cluster's plan where it decides what leaves a node: ranks on all GPUs, several nodes, no rack.
[[nodiscard]] const PlannedNode* plan_of(const GpuCluster& cluster);

/// The cluster with equal links and no NIC missing: a whole machine has 1, 2, 4, 8, … NICs.
[[nodiscard]] GpuCluster with_whole_nodes(const GpuCluster& cluster);

/// The parts of with_whole_nodes' rates that the plan leaves; 1 each where nothing is missing or unequal. A
/// channel that is gone makes no other one faster.
[[nodiscard]] PlanRates parts_of_whole_nodes(const GpuCluster& cluster);

}  // namespace collbench::analysis
