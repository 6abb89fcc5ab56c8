#include "analysis/verdict/verdict.hpp"

#include <fmt/format.h>

#include <functional>
#include <string_view>

#include "analysis/models/nccl/gpu_expectation.hpp"
#include "analysis/models/nccl/links.hpp"

namespace collbench::analysis {
namespace {

constexpr double kSpanWorthTelling = 1.1;  // of ring over the best algorithm
// A loss that ends this near to the edge may or may not show: nine in ten rows of 1 GiB and more differ by
// less between out of place and in place (docs/accuracy.md, noise).
constexpr double kNoise = 0.015;

/// The expected seconds of a row when so much of the links is left.
using SecondsWith = std::function<double(double left)>;

double seconds_on(const Row& row, GpuCluster cluster) {
  const RowKey& key = row.measurement.key;
  // The table speaks of a healthy machine: with less of a link another algorithm may run, and hide the loss.
  if (!cluster.run.algorithm) {
    cluster.run.table_choice.reset();
    cluster.run.protocol.reset();
  }
  return expect_on_gpus(key.operation, key.size_bytes, cluster).expected_seconds.value_or(0);
}

double seconds_with_nics(const Row& row, GpuCluster cluster, double left) {
  cluster.nic_line_rate *= left;
  cluster.nic_path *= left;
  return seconds_on(row, cluster);
}

double seconds_with_nvlinks(const Row& row, GpuCluster cluster, double left) {
  const double links = left * cluster.nvlinks;
  cluster.nvlinks = static_cast<int>(links);
  const double fewer = seconds_on(row, cluster);
  if (links - cluster.nvlinks < 0.25) return fewer;
  ++cluster.nvlinks;  // half a link: the mean of both rates
  return 2 / (1 / fewer + 1 / seconds_on(row, cluster));
}

double seconds_with_host_path(const Row& row, GpuCluster cluster, double left) {
  cluster.host_path *= left;
  return seconds_on(row, cluster);
}

std::string max_undetectable(const Row& row, const GpuCluster& cluster, std::string_view link, int count,
                             const SecondsWith& seconds_with) {
  const double low = row.expectation.slowest_seconds.value_or(0) * low_margin(row, cluster);
  const auto hidden = [&](double left) { return seconds_with(left) <= (1 + kNoise) * low; };
  if (hidden(0.5)) {
    return count == 1 ? fmt::format("losing up to half of the {}", link)
                      : fmt::format("losing up to half of the {} {}s", count, link);
  }
  if (count == 1) return {};
  const double share = 1.0 / count;
  if (hidden(1 - share)) return fmt::format("losing one of the {} {}s ({:.0f} %)", count, link, 100 * share);
  if (hidden(1 - share / 2)) {
    return fmt::format("losing half of one of the {} {}s ({:.0f} %)", count, link, 100 * share / 2);
  }
  return {};
}

std::string between_algorithms(const Row& row, const GpuCluster& cluster) {
  const Expectation& expected = row.expectation;
  const double span = expected.ring_seconds.value_or(0) / expected.expected_seconds.value_or(1);
  if (span <= kSpanWorthTelling || gpu_algorithms(row.measurement.key.operation, cluster).size() < 2)
    return {};
  return fmt::format(
      "running ring instead of {} ({:.1f} × the time; NCCL_DEBUG_SUBSYS=TUNING shows which ran)",
      expected.expected_by, span);
}

}  // namespace

std::vector<std::string> undetectable_losses(const Row& row, const GpuCluster& cluster) {
  std::vector<std::string> losses;
  if (cluster.domains() > 1) {
    losses.push_back(max_undetectable(row, cluster, "NIC", domain_nic_count(cluster),
                                      [&](double left) { return seconds_with_nics(row, cluster, left); }));
  }
  if (cluster.nvlinks > 0) {
    losses.push_back(max_undetectable(row, cluster, "NVLink", cluster.nvlinks,
                                      [&](double left) { return seconds_with_nvlinks(row, cluster, left); }));
  } else if (cluster.ranks_per_domain() > 1) {
    losses.push_back(max_undetectable(row, cluster, "path through the host", 1, [&](double left) {
      return seconds_with_host_path(row, cluster, left);
    }));
  }
  losses.push_back(between_algorithms(row, cluster));
  std::erase(losses, "");
  return losses;
}

}  // namespace collbench::analysis
