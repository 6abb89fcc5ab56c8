#include "analysis/models/nccl/healthy_ranges.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <limits>

#include "analysis/models/nccl/bands.hpp"
#include "base/units.hpp"
#include "topology/catalog/acceptance_limits.hpp"

namespace collbench::analysis {
namespace {

using EdgesBySize = std::array<HealthyEdges, 2>;  // ≥ 1 GiB, ≥ 64 MiB

constexpr double kNever = std::numeric_limits<double>::infinity();

// In the order of HealthyClass. Written by research/power.py from the logs and tables that
// docs/notes/power.md names. Of sockets no sound run was published: nothing is SOUND or BELOW.
// clang-format off
constexpr std::array<EdgesBySize, 11> kEdges{{
    {{{0.89, 0.93, 1.05, 6}, {0.85, 0.88, 1.07, 3}}},  // nvlink
    {{{0.77, 0.92, 1.10, 1}, {0.76, 0.92, 1.08, 1}}},  // nvlink_rack
    {{{0.82, 0.93, 1.09, 10}, {0.80, 0.88, 1.05, 4}}},  // rdma
    {{{0.47, 0.85, 1.07, 4}, {0.47, 0.85, 1.07, 0}}},  // many_nodes
    {{{0.69, 0.83, 1.05, 3}, {0.36, 0.80, 1.05, 2}}},  // efa
    {{{0.76, 0.91, 1.05, 1}, {0.79, 0.95, 1.08, 1}}},  // tcpx
    {{{0.24, 0.80, 1.05, 1}, {0.25, 0.80, 1.05, 1}}},  // plugin
    {{{0.48, 0.80, 1.05, 2}, {0.48, 0.80, 1.05, 0}}},  // exchange
    {{{0.80, 0.90, 1.05, 2}, {0.80, 0.90, 1.05, 0}}},  // send_recv
    {{{0.47, 0.95, 1.26, 2}, {0.47, 0.93, 1.17, 2}}},  // pcie
    {{{0, kNever, 1.10, 0}, {0, kNever, 1.10, 0}}},  // sockets
}};
// clang-format on

// Where a provider asks for less than this of what a sound machine gives, its limit clears damaged ones.
constexpr double kMinLimit = 0.8;

HealthyClass class_of(BandClass band_class, OperationId id) {
  switch (band_class) {
    case BandClass::nvlink:
      return HealthyClass::nvlink;
    case BandClass::nvlink_rack:
      return HealthyClass::nvlink_rack;
    case BandClass::rdma:
      return HealthyClass::rdma;
    case BandClass::many_nodes:
      return HealthyClass::many_nodes;
    case BandClass::efa:
      return HealthyClass::efa;
    case BandClass::tcpx:
      return HealthyClass::tcpx;
    case BandClass::plugin:
      return HealthyClass::plugin;
    case BandClass::exchange:
      return id == OperationId::send_recv ? HealthyClass::send_recv : HealthyClass::exchange;
    case BandClass::pcie_switches:
    case BandClass::pcie_host:
      return HealthyClass::pcie;
    case BandClass::sockets:
      return HealthyClass::sockets;
  }
  return HealthyClass::plugin;
}

}  // namespace

HealthyClass healthy_class(OperationId id, const GpuCluster& cluster) {
  if (cluster.domains() > 1 && network_class(cluster) == BandClass::plugin) return HealthyClass::plugin;
  return class_of(band_class(id, cluster), id);
}

std::string_view name(HealthyClass healthy_class) {
  switch (healthy_class) {
    case HealthyClass::nvlink:
      return "NVLink within a node";
    case HealthyClass::nvlink_rack:
      return "NVLink beyond 8 GPUs";
    case HealthyClass::rdma:
      return "RDMA between nodes";
    case HealthyClass::many_nodes:
      return "more than 8 nodes";
    case HealthyClass::efa:
      return "EFA";
    case HealthyClass::tcpx:
      return "TCPX and TCPXO";
    case HealthyClass::plugin:
      return "other networks";
    case HealthyClass::exchange:
      return "exchanges between nodes";
    case HealthyClass::send_recv:
      return "SendRecv between nodes";
    case HealthyClass::pcie:
      return "PCIe, no NVLink";
    case HealthyClass::sockets:
      return "sockets, or no GPUDirect";
  }
  return {};
}

const HealthyEdges& healthy_edges(HealthyClass healthy_class, double bytes, int ranks) {
  const std::size_t size = bytes_of_class(bytes, ranks) >= static_cast<double>(kGiB) ? 0 : 1;
  return kEdges.at(static_cast<std::size_t>(healthy_class)).at(size);
}

HealthyRange healthy_range(OperationId id, std::uint64_t size_bytes, double expected_busbw,
                           const GpuCluster& cluster) {
  const HealthyClass kind = healthy_class(id, cluster);
  const HealthyEdges& edges = healthy_edges(kind, static_cast<double>(size_bytes), cluster.ranks());
  const topology::AcceptanceLimit* limit =
      topology::acceptance_limit(cluster.machine, operation(id).name, cluster.nodes, size_bytes);
  if (limit != nullptr && cluster.ranks_per_node == limit->gpus_per_node && expected_busbw > 0) {
    const double share = limit->gigabytes_per_second / expected_busbw;
    if (share >= kMinLimit && share <= 1)
      return {share, share, edges.high,
              fmt::format("acceptance limit of {:g} GB/s ({})", limit->gigabytes_per_second, limit->source)};
  }
  if (edges.below == 0)
    return {edges.below, edges.sound, edges.high, fmt::format("{}: no sound run was published", name(kind))};
  const std::string machines = edges.machines == 0
                                   ? "no machine, so a wider class stands in"
                                   : counted(static_cast<std::size_t>(edges.machines), "machine");
  return {edges.below, edges.sound, edges.high, fmt::format("{}, {}", name(kind), machines)};
}

}  // namespace collbench::analysis
