#include "analysis/history/history.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <map>
#include <ranges>
#include <set>
#include <string_view>
#include <tuple>

#include "analysis/compare/side_of_row.hpp"
#include "analysis/history/machine_kind.hpp"
#include "base/statistics.hpp"

namespace collbench::analysis {
namespace {

/// The newest record's rows first.
std::vector<RowKey> measured_keys(const std::vector<Run>& runs) {
  std::vector<RowKey> keys;
  std::set<RowKey> seen;
  for (const Run& run : runs | std::views::reverse) {
    for (const Row& row : run.rows) {
      if (was_measured(row.measurement) && seen.insert(row.measurement.key).second)
        keys.push_back(row.measurement.key);
    }
  }
  return keys;
}

/// The times of a run by row; of a row that stands twice, the first.
std::map<RowKey, double> seconds_by_row(const Run& run) {
  std::map<RowKey, double> seconds;
  for (const Row& row : run.rows) {
    if (was_measured(row.measurement)) seconds.emplace(row.measurement.key, row.measurement.seconds);
  }
  return seconds;
}

constexpr double kFleetSignificance = 0.05;  // of any of all nodes and rows
/// A median absolute deviation of n normal values is worth so many of them: 0.37 for many (Hampel, Journal of
/// the American Statistical Association 69 (1974) 383-393).
constexpr double kMadEfficiency = 0.37;
constexpr double kNormalMad = 1.4826;  // 1 / Φ⁻¹(3/4)

/// How many deviations of the median absolute deviation a node may be off.
double fleet_deviations(std::size_t nodes, std::size_t values_of_all_rows) {
  const boost::math::students_t distribution(kMadEfficiency * static_cast<double>(nodes - 1));
  const double chance = kFleetSignificance / (2 * static_cast<double>(values_of_all_rows));
  return boost::math::quantile(boost::math::complement(distribution, chance));
}

void judge_fleet_row(FleetTable& table, std::size_t row) {
  std::vector<double> logs;
  for (const FleetNode& node : table.nodes) {
    if (node.seconds[row]) logs.push_back(std::log(*node.seconds[row]));
  }
  const double middle = median(logs);
  table.medians[row] = std::exp(middle);
  std::vector<double> deviations;
  for (const double value : logs) deviations.push_back(std::abs(value - middle));
  const bool is_fleet = logs.size() >= kMinFleet;
  const double spread = kNormalMad * median(deviations);
  const double limit = is_fleet
                           ? std::max(std::log1p(kOddRatio),
                                      spread * fleet_deviations(logs.size(), logs.size() * table.rows.size()))
                           : 0;
  for (FleetNode& node : table.nodes) {
    if (!node.seconds[row]) continue;
    const double off = std::log(*node.seconds[row]) - middle;
    node.worst_ratio = std::max(node.worst_ratio, std::exp(off));
    node.is_odd[row] = is_fleet && std::abs(off) > limit;
  }
}

bool is_odd_node(const FleetNode& node) { return std::ranges::find(node.is_odd, true) != node.is_odd.end(); }

}  // namespace

std::vector<RowTrend> row_trends(const std::vector<Run>& runs, double significance) {
  const std::vector<RowKey> keys = measured_keys(runs);
  std::map<RowKey, std::size_t> index;
  std::vector<RowTrend> trends;
  for (const RowKey& key : keys) {
    index.emplace(key, trends.size());
    trends.push_back({.key = key, .runs = {}, .seconds = {}, .changes = {}});
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (const auto& [key, seconds] : seconds_by_row(runs[i])) {
      RowTrend& trend = trends[index.at(key)];
      trend.runs.push_back(i);
      trend.seconds.push_back(seconds);
    }
  }
  const ChangeOptions options{.significance =
                                  significance / static_cast<double>(std::max<std::size_t>(1, keys.size()))};
  for (RowTrend& trend : trends) trend.changes = change_points(trend.seconds, options);
  return trends;
}

FleetTable fleet_table(const std::vector<Run>& runs) {
  FleetTable table;
  table.rows = measured_keys({runs.rbegin(), runs.rend()});
  table.medians.resize(table.rows.size());
  for (const Run& run : runs) {
    FleetNode& node = table.nodes.emplace_back();
    node.name = fmt::format("{}", fmt::join(hosts_of(run), ","));
    if (node.name.empty()) node.name = "unknown host";
    node.is_odd.resize(table.rows.size());
    const std::map<RowKey, double> seconds = seconds_by_row(run);
    for (const RowKey& key : table.rows) {
      const auto found = seconds.find(key);
      node.seconds.push_back(found == seconds.end() ? std::nullopt : std::optional(found->second));
    }
  }
  for (std::size_t row = 0; row < table.rows.size(); ++row) judge_fleet_row(table, row);
  std::ranges::sort(table.nodes, [](const FleetNode& a, const FleetNode& b) {
    const auto key = [](const FleetNode& node) {
      const bool odd = is_odd_node(node);
      return std::tuple(!odd, odd ? -node.worst_ratio : 0.0, std::string_view(node.name));
    };
    return key(a) < key(b);
  });
  return table;
}

}  // namespace collbench::analysis
