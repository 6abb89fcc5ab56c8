#include "analysis/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/gpu/expectation.hpp"
#include "analysis/gpu/latency.hpp"
#include "analysis/gpu/link_loads.hpp"
#include "base/record/rates.hpp"
#include "base/units.hpp"
#include "topology/link_catalogue.hpp"

namespace collbench {
namespace {

// Under a tenth of the NICs: what TCP gives where RDMA should run (published pairs of logs: 1.6 % on IPoIB).
constexpr double kSocketsBelow = 0.1;

double busbw(const Row& row, const GpuCluster& cluster) {
  return rates(row, cluster.ranks()).bus_bandwidth.value_or(0) / kGigabyte;
}

const AlgorithmRate* named(const std::vector<AlgorithmRate>& rates, const std::string& name) {
  const auto found =
      std::find_if(rates.begin(), rates.end(), [&](const AlgorithmRate& rate) { return rate.name == name; });
  return found == rates.end() ? nullptr : &*found;
}

/// The largest row: what a sweep's explanation quotes.
const Row& largest(const Sweep& sweep) { return *sweep.back(); }

double to_ring(const Row& row) {
  return row.expectation.ring_seconds.value_or(row.expectation.expected_seconds.value_or(0)) /
         row.measurement.seconds;
}

/// What the measured number implies for the links of the ring.
std::string implied(const Row& row, const GpuCluster& cluster) {
  const double reached = to_ring(row);
  if (cluster.domains() > 1) {
    const double all = domain_nics(cluster).gigabytes_per_second * reached;
    return fmt::format("{:.1f} GB/s leave a node, as much as {:.1f} of its {} NICs give", all,
                       all / one_nic(cluster).gigabytes_per_second, cluster.nics);
  }
  const double all = gpu_link(cluster).gigabytes_per_second * reached;
  if (cluster.nvlinks == 0) return fmt::format("{:.1f} GB/s leave a GPU over the host", all);
  return fmt::format("{:.1f} GB/s leave a GPU, as much as {:.1f} of its {} NVLinks give", all,
                     all / nvlink_achieved_rate(cluster.sm).gigabytes_per_second, cluster.nvlinks);
}

/// "each NIC carries 23.4 GB/s, each NVLink 15.6 GB/s": by the algorithm that explains the number.
std::string carried(const Row& row, const GpuCluster& cluster) {
  const std::string explaining = explaining_algorithm(row, cluster);
  const double algbw = rates(row, cluster.ranks()).algorithm_bandwidth.value_or(0) / kGigabyte;
  const LinkLoads loads = link_loads(operation(row.measurement.key.operation), cluster,
                                     explaining.empty() ? row.expectation.expected_by : explaining, algbw);
  std::string text;
  if (loads.nic) text += fmt::format("; each NIC carries {:.1f} GB/s", *loads.nic);
  if (loads.nvlink) {
    text +=
        fmt::format("{} {:.1f} GB/s", loads.nic ? ", each NVLink" : "; each NVLink carries", *loads.nvlink);
  }
  return text;
}

/// NCCL runs two channels for each NVLink that it found (20 GB/s a channel on Ampere and before).
bool too_few_channels(const GpuCluster& cluster) {
  return cluster.domains() == 1 && cluster.sm < 90 && cluster.nvlinks > 1 && cluster.run.channels &&
         *cluster.run.channels < cluster.nvlinks;
}

/// The cause of a number below the band, from what the log tells, else from what is left.
std::string cause(const Row& row, const GpuCluster& cluster) {
  const double all_links = cluster.nvlinks * nvlink_rate(cluster.sm).gigabytes_per_second;
  if (cluster.domains() == 1 && cluster.run.nvlink_least && *cluster.run.nvlink_least < 0.9 * all_links) {
    return fmt::format(
        "the log shows {:g} GB/s of NVLink from one GPU to another where {} NVLinks give {:g}: {:.0f} of {} "
        "NVLinks "
        "(links down, or a wrong topology file)",
        *cluster.run.nvlink_least, cluster.nvlinks, all_links,
        *cluster.run.nvlink_least / nvlink_rate(cluster.sm).gigabytes_per_second, cluster.nvlinks);
  }
  if (too_few_channels(cluster)) {
    return fmt::format(
        "NCCL opened {} channels where {} NVLinks feed {}: it found {} of {} NVLinks (a link down, or "
        "a wrong topology file)",
        *cluster.run.channels, cluster.nvlinks, 2 * cluster.nvlinks, std::max(1, *cluster.run.channels / 2),
        cluster.nvlinks);
  }
  if (cluster.domains() == 1) {
    return cluster.nvlinks > 0
               ? "no network takes part: NVLinks that are down, or peer access off, are left"
               : "the way through the host is left: CPU model, NUMA settings, ACS, peer access";
  }
  if (cluster.transport == Transport::sockets) {
    return "the log says sockets: the bytes went by TCP, not by the RDMA that the NICs are made for";
  }
  if (cluster.transport == Transport::staged) {
    return "the log shows no GPUDirect RDMA: every byte passed through host memory";
  }
  if (to_ring(row) < kSocketsBelow) {
    return "under a tenth of the NICs is what sockets (TCP, IP over InfiniBand) give where RDMA should run; "
           "NCCL_DEBUG=INFO tells it (Using network)";
  }
  return "NICs not used, GPUDirect off, or older software are left; NCCL_DEBUG=INFO tells the first two";
}

/// What the band hides: one link of many, and all that lies between the ring and the best algorithm.
std::string not_seen(const Row& row, const GpuCluster& cluster) {
  const Expectation& expected = row.expectation;
  const double off = 100 * band_uncertainty(cluster, static_cast<double>(row.measurement.key.size_bytes));
  const bool network = cluster.domains() > 1;
  const int links = network ? cluster.nics : cluster.nvlinks;
  std::string text;
  if (links > 1 && 100.0 / links <= off) {
    text = fmt::format(" One {} of {} ({:.0f} %) would not show.", network ? "NIC" : "NVLink", links,
                       100.0 / links);
  }
  const double span = expected.ring_seconds.value_or(0) / *expected.expected_seconds;
  if (span > 1.1 && gpu_algorithms(row.measurement.key.operation, cluster).size() > 1) {
    text += fmt::format(
        " A loss between ring and {} ({:.1f} ×) would not show either: the log does not tell the "
        "algorithm (NCCL_DEBUG_SUBSYS=TUNING).",
        expected.expected_by, span);
  }
  return text;
}

/// A machine type whose expectation the measurement fits within 5 %.
std::string fitting_machine(const Row& row, const GpuCluster& cluster) {
  std::string best;
  double least = 0.05;
  for (const ReferenceMachine& machine : reference_machines()) {
    const Host host = reference_host(machine);
    if (static_cast<int>(host.gpus.size()) < cluster.ranks_per_node) continue;
    if (cluster.nodes > 1 && machine.nic_transport.empty()) continue;
    const GpuCluster other = gpu_cluster(machine, cluster.nodes, cluster.ranks_per_node);
    const Expectation expected =
        expect_on_gpus(row.measurement.key.operation, row.measurement.key.size_bytes, other);
    if (!expected.expected_seconds) continue;
    const double off = std::fabs(*expected.expected_seconds / row.measurement.seconds - 1);
    if (off >= least) continue;
    least = off;
    best = machine.name;
  }
  return best.empty() ? "no reference machine fits either"
                      : fmt::format("{} would fit within {:.0f} %", best, std::ceil(100 * least));
}

}  // namespace

std::string explaining_algorithm(const Row& row, const GpuCluster& cluster) {
  const auto rates = gpu_algorithms(row.measurement.key.operation, cluster);
  if (rates.size() < 2 || row.measurement.seconds <= 0) return {};
  std::string name;
  double least = std::numeric_limits<double>::max();
  for (const AlgorithmRate& rate : rates) {
    const double seconds =
        gpu_microseconds(operation(row.measurement.key.operation), cluster,
                         static_cast<double>(row.measurement.key.size_bytes), rate.gigabytes_per_second) *
        1e-6;
    const double off = std::fabs(std::log(seconds / row.measurement.seconds));
    if (off >= least) continue;
    least = off;
    name = rate.name;
  }
  return name;
}

std::string explain_row(const Row& row, const GpuCluster& cluster) {
  const Expectation& expected = row.expectation;
  if (!expected.expected_seconds || row.measurement.seconds <= 0) return {};
  const auto rates = gpu_algorithms(row.measurement.key.operation, cluster);
  const AlgorithmRate* rate = named(rates, expected.expected_by);
  if (rate == nullptr) return {};
  const double moving =
      static_cast<double>(row.measurement.key.size_bytes) / (kGigabyte * rate->gigabytes_per_second);
  const bool bandwidth = moving > *expected.expected_seconds / 2;
  return fmt::format("{}: {:.2f} of {}",
                     bandwidth ? "bandwidth-bound by " + expected.limited_by : "latency-bound",
                     *expected.expected_seconds / row.measurement.seconds, expected.expected_by);
}

std::string explain_sweep(const Sweep& sweep, VerdictWord verdict, const GpuCluster& cluster) {
  if (sweep.empty() || !largest(sweep).expectation.expected_seconds) return {};
  const Row& row = largest(sweep);
  const Expectation& expected = row.expectation;
  const std::string size = format_bytes(row.measurement.key.size_bytes);
  const double measured = busbw(row, cluster);
  const double ratio = *expected.expected_seconds / row.measurement.seconds;
  switch (verdict) {
    case VerdictWord::none:
      return "No row of 64 MiB or more: latency is all that this shows.";
    case VerdictWord::as_expected: {
      const std::string by = explaining_algorithm(row, cluster);
      const std::string told =
          by.empty() || by == expected.expected_by ? "" : fmt::format(", and {} explains it", by);
      return fmt::format("{:.1f} GB/s at {} is {:.2f} of {}{}; the limit is {}{}.{}", measured, size, ratio,
                         expected.expected_by, told, expected.limited_by, carried(row, cluster),
                         not_seen(row, cluster));
    }
    case VerdictWord::low:
    case VerdictWord::fault:
      return fmt::format("{:.1f} GB/s at {} is {:.2f} of the ring: {}. Cause: {}.", measured, size,
                         to_ring(row), implied(row, cluster), cause(row, cluster));
    case VerdictWord::model_or_ranks_wrong:
      return fmt::format(
          "{:.1f} GB/s at {} is {:.2f} of {}, the best algorithm on {} × {} {}: the machine or the rank "
          "count is not what was said; {}.",
          measured, size, ratio, expected.expected_by, cluster.nodes, cluster.ranks_per_node, cluster.gpu,
          fitting_machine(row, cluster));
  }
  return {};
}

}  // namespace collbench
