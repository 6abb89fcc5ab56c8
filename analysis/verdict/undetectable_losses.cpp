#include "analysis/verdict/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>

#include "analysis/models/nccl/gpu_expectation.hpp"
#include "analysis/models/nccl/links.hpp"

namespace collbench::analysis {
namespace {

constexpr double kSpanWorthTelling = 1.1;  // of ring over the best algorithm
// A loss that ends this near to the edge may or may not show: nine in ten rows of 1 GiB and more differ by
// less between out of place and in place (docs/notes/accuracy.md, noise).
constexpr double kNoise = 0.015;

/// What a row may take when so much of the links is left: as expected, and at the quick end of the band.
struct LossTimes {
  double expected_seconds = 0;
  double fastest_seconds = 0;
  std::string expected_by;  ///< with less of a link another algorithm may be the quickest
};
using TimesWith = std::function<LossTimes(double left)>;

LossTimes times_on(const Row& row, GpuCluster cluster) {
  const RowKey& key = row.measurement.key;
  // The table speaks of a healthy machine: with less of a link another algorithm may run, and hide the loss.
  if (!cluster.run.algorithm) {
    cluster.run.table_choice.reset();
    cluster.run.protocol.reset();
  }
  const Expectation expected = expect_on_gpus(key.operation, key.size_bytes, cluster);
  const double seconds = expected.expected_seconds.value_or(0);
  return {seconds, expected.fastest_seconds.value_or(seconds), expected.expected_by};
}

LossTimes times_with_nics(const Row& row, GpuCluster cluster, double left) {
  cluster.nic_line_rate *= left;
  cluster.nic_path *= left;
  return times_on(row, cluster);
}

LossTimes times_with_nic_paths(const Row& row, GpuCluster cluster, double left) {
  cluster.nic_path *= left;
  return times_on(row, cluster);
}

/// At the mean of both rates.
double half_way(double seconds, double others) { return 2 / (1 / seconds + 1 / others); }

LossTimes times_with_nvlinks(const Row& row, GpuCluster cluster, double left) {
  const double links = left * cluster.nvlinks;
  cluster.nvlinks = static_cast<int>(links);
  LossTimes fewer = times_on(row, cluster);
  if (links - cluster.nvlinks < 0.25) return fewer;
  ++cluster.nvlinks;  // half a link is left of the last one
  const LossTimes more = times_on(row, cluster);
  return {half_way(fewer.expected_seconds, more.expected_seconds),
          half_way(fewer.fastest_seconds, more.fastest_seconds), fewer.expected_by};
}

LossTimes times_with_host_path(const Row& row, GpuCluster cluster, double left) {
  cluster.host_path *= left;
  return times_on(row, cluster);
}

/// Whether the row, as quick as it was, does not exclude this.
bool may_take(const Row& row, double fastest_seconds) {
  return fastest_seconds <= (1 + kNoise) * row.measurement.seconds;
}

HiddenLoss max_undetectable(const Row& row, const HealthyRange& range, std::string_view link, int count,
                            const TimesWith& times_with) {
  // The slowest time that is still SOUND.
  const double low = row.expectation.expected_seconds.value_or(0) / range.sound;
  const auto hidden = [&](double left) {
    const LossTimes times = times_with(left);
    return times.expected_seconds <= (1 + kNoise) * low && may_take(row, times.fastest_seconds);
  };
  // "if tree runs", where it would not without the loss
  const auto named = [&](double left, const std::string& loss) {
    const std::string by = times_with(left).expected_by;
    return by == row.expectation.expected_by ? loss : fmt::format("{} if {} runs", loss, by);
  };
  // Of several links as many together as one loses: which of them it is does not matter to the rate.
  const auto loss = [&](double share) {
    const std::string text =
        count == 1 ? fmt::format("the {} at {:.0f} % of its rate", link, 100 * (1 - share))
                   : fmt::format("the {} {}s at {:.0f} % of their rate", count, link, 100 * (1 - share));
    return HiddenLoss{std::string(link), share, named(1 - share, text), count};
  };
  if (hidden(0.5)) return loss(0.5);
  HiddenLoss none{std::string(link), 0, "", count};
  if (count == 1) return none;
  const double share = 1.0 / count;
  for (int lost = (count - 1) / 2; lost > 0; --lost)
    if (hidden(1 - lost * share)) return loss(lost * share);
  return hidden(1 - share / 2) ? loss(share / 2) : none;
}

/// Adds `test`, or puts it in the place of that of the same resource which `is_better` prefers it to.
template <typename IsBetter>
void add_test(std::vector<ResourceTest>& tests, const ResourceTest& test, const IsBetter& is_better) {
  const auto known = std::ranges::find_if(
      tests, [&](const ResourceTest& each) { return each.hidden.resource == test.hidden.resource; });
  if (known == tests.end()) {
    tests.push_back(test);
  } else if (is_better(test.hidden.share, known->hidden.share)) {
    *known = test;
  }
}

/// Of what every node's own row tests, that of the node that leaves most open. Nothing unless all are SOUND.
std::vector<ResourceTest> tests_on_each_node(const Run& run) {
  std::vector<ResourceTest> tests;
  if (!all_nodes_are_sound_alone(run)) return tests;
  for (const NodeGroup& node : run.node_groups) {
    if (node.hosts.size() != 1) continue;
    for (const HiddenLoss& hidden : node.row.verdict.hidden)
      add_test(tests, {hidden, &node.row, true}, std::greater());
  }
  return tests;
}

}  // namespace

std::vector<HiddenLoss> hidden_losses(const Row& row, const HealthyRange& range, const GpuCluster& cluster) {
  std::vector<HiddenLoss> losses;
  const auto add = [&](std::string_view link, int count, const TimesWith& times_with) {
    losses.push_back(max_undetectable(row, range, link, count, times_with));
  };
  if (cluster.domains() > 1) {
    add(kNic, domain_nic_count(cluster), [&](double left) { return times_with_nics(row, cluster, left); });
    // Half of a link that still carries all of the NIC is no loss of rate.
    if (cluster.nic_path > 0 && cluster.nic_path / 2 < cluster.nic_line_rate)
      add(kNicPcie, 1, [&](double left) { return times_with_nic_paths(row, cluster, left); });
  }
  if (cluster.nvlinks > 0) {
    add("NVLink", cluster.nvlinks, [&](double left) { return times_with_nvlinks(row, cluster, left); });
  } else if (cluster.ranks_per_domain() > 1) {
    add("path through the host", 1, [&](double left) { return times_with_host_path(row, cluster, left); });
  }
  return losses;
}

std::string hidden_algorithm(const Row& row, const GpuCluster& cluster) {
  const Expectation& expected = row.expectation;
  const double span = expected.ring_seconds.value_or(0) / expected.expected_seconds.value_or(1);
  if (span <= kSpanWorthTelling || gpu_algorithms(row.measurement.key.operation, cluster).size() < 2)
    return {};
  GpuCluster by_ring = cluster;
  by_ring.run.algorithm = "ring";
  if (!may_take(row, times_on(row, by_ring).fastest_seconds)) return {};
  return fmt::format(
      "running ring instead of {} ({:.1f} × the time; NCCL_DEBUG_SUBSYS=TUNING shows which ran)",
      expected.expected_by, span);
}

std::vector<ResourceTest> resource_tests(const Run& run) {
  std::vector<ResourceTest> tests;
  for (const SizeSeries& series : verdict_series_of(run.rows)) {
    const Row* const row = series.back();
    if (row->verdict.word != VerdictWord::sound) continue;
    for (const HiddenLoss& hidden : row->verdict.hidden) add_test(tests, {hidden, row}, std::less());
  }
  for (const ResourceTest& test : tests_on_each_node(run)) add_test(tests, test, std::less());
  return tests;
}

}  // namespace collbench::analysis
