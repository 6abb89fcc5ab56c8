#include "analysis/models/nccl/bands.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "analysis/models/nccl/algorithms.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

using BySize = std::array<Band, 4>;  // ≥ 1 GiB, ≥ 64 MiB, ≥ 64 KiB, below

// In the order of BandClass. Written by scripts/bands.py from the logs and tables that docs/accuracy.md
// names.
// clang-format off
constexpr std::array<BySize, 11> kBands{{
    {{{0.89, 1.03, 0.84, 6}, {0.76, 1.08, 0.68, 3}, {0.51, 1.26, 0.38, 3}, {0.53, 1.22, 0.39, 2}}},  // nvlink
    {{{0.72, 1.13, 0.52, 1}, {0.58, 1.12, 0.46, 1}, {0.55, 1.57, 0.37, 0}, {0.67, 1.18, 0.55, 0}}},  // nvlink_rack
    {{{0.86, 1.04, 0.78, 10}, {0.79, 1.05, 0.72, 4}, {0.49, 1.19, 0.37, 4}, {0.33, 1.00, 0.21, 3}}},  // rdma
    {{{0.61, 1.07, 0.46, 4}, {0.53, 1.01, 0.41, 1}, {0.55, 1.57, 0.37, 0}, {0.67, 1.18, 0.55, 0}}},  // many_nodes
    {{{0.69, 1.07, 0.45, 3}, {0.58, 1.05, 0.41, 2}, {0.70, 1.40, 0.57, 2}, {0.82, 1.13, 0.75, 2}}},  // efa
    {{{0.73, 1.09, 0.53, 1}, {0.69, 1.21, 0.54, 1}, {0.72, 1.63, 0.55, 1}, {0.84, 1.20, 0.75, 1}}},  // tcpx
    {{{0.65, 1.01, 0.47, 1}, {0.63, 1.04, 0.50, 1}, {0.66, 1.54, 0.49, 0}, {0.79, 1.17, 0.68, 0}}},  // plugin
    {{{0.32, 1.03, 0.20, 4}, {0.32, 1.03, 0.20, 4}, {0.33, 1.80, 0.16, 0}, {0.23, 2.04, 0.08, 0}}},  // exchange
    {{{0.43, 1.36, 0.25, 0}, {0.52, 1.19, 0.39, 0}, {0.24, 2.92, 0.10, 0}, {0.17, 2.66, 0.05, 0}}},  // pcie_switches
    {{{0.44, 1.33, 0.27, 2}, {0.51, 1.19, 0.42, 2}, {0.25, 3.29, 0.12, 2}, {0.17, 2.81, 0.05, 2}}},  // pcie_host
    {{{0.10, 1.10, 0.10, 0}, {0.10, 1.10, 0.10, 0}, {0.10, 1.57, 0.10, 0}, {0.10, 1.18, 0.10, 0}}},  // sockets
}};
// clang-format on

// Published runs of three clusters agree within 4 % up to 8 nodes and fan out from 16 on (docs/accuracy.md).
constexpr int kManyDomains = 8;
constexpr double kFullRanks = 64;

/// What the run is to be held against: where its log shows a slower way than the NICs are made for, they
/// count, for that is what is wrong with it.
Transport judged_transport(const GpuCluster& cluster) {
  const bool fell_back = traits(cluster.transport).slower_than_nics &&
                         cluster.run.logged == cluster.transport &&
                         cluster.nic_transport != Transport::unknown;
  return fell_back ? cluster.nic_transport : cluster.transport;
}

BandClass class_of(Transport transport, int domains) {
  switch (transport) {
    case Transport::infiniband:
    case Transport::roce:
      return domains > kManyDomains ? BandClass::many_nodes : BandClass::rdma;
    case Transport::efa_rdma:
    case Transport::efa_send_recv:
      return domains > kManyDomains ? BandClass::many_nodes : BandClass::efa;
    case Transport::tcpx:
    case Transport::tcpxo:
      return domains > kManyDomains ? BandClass::many_nodes : BandClass::tcpx;
    case Transport::staged:
    case Transport::sockets:
      return BandClass::sockets;
    case Transport::unknown:
    case Transport::plugin:
      return BandClass::plugin;
  }
  return BandClass::plugin;
}

}  // namespace

BandClass band_class(OperationId id, const GpuCluster& cluster) {
  const Transport transport = judged_transport(cluster);
  if (cluster.domains() > 1 && traits(transport).slower_than_nics) return BandClass::sockets;
  if (cluster.domains() > 1 && by_sends_and_receives(id)) return BandClass::exchange;
  if (cluster.nvlinks == 0 && cluster.ranks_per_domain() > 1) {
    return cluster.host_path_is_switched ? BandClass::pcie_switches : BandClass::pcie_host;
  }
  if (cluster.nvlink_rack()) return BandClass::nvlink_rack;
  return cluster.domains() == 1 ? BandClass::nvlink : class_of(transport, cluster.domains());
}

std::string_view name(BandClass band_class) {
  switch (band_class) {
    case BandClass::nvlink:
      return "NVLink within a node";
    case BandClass::nvlink_rack:
      return "NVLink beyond 8 GPUs";
    case BandClass::rdma:
      return "RDMA between nodes";
    case BandClass::many_nodes:
      return "more than 8 nodes";
    case BandClass::efa:
      return "EFA";
    case BandClass::tcpx:
      return "TCPX and TCPXO";
    case BandClass::plugin:
      return "other networks";
    case BandClass::exchange:
      return "sends and receives across nodes";
    case BandClass::pcie_switches:
      return "PCIe switches, no NVLink";
    case BandClass::pcie_host:
      return "PCIe through the CPUs, no NVLink";
    case BandClass::sockets:
      return "sockets, or no GPUDirect";
  }
  return {};
}

const Band& band(BandClass band_class, double bytes, int ranks) {
  bytes *= std::min(1.0, kFullRanks / ranks);
  const std::size_t size = bytes >= static_cast<double>(kGiB)        ? 0
                           : bytes >= 64 * static_cast<double>(kMiB) ? 1
                           : bytes >= 64 * static_cast<double>(kKiB) ? 2
                                                                     : 3;
  return kBands.at(static_cast<std::size_t>(band_class)).at(size);
}

}  // namespace collbench::analysis
