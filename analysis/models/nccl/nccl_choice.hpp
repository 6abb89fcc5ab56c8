#pragma once
#include <cstdint>
#include <optional>

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "analysis/models/nccl/nccl_cost.hpp"
#include "base/record/operation.hpp"

namespace collbench::analysis {

/// The channels that NCCL's search should find on these machines, and the job on them. None where its GPUs do
/// not meet in NVSwitches, or NVLink connects several nodes: there the search depends on more than we know.
///
/// Source: NCCL 2.30.7, src/graph/search.cc (the speeds that it tries, from high to low; channels are doubled
/// afterwards at half the speed), topo.h (NVLink's speed), connect.cc (channels of a communicator). The
/// search itself is not restated: channels share the GPU's NVLinks, and across nodes there is one for each
/// NIC.
struct NcclSetup {
  NcclJob job;
  NcclGraph graph;
};
[[nodiscard]] std::optional<NcclSetup> nccl_setup(const GpuCluster& cluster);

/// What NCCL picks by its own cost table, and what it expects of it.
struct NcclChoice {
  NcclAlgorithm algorithm = NcclAlgorithm::ring;
  NcclProtocol protocol = NcclProtocol::simple;
  double seconds = 0;
};

/// The cheapest of ring and tree, whose channels nccl_setup knows; none as nccl_setup and nccl_cost.
[[nodiscard]] std::optional<NcclChoice> nccl_choice(OperationId operation, std::uint64_t size_bytes,
                                                    const GpuCluster& cluster);

}  // namespace collbench::analysis
