#include "analysis/models/nccl/bands.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "analysis/models/nccl/algorithms.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

using BySize = std::array<Band, 4>;  // ≥ 1 GiB, ≥ 64 MiB, ≥ 64 KiB, below

// In the order of BandClass. Written by research/bands.py from the logs and tables that
// docs/notes/accuracy.md names.
// clang-format off
constexpr std::array<BySize, 11> kBands{{
    {{{0.91, 1.02, 6}, {0.71, 1.14, 3}, {0.41, 1.39, 3}, {0.59, 1.14, 2}}},  // nvlink
    {{{0.58, 1.27, 1}, {0.49, 1.22, 1}, {0.70, 1.29, 0}, {0.68, 1.17, 0}}},  // nvlink_rack
    {{{0.84, 1.07, 10}, {0.75, 1.12, 4}, {0.36, 1.51, 4}, {0.19, 1.42, 3}}},  // rdma
    {{{0.59, 1.10, 4}, {0.44, 1.12, 1}, {0.70, 1.29, 0}, {0.68, 1.17, 0}}},  // many_nodes
    {{{0.62, 1.11, 3}, {0.52, 1.09, 2}, {0.79, 1.22, 2}, {0.82, 1.13, 2}}},  // efa
    {{{0.57, 1.21, 1}, {0.58, 1.34, 1}, {0.80, 1.45, 1}, {0.80, 1.24, 1}}},  // tcpx
    {{{0.51, 1.13, 1}, {0.53, 1.14, 1}, {0.78, 1.29, 0}, {0.79, 1.16, 0}}},  // plugin
    {{{0.31, 1.45, 4}, {0.31, 1.45, 4}, {0.40, 1.61, 0}, {0.32, 1.57, 0}}},  // exchange
    {{{0.56, 1.24, 0}, {0.53, 1.18, 0}, {0.31, 2.23, 0}, {0.32, 1.59, 0}}},  // pcie_switches
    {{{0.54, 1.24, 2}, {0.52, 1.18, 2}, {0.31, 2.42, 2}, {0.30, 1.64, 2}}},  // pcie_host
    {{{0.10, 1.10, 0}, {0.10, 1.10, 0}, {0.10, 1.29, 0}, {0.10, 1.17, 0}}},  // sockets
}};
// clang-format on

// Published runs of three clusters agree within 4 % up to 8 nodes and fan out from 16 on
// (docs/notes/accuracy.md).
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

BandClass network_class(const GpuCluster& cluster) {
  return class_of(judged_transport(cluster), cluster.domains());
}

double bytes_of_class(double bytes, int ranks) { return bytes * std::min(1.0, kFullRanks / ranks); }

BandClass band_class(OperationId id, const GpuCluster& cluster) {
  const Transport transport = judged_transport(cluster);
  if (cluster.domains() > 1 && traits(transport).slower_than_nics) return BandClass::sockets;
  if (cluster.domains() > 1 && by_sends_and_receives(id)) return BandClass::exchange;
  if (cluster.nvlinks == 0 && cluster.ranks_per_domain() > 1) {
    return cluster.host_path_is_switched ? BandClass::pcie_switches : BandClass::pcie_host;
  }
  if (cluster.nvlink_rack()) return BandClass::nvlink_rack;
  return cluster.domains() == 1 ? BandClass::nvlink : network_class(cluster);
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
  bytes = bytes_of_class(bytes, ranks);
  const std::size_t size = bytes >= static_cast<double>(kGiB)        ? 0
                           : bytes >= 64 * static_cast<double>(kMiB) ? 1
                           : bytes >= 64 * static_cast<double>(kKiB) ? 2
                                                                     : 3;
  return kBands.at(static_cast<std::size_t>(band_class)).at(size);
}

}  // namespace collbench::analysis
