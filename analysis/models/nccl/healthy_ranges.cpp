#include "analysis/models/nccl/healthy_ranges.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <limits>

#include "analysis/models/nccl/algorithms.hpp"
#include "base/units.hpp"
#include "topology/catalog/acceptance_limits.hpp"

namespace collbench::analysis {
namespace {

using EdgesBySize = std::array<HealthyEdges, 2>;  // ≥ 1 GiB, ≥ 64 MiB

constexpr double kNever = std::numeric_limits<double>::infinity();

// In the order of BandClass, and SendRecv across domains last. Written by research/power.py from the logs and
// tables that docs/notes/power.md names. Of sockets no sound run was published: nothing is SOUND or BELOW.
// clang-format off
constexpr std::array<EdgesBySize, 12> kEdges{{
    {{{0.89, 0.93, 1.05, 6}, {0.85, 0.88, 1.07, 3}}},  // nvlink
    {{{0.78, 0.94, 1.15, 1}, {0.73, 0.87, 1.15, 1}}},  // nvlink_rack
    {{{0.82, 0.93, 1.09, 10}, {0.79, 0.88, 1.05, 4}}},  // rdma
    {{{0.47, 0.87, 1.10, 4}, {0.47, 0.87, 1.10, 0}}},  // many_nodes
    {{{0.69, 0.83, 1.05, 3}, {0.39, 0.80, 1.15, 2}}},  // efa
    {{{0.75, 0.90, 1.15, 1}, {0.74, 0.89, 1.15, 1}}},  // tcpx
    {{{0.24, 0.80, 1.15, 1}, {0.25, 0.95, 1.43, 1}}},  // plugin
    {{{0.48, 0.80, 1.15, 2}, {0.48, 0.80, 1.15, 0}}},  // exchange
    {{{0.47, 0.95, 1.26, 0}, {0.47, 0.93, 1.17, 0}}},  // pcie_switches
    {{{0.47, 0.95, 1.26, 2}, {0.47, 0.93, 1.17, 2}}},  // pcie_host
    {{{0, kNever, 1.10, 0}, {0, kNever, 1.10, 0}}},  // sockets
    {{{0.80, 0.90, 1.15, 2}, {0.80, 0.90, 1.15, 0}}},  // send_recv
}};
// clang-format on

// Where a provider asks for less than this of what a sound machine gives, its limit clears damaged ones.
constexpr double kMinLimit = 0.8;

// Half of what sound machines of such classes reach (about 0.9 of expected): where only less than this is
// BELOW, a machine that lost half is not found, and then none is called SOUND.
constexpr double kFindsAHalf = 0.45;

}  // namespace

BandClass healthy_class(OperationId id, const GpuCluster& cluster) {
  const bool is_unknown = cluster.domains() > 1 && network_class(cluster) == BandClass::plugin;
  return is_unknown ? BandClass::plugin : band_class(id, cluster);
}

const HealthyEdges& healthy_edges(OperationId id, BandClass kind, double bytes, int ranks) {
  const bool is_send_recv = kind == BandClass::exchange && id == OperationId::send_recv;
  const std::size_t row = is_send_recv ? kEdges.size() - 1 : static_cast<std::size_t>(kind);
  return kEdges.at(row).at(bytes_of_class(bytes, ranks) >= static_cast<double>(kGiB) ? 0 : 1);
}

HealthyRange healthy_range(OperationId id, std::uint64_t size_bytes, double expected_busbw,
                           const GpuCluster& cluster) {
  const BandClass kind = healthy_class(id, cluster);
  HealthyEdges edges = healthy_edges(id, kind, static_cast<double>(size_bytes), cluster.ranks());
  if (gpu_pattern(id) == GpuPattern::one_flow) edges.high *= rate_of_later_channels(cluster);
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
  if (edges.below < kFindsAHalf)
    return {edges.below, kNever, edges.high,
            fmt::format("{}: sound machines vary too much to detect a loss of half", name(kind))};
  const std::string machines = edges.machines == 0
                                   ? "no such run was published, so the nearest class or size stands in"
                                   : counted(edges.machines, "machine");
  return {edges.below, edges.sound, edges.high, fmt::format("{}, {}", name(kind), machines)};
}

}  // namespace collbench::analysis
