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
    {{{0.91, 1.02, 7}, {0.73, 1.19, 4}, {0.37, 1.73, 4}, {0.76, 1.27, 3}}},  // nvlink
    {{{0.59, 1.29, 1}, {0.47, 1.39, 1}, {0.51, 1.50, 0}, {0.74, 1.25, 0}}},  // nvlink_rack
    {{{0.83, 1.07, 10}, {0.77, 1.14, 4}, {0.37, 1.60, 4}, {0.35, 1.62, 3}}},  // rdma
    {{{0.61, 1.11, 4}, {0.58, 1.28, 0}, {0.51, 1.50, 0}, {0.74, 1.25, 0}}},  // many_nodes
    {{{0.62, 1.14, 3}, {0.44, 1.25, 2}, {0.62, 1.42, 2}, {0.83, 1.15, 2}}},  // efa
    {{{0.59, 1.24, 1}, {0.52, 1.42, 1}, {0.55, 1.51, 1}, {0.82, 1.23, 1}}},  // tcpx
    {{{0.63, 1.21, 2}, {0.58, 1.56, 2}, {0.48, 1.59, 1}, {0.83, 1.28, 1}}},  // plugin
    {{{0.31, 1.42, 4}, {0.31, 1.42, 4}, {0.40, 1.70, 0}, {0.47, 1.54, 0}}},  // exchange
    {{{0.56, 1.24, 0}, {0.55, 1.19, 0}, {0.31, 2.29, 0}, {0.36, 1.61, 0}}},  // pcie_switches
    {{{0.54, 1.24, 2}, {0.54, 1.18, 2}, {0.31, 2.50, 2}, {0.32, 1.66, 2}}},  // pcie_host
    {{{0.10, 1.12, 0}, {0.10, 1.28, 0}, {0.10, 1.50, 0}, {0.10, 1.25, 0}}},  // sockets
}};
// clang-format on

// Published runs of three clusters agree within 4 % up to 8 nodes and fan out from 16 on
// (docs/notes/accuracy.md).
constexpr int kManyDomains = 8;
constexpr double kFullRanks = 64;
// Of the tables and logs of docs/notes/accuracy.md: 20 racks (coreweave), 64 nodes of InfiniBand, 540 of
// Slingshot (Polaris; Alps has 128 at all sizes).
constexpr std::array<int, 11> kMaxDomains{1, 20, 8, 64, 4, 2, 540, 64, 1, 1, 0};

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

int max_domains(BandClass band_class) { return kMaxDomains.at(static_cast<std::size_t>(band_class)); }

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
