#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "base/record/operation.hpp"

namespace collbench::analysis {

/// What NCCL runs, or a model takes it for.
enum class GpuAlgorithm {
  ring,
  tree,
  nvls,
  nvls_tree,
  collnet_direct,  ///< over switches that reduce (SHARP)
  collnet_chain,
  pairwise,   ///< sends and receives between all ranks
  from_root,  ///< a send of the root's to every rank
  to_root,
  send_recv,
};

/// "nvls_tree": as --algo and records have it.
[[nodiscard]] std::string_view name(GpuAlgorithm algorithm);
[[nodiscard]] std::optional<GpuAlgorithm> find_gpu_algorithm(std::string_view name);

/// Whether the NVSwitches reduce, within nodes or in all.
[[nodiscard]] constexpr bool is_nvls(std::optional<GpuAlgorithm> algorithm) {
  return algorithm == GpuAlgorithm::nvls || algorithm == GpuAlgorithm::nvls_tree;
}

[[nodiscard]] constexpr bool is_collnet(GpuAlgorithm algorithm) {
  return algorithm == GpuAlgorithm::collnet_direct || algorithm == GpuAlgorithm::collnet_chain;
}

enum class LimitKind {
  other,  ///< a way through the host, channels of a plan
  nvlink,
  nic,
  pcie,  ///< of GPUs or NICs, where it is slower than they are
};

/// A link and the rate that it gives, GB/s (1e9 bytes) in one direction.
struct LinkLimit {
  std::string name;
  double gigabytes_per_second = 0;
  LimitKind kind = LimitKind::other;

  bool operator==(const LinkLimit&) const = default;
};

[[nodiscard]] const LinkLimit& slower(const LinkLimit& a, const LinkLimit& b);

/// What one GPU sends to the other ranks of its domain: all its NVLinks as copies reach them, else the
/// slowest way through the host.
[[nodiscard]] LinkLimit gpu_link(const GpuCluster& cluster);

/// NICs of a node that NCCL uses from the GPUs in use.
[[nodiscard]] int used_nic_count(const GpuCluster& cluster);

/// Nodes of the smallest domain that the ranks fill.
[[nodiscard]] int domain_node_count(const GpuCluster& cluster);

/// NICs of the smallest domain that the ranks fill: what leaves it is the narrowest edge.
[[nodiscard]] int domain_nic_count(const GpuCluster& cluster);

/// "node", or "domain" where NVLink connects several nodes.
[[nodiscard]] std::string_view domain_name(const GpuCluster& cluster);

/// What leaves one domain through the channels of rings and trees: channels × the least that one of them gets
/// of its NIC, min(line rate × the transport's efficiency, PCIe) over the channels that share it
/// (nic_channels). Of equal NICs that is their number × one.
[[nodiscard]] LinkLimit domain_nics(const GpuCluster& cluster);

/// A link of whole nodes (planned_node.hpp), of which a plan's channels leave a part.
[[nodiscard]] LinkLimit limit_of_plan(LinkLimit whole, double part, const ChannelPlan& plan);

/// `nics` of which something leaves `share`, which its name then says.
[[nodiscard]] LinkLimit with_share(LinkLimit nics, double share);

/// `fabric` between the domains of the cluster; Fabric{}: nothing is told, and nothing changes. Throws Error
/// (usage), naming `option`, where there is one domain only: a fabric has no part in it.
void join_domains(GpuCluster& cluster, const Fabric& fabric, const std::string& option);

/// The fabric between the domains: of racks a leaf has as many as their nodes are.
[[nodiscard]] Fabric fabric_of_domains(const GpuCluster& cluster);

/// All NICs of the highest rate, whatever lies between the nodes.
[[nodiscard]] LinkLimit nics_below_fabric(const GpuCluster& cluster);

/// What leaves one domain by NVLS and by sends and receives to a neighbor, which use the NICs of the highest
/// rate only.
[[nodiscard]] LinkLimit domain_fast_nics(const GpuCluster& cluster);

/// What one flow between two domains gets: one NIC of the highest rate.
[[nodiscard]] LinkLimit one_nic(const GpuCluster& cluster);

/// The NICs that a GPU's own sends and receives to other nodes use: those next to it.
[[nodiscard]] LinkLimit own_nics(const GpuCluster& cluster);

/// The NICs that a root's sends to all ranks of other nodes use: those next to any rank of its node, or its
/// own where no NVLink leads to the others.
[[nodiscard]] LinkLimit scatter_nics(const GpuCluster& cluster);

/// What a measured rate means for the links, GB/s in one direction; none where no byte takes such a link.
struct LinkLoads {
  std::optional<double> nic;     ///< each NIC of a domain
  std::optional<double> nvlink;  ///< each NVLink of a GPU

  bool operator==(const LinkLoads&) const = default;
};

/// The loads while `algorithm` runs at `algbw` GB/s of S. A wire carries the
/// bytes that the algorithm sends, which busbw is for the ring only (NVIDIA/nccl-tests issue 164).
[[nodiscard]] LinkLoads link_loads(const Operation& operation, const GpuCluster& cluster,
                                   GpuAlgorithm algorithm, double algbw);

}  // namespace collbench::analysis
