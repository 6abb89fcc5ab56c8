#pragma once
#include <string_view>

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "base/record/operation.hpp"

namespace collbench::analysis {

/// Machines whose healthy runs lie about as far from the model.
enum class BandClass {
  nvlink,       ///< one NVLink domain of at most 8 GPUs
  nvlink_rack,  ///< NVLink domains of more, one or several
  rdma,         ///< InfiniBand or RoCE between at most 8 domains
  many_nodes,   ///< between more
  efa,
  tcpx,           ///< and TCPXO
  plugin,         ///< another provider's plugin, or not known
  exchange,       ///< AllToAll, SendRecv and their like across domains, over whatever
  pcie_switches,  ///< GPUs without NVLink, below PCIe switches
  pcie_host,      ///< the same through the CPUs
  sockets,        ///< and RDMA without GPUDirect
};

/// In which nine in ten rows of a healthy run are expected: from `low` × the slowest algorithm that may run
/// to `high` × the best one, as busbw.
struct Band {
  double low = 0;
  double high = 0;
  int machines = 0;  ///< of this class that it is from; 0: from wider classes only

  bool operator==(const Band&) const = default;
};

/// NVLink domains of the largest healthy run that a class is from: beyond them its band is a guess.
[[nodiscard]] int max_domains(BandClass band_class);

/// By what carries the data between nodes alone.
[[nodiscard]] BandClass network_class(const GpuCluster& cluster);

/// The size by which a row's class is taken: from 64 ranks on as if there were so many.
[[nodiscard]] double bytes_of_class(double bytes, int ranks);

[[nodiscard]] BandClass band_class(OperationId id, const GpuCluster& cluster);

/// "NVLink with RDMA between nodes".
[[nodiscard]] std::string_view name(BandClass band_class);

/// By the size of a row; from 64 ranks on as if there were so many, for what each rank sends matters.
/// Calibrated over published logs, each machine left out in turn (docs/model.md).
[[nodiscard]] const Band& band(BandClass band_class, double bytes, int ranks);

}  // namespace collbench::analysis
