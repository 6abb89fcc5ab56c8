#pragma once
#include <cstdint>
#include <optional>

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "base/record/nccl_algorithm.hpp"
#include "base/record/operation.hpp"

namespace collbench::analysis {

// NCCL's own cost model, restated: what it expects of each algorithm and protocol before it picks the
// cheapest. Source: NCCL 2.30.7, src/graph/tuning.cc (the tables and ncclTopoTuneModel, ncclTopoGetAlgoTime);
// for ring and tree the same from 2.23 on. It is a model of NCCL's authors, not a measurement, and none of
// ours.

/// The result of NCCL's search for channels, as it logs it. Rates are GB/s (1e9 bytes) of one channel.
struct NcclGraph {
  int channels = 0;
  double within_node = 0;
  double across_nodes = 0;
  bool nvlink = false;              ///< the ranks of a node meet over NVLink, or else over PCIe
  double network_microseconds = 0;  ///< latency that the network plugin claims
};

/// Of GPUs that meet over NVLink.
[[nodiscard]] NcclGraph graph_of(const ChannelPlan& plan);

/// What the model looks at beside the graph.
struct NcclJob {
  int ranks = 1;
  int nodes = 1;
  GpuGeneration generation = GpuGeneration::hopper;  ///< the oldest of all GPUs
  bool amd_cpu = false;                              ///< AMD, or a mixture; else Intel and all others
  int collective_channels =
      0;                    ///< channels of the communicator, which is up to twice or four times the graph's
  bool plain_tree = false;  ///< some node's tree is a chain of one branch (NCCL_TOPO_PATTERN_TREE)
};

/// One entry of NCCL's table.
struct NcclCost {
  double latency_microseconds = 0;
  double gigabytes_per_second = 0;  ///< S / time without latency, as the column algbw
};

/// NCCL's entry for AllReduce, AllGather or ReduceScatter; none where NCCL has no such combination, and for
/// other operations, which it does not choose by this table.
[[nodiscard]] std::optional<NcclCost> nccl_cost(OperationId operation, NcclAlgorithm algorithm,
                                                NcclProtocol protocol, const NcclJob& job,
                                                const NcclGraph& graph);

/// Seconds that NCCL expects of `size_bytes` (S of the size column); none as nccl_cost.
[[nodiscard]] std::optional<double> nccl_seconds(OperationId operation, NcclAlgorithm algorithm,
                                                 NcclProtocol protocol, const NcclJob& job,
                                                 const NcclGraph& graph, std::uint64_t size_bytes);

/// The channels that NCCL's search finds on these machines, and the job on them: between nodes those of the
/// plan (planned_node.hpp), within one node and where no plan is known those of the shorter search below.
/// None where the GPUs do not meet in NVSwitches, NVLink connects several nodes, or, without a plan, NICs
/// have different rates: there the search depends on more than we know.
///
/// Source: NCCL 2.30.7, src/graph/search.cc (the speeds that it tries, from high to low; channels are doubled
/// afterwards at half the speed), topo.h (NVLink's speed), connect.cc (channels of a communicator). The
/// shorter search: channels share the GPU's NVLinks, and across nodes there is one for each NIC. Trees across
/// nodes: NCCL balances one over two GPUs that are next to a NIC; from Hopper on, where no NIC has two, it
/// takes a plain one (ncclTopoCompute, "Try a simpler tree"), and then looks for more rate within the node
/// ("increase bwIntra for trees"). How near all of it comes to the library: docs/notes/nccl-column.md.
struct NcclSetup {
  NcclJob job;
  NcclGraph graph;  ///< of rings
  NcclGraph tree;
  NcclGraph nvls;  ///< without channels where NCCL has none, or its search is not known

  [[nodiscard]] const NcclGraph& channels_of(NcclAlgorithm algorithm) const;
};
[[nodiscard]] std::optional<NcclSetup> nccl_setup(const GpuCluster& cluster);

/// What NCCL picks by its own cost table, and what it expects of it.
struct NcclChoice {
  NcclAlgorithm algorithm = NcclAlgorithm::ring;
  NcclProtocol protocol = NcclProtocol::simple;
  double seconds = 0;
};

/// The cheapest of all algorithms whose channels nccl_setup knows; none as nccl_setup and nccl_cost, and for
/// several nodes without a plan (planned_node.hpp: with ranks on some GPUs only, or an unknown PCI tree).
[[nodiscard]] std::optional<NcclChoice> nccl_choice(OperationId operation, std::uint64_t size_bytes,
                                                    const GpuCluster& cluster);

}  // namespace collbench::analysis
