#include "analysis/loss_cause.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "topology/link_catalogue.hpp"

namespace collbench {
namespace {

// Under a tenth of the NICs: what TCP gives where RDMA should run (published pairs of logs: 1.6 % on IPoIB).
constexpr double kSocketsBelow = 0.1;
constexpr double kLinksMissing = 0.9;  // of what all NVLinks give, as NCCL saw them

/// NCCL runs two channels for each NVLink that it found (20 GB/s a channel on Ampere and before).
bool too_few_channels(const GpuCluster& cluster) {
  return cluster.sm < 90 && cluster.nvlinks > 1 && cluster.run.channels &&
         *cluster.run.channels < cluster.nvlinks;
}

std::string cause_within_domain(const GpuCluster& cluster) {
  const double one_link = nvlink_rate(cluster.sm).gigabytes_per_second;
  const double all_links = cluster.nvlinks * one_link;
  const auto& seen = cluster.run.nvlink_least;
  if (seen && *seen < kLinksMissing * all_links) {
    return fmt::format(
        "the log shows {:g} GB/s of NVLink from one GPU to another where {} NVLinks give {:g}: {:.0f} of {} "
        "NVLinks (links down, or a wrong topology file)",
        *seen, cluster.nvlinks, all_links, *seen / one_link, cluster.nvlinks);
  }
  if (too_few_channels(cluster)) {
    return fmt::format(
        "NCCL opened {} channels where {} NVLinks feed {}: it found {} of {} NVLinks (a link down, or "
        "a wrong topology file)",
        *cluster.run.channels, cluster.nvlinks, 2 * cluster.nvlinks, std::max(1, *cluster.run.channels / 2),
        cluster.nvlinks);
  }
  return cluster.nvlinks > 0 ? "no network takes part: NVLinks that are down, or peer access off, are left"
                             : "the way through the host is left: CPU model, NUMA settings, ACS, peer access";
}

std::string cause_across_domains(const Row& row, const GpuCluster& cluster) {
  if (cluster.transport == Transport::sockets) {
    return "the log says sockets: the bytes went by TCP, not by the RDMA that the NICs are made for";
  }
  if (cluster.transport == Transport::staged) {
    return "the log shows no GPUDirect RDMA: every byte passed through host memory";
  }
  if (!cluster.run.network.empty()) {
    return fmt::format(
        "the log says network {}: NICs not used or below their rate, or older software, are left",
        cluster.run.network);
  }
  const double floor = row.expectation.ring_seconds.value_or(*row.expectation.expected_seconds);
  if (floor / row.measurement.seconds < kSocketsBelow) {
    return "under a tenth of the NICs is what sockets (TCP, IP over InfiniBand) give where RDMA should run; "
           "NCCL_DEBUG=INFO tells it (Using network)";
  }
  return "NICs not used, GPUDirect off, or older software are left; NCCL_DEBUG=INFO tells the first two";
}

}  // namespace

std::string loss_cause(const Row& row, const GpuCluster& cluster) {
  return cluster.domains() == 1 ? cause_within_domain(cluster) : cause_across_domains(row, cluster);
}

}  // namespace collbench
