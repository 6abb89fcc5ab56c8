#pragma once
#include <optional>
#include <string_view>

#include "analysis/models/nccl/gpu_generations.hpp"
#include "topology/graph/topology.hpp"

namespace collbench::analysis {

/// What carries NCCL's bytes between nodes.
enum class Transport {
  unknown,
  infiniband,     ///< verbs, GPUDirect RDMA
  roce,           ///< verbs over Ethernet, GPUDirect RDMA
  efa_rdma,       ///< AWS EFA, RDMA protocol of aws-ofi-nccl
  efa_send_recv,  ///< AWS EFA, its older send/receive protocol (p4d, p4de)
  tcpx,           ///< Google GPUDirect-TCPX
  tcpxo,          ///< Google GPUDirect-TCPXO (FasTrak)
  plugin,         ///< another provider's plugin
  staged,         ///< verbs without GPUDirect: every byte passes through host memory
  sockets,        ///< TCP, also IP over InfiniBand
};

/// How far a transport reaches, and where the figures come from.
struct TransportTraits {
  Transport id;
  std::string_view name;
  double efficiency;              ///< achieved over line rate, one direction
  double extra_hop_microseconds;  ///< latency of one network hop on top of NCCL's table
  std::string_view source;
  bool slower_than_nics = false;  ///< by how much no source tells: the figures are a ceiling
  bool nccl_sees_nics = true;     ///< false: a plugin may show several NICs as one, or its own
  bool by_libfabric = false;      ///< through aws-ofi-nccl, whose pipelines fill later
};

[[nodiscard]] const TransportTraits& traits(Transport transport);

/// By the names that logs, tables and users give: "ib", "RoCE", "EFA", "TCPXO", "sockets", … EFA is the send/
/// receive protocol before compute capability 9.0 and RDMA from there on. None for any other word.
[[nodiscard]] std::optional<Transport> find_transport(std::string_view name, GpuGeneration generation);

/// The same for an option: throws Error (usage) that lists the names.
[[nodiscard]] Transport transport_option(std::string_view name, GpuGeneration generation);

/// What the host's fast NICs are made for, by driver, name and link layer; that a run used it, no graph
/// shows.
[[nodiscard]] Transport transport_of(const topology::Host& host, GpuGeneration generation);

}  // namespace collbench::analysis
