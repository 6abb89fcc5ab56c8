#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/models/fabric/fabric.hpp"
#include "analysis/models/nccl/gpu_generations.hpp"
#include "analysis/models/nccl/nic_channels.hpp"
#include "analysis/models/nccl/planned_node.hpp"
#include "analysis/models/nccl/transport.hpp"
#include "topology/graph/topology.hpp"
#include "topology/machines/reference_machines.hpp"
#include "topology/machines/resolve.hpp"

namespace collbench::analysis {

/// What a run tells of itself, or its log, and no topology does. None: not told.
struct GpuRunFacts {
  std::string network;                    ///< "IB with GPUDirect RDMA", between nodes; empty: not told
  Transport logged = Transport::unknown;  ///< what that says, whatever the run is judged as
  bool is_partly_direct = false;          ///< some connections have GPUDirect RDMA, and some have not
  std::optional<std::string> algorithm;   ///< that ran: "ring", "tree", "nvls", "nvls_tree"
  std::optional<std::string>
      protocol;  ///< that ran, or that table_choice comes with: "ll", "ll128", "simple"
  std::optional<std::string> table_choice;  ///< without `algorithm`: what NCCL chooses (nccl_choices.hpp)
  int nccl_version = 0;                     ///< as NCCL_VERSION_CODE: 22809 is 2.28.9; 0: not told
  bool settings_choose = false;             ///< NCCL_ALGO or its like is set: no table knows what ran
  bool no_nvls = false;                     ///< NCCL before 2.17
  bool no_nvls_tree = false;                ///< NCCL before 2.18
  std::string lost_nvls;                    ///< what kept NVLS off a machine that has it; empty: nothing said
  std::optional<int> channels;              ///< of collectives, as NCCL counts them
  std::optional<int> gpus_per_process;      ///< nGpus × nThread of nccl-tests' header
  bool a_thread_per_gpu = false;            ///< of several; else one thread issues for all, or for its share
  std::optional<double> min_nvlinks;        ///< GB/s from a GPU to another over NVLink, as NCCL saw them
  std::optional<double> min_microseconds;   ///< the run's own time of at most 1 KiB

  bool operator==(const GpuRunFacts&) const = default;
};

/// GpuCluster::gpu where the topology tells the generation only.
inline constexpr std::string_view kUnknownGpu = "GPU";

/// The ranks and their links: all that an expectation starts from. Rates are GB/s (1e9 bytes) in one
/// direction. Every node is like the first but for max_channels and planned, one rank has one GPU.
struct GpuCluster {
  std::string machine;  ///< the reference machine that the user named; empty for none
  std::string gpu;      ///< "H100 SXM"
  GpuGeneration generation = GpuGeneration::unknown;
  int nodes = 1;
  int ranks_per_node = 1;
  int nodes_per_domain = 1;  ///< nodes that NVLink connects
  int nvlinks = 0;           ///< of each GPU, to the other ranks; 0: they meet over PCIe
  bool nvswitch = false;
  double host_path = 0;                ///< where NVLink does not connect them: the slowest way to a neighbor
  std::string host_path_name;          ///< "between the sockets"
  bool host_path_is_switched = false;  ///< through PCIe switches only, and no CPU
  int gpus = 0;                        ///< of a node, in use or not
  int near_nics = 0;                   ///< of `nics`: next to the GPUs in use
  int nics = 0;                        ///< of a node, that NCCL can use: the fast ones and the slower
  double nic_line_rate = 0;            ///< of each fast NIC
  double nic_path = 0;                 ///< PCIe of each fast NIC; 0: not known
  std::vector<NicLink> slower_nics;    ///< those of `nics` that are slower than the others
  int max_channels = 0;                ///< that nodes unlike this one found; 0: all nodes are like it
  /// What NCCL's search finds on such a node; none on one node, with ranks on some GPUs only, without NVLink,
  /// and where no PCI tree shows what hangs where.
  std::optional<PlannedNode> planned;
  bool one_gpu_per_nic = false;                  ///< no two GPUs share a NIC's PCIe switch
  int nics_per_gpu = 1;                          ///< fast NICs that a GPU's own sends and receives use
  bool amd_cpu = false;                          ///< some CPU of the node is AMD's
  double gpu_path = 0;                           ///< PCIe of one GPU, on its way to the NICs; 0: not known
  Transport transport = Transport::unknown;      ///< that the run is judged by: the log's, or the NICs'
  Transport nic_transport = Transport::unknown;  ///< what the NICs are made for
  Fabric fabric;                                 ///< between the nodes; by default none is told
  GpuRunFacts run;

  [[nodiscard]] int ranks() const { return nodes * ranks_per_node; }
  /// NVLink domains that the ranks span: what the formulas call nodes.
  [[nodiscard]] int domains() const { return (nodes + nodes_per_domain - 1) / nodes_per_domain; }
  [[nodiscard]] int ranks_per_domain() const {
    return domains() == 1 ? ranks() : nodes_per_domain * ranks_per_node;
  }
  /// NVLink connects more GPUs than those of one board (HGX: 8; DGX-2's two boards had 16 V100).
  [[nodiscard]] bool nvlink_rack() const {
    return nvlinks > 0 && generation >= GpuGeneration::hopper && ranks_per_domain() > 8;
  }
  bool operator==(const GpuCluster&) const = default;
};

/// `nodes` of `host` with `ranks_per_node` ranks each (0: one for each GPU). NICs are those of at least
/// 100 Gb/s, or else the fastest. Throws Error (usage) for a host without GPUs, for more ranks than GPUs, and
/// for several nodes without NICs; `where` names the topology in it. The settings are those of NCCL's search.
[[nodiscard]] GpuCluster gpu_cluster(const topology::Host& host, int nodes, int ranks_per_node,
                                     const std::string& where, const NcclSettings& settings = {});

/// The same of a reference machine, whose transport and NVLink domain are known.
[[nodiscard]] GpuCluster gpu_cluster(const topology::ReferenceMachine& machine, int nodes,
                                     int ranks_per_node);

/// The same of what an argument names: by the type where it is a reference machine, else by its first host.
[[nodiscard]] GpuCluster gpu_cluster(const topology::ResolvedMachine& machine, int nodes, int ranks_per_node);

}  // namespace collbench::analysis
