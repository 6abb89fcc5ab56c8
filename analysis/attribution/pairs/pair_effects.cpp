#include "analysis/attribution/pairs/pair_effects.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/statistics.hpp"

namespace collbench::analysis {
namespace {

constexpr double kUnmeasured = std::numeric_limits<double>::quiet_NaN();
constexpr int kMaxPasses = 20;
constexpr double kSettled = 1e-9;
// How much wider a line is with few free residuals, found with 4 to 8 nodes at 2 and 5 % of noise.
constexpr double kFewFree = 1.5;

/// Which times count: positive ones; those alone only of a pair that was never measured in company.
std::vector<bool> counted_times(const PairTable& table) {
  const auto key = [](const RailTime& time) { return std::tuple(time.from, time.to, time.rail); };
  std::set<std::tuple<int, int, int>> in_company;
  for (const RailTime& time : table.times) {
    if (!time.alone && time.repeat == 0 && time.seconds > 0) in_company.insert(key(time));
  }
  std::vector<bool> counted;
  for (const RailTime& time : table.times)
    counted.push_back(time.seconds > 0 && time.repeat == 0 &&
                      (!time.alone || !in_company.contains(key(time))));
  return counted;
}

/// Takes the median of each group out of the residuals and into its effect. What moved most.
template <typename GroupOf>
double polish(const std::vector<bool>& counted, const GroupOf& group_of, std::vector<double>& residuals,
              std::vector<double>& effects) {
  std::vector<std::vector<double>> groups(effects.size());
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    if (counted[i]) groups[group_of(i)].push_back(residuals[i]);
  }
  std::vector<double> medians(effects.size(), 0);
  double moved = 0;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    if (groups[group].empty()) continue;
    medians[group] = median(groups[group]);
    effects[group] += medians[group];
    moved = std::max(moved, std::fabs(medians[group]));
  }
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    if (counted[i]) residuals[i] -= medians[group_of(i)];
  }
  return moved;
}

std::vector<std::vector<double>> table_rows(const std::vector<double>& flat, int columns) {
  std::vector<std::vector<double>> rows;
  for (std::size_t start = 0; start < flat.size(); start += slot_of(columns)) {
    const auto begin = flat.begin() + static_cast<std::ptrdiff_t>(start);
    rows.emplace_back(begin, begin + columns);
  }
  return rows;
}

/// An effect's zero is the median of its rail's nodes; what all have in common goes to the class.
void center(std::vector<double>& effects, std::vector<double>& common, int rails) {
  for (int rail = 0; rail < rails; ++rail) {
    std::vector<double> of_rail;
    for (std::size_t i = slot_of(rail); i < effects.size(); i += slot_of(rails))
      of_rail.push_back(effects[i]);
    const double middle = median(of_rail);
    for (std::size_t i = slot_of(rail); i < effects.size(); i += slot_of(rails)) effects[i] -= middle;
    for (std::size_t i = slot_of(rail); i < common.size(); i += slot_of(rails)) common[i] += middle;
  }
}

}  // namespace

int path_class(const PairTable& table, int from, int to) {
  if (table.leaf_of_node.empty()) return 0;
  return table.leaf_of_node[slot_of(from)] == table.leaf_of_node[slot_of(to)] ? 0 : 1;
}

PairEffects pair_effects(const PairTable& table) {
  const std::vector<bool> counted = counted_times(table);
  const int nodes = static_cast<int>(table.nodes.size());
  PairEffects found;
  found.residuals.assign(table.times.size(), 0);
  for (std::size_t i = 0; i < table.times.size(); ++i) {
    found.classes.push_back(path_class(table, table.times[i].from, table.times[i].to));
    if (counted[i]) found.residuals[i] = std::log(table.times[i].seconds);
  }
  if (nodes == 0 || table.rails < 1) return found;
  const auto cell = [&](int row, std::size_t i) { return slot_of(row * table.rails + table.times[i].rail); };
  const auto by_class = [&](std::size_t i) { return cell(found.classes[i], i); };
  const auto by_sender = [&](std::size_t i) { return cell(table.times[i].from, i); };
  const auto by_receiver = [&](std::size_t i) { return cell(table.times[i].to, i); };
  std::vector<double> common(slot_of(2 * table.rails), 0);
  std::vector<double> send(slot_of(nodes * table.rails), 0);
  std::vector<double> receive = send;
  for (int pass = 0; pass < kMaxPasses; ++pass) {
    double moved = polish(counted, by_class, found.residuals, common);
    moved = std::max(moved, polish(counted, by_sender, found.residuals, send));
    moved = std::max(moved, polish(counted, by_receiver, found.residuals, receive));
    if (moved < kSettled) break;
  }
  center(send, common, table.rails);
  center(receive, common, table.rails);
  std::vector<std::set<int>> sent_to(send.size());
  std::vector<std::set<int>> received_from(send.size());
  std::vector<bool> measured(common.size(), false);
  for (std::size_t i = 0; i < table.times.size(); ++i) {
    if (!counted[i]) {
      found.residuals[i] = kUnmeasured;
      continue;
    }
    sent_to[by_sender(i)].insert(table.times[i].to);
    received_from[by_receiver(i)].insert(table.times[i].from);
    measured[by_class(i)] = true;
  }
  for (std::size_t i = 0; i < send.size(); ++i) {
    if (std::cmp_less(sent_to[i].size(), kMinPartners)) send[i] = kUnmeasured;
    if (std::cmp_less(received_from[i].size(), kMinPartners)) receive[i] = kUnmeasured;
  }
  for (std::size_t i = 0; i < common.size(); ++i) {
    if (!measured[i]) common[i] = kUnmeasured;
  }
  found.common = table_rows(common, table.rails);
  found.send = table_rows(send, table.rails);
  found.receive = table_rows(receive, table.rails);
  return found;
}

namespace {

/// Six standard deviations of the residuals of `rail` (or of all), and more where few are free: of the cells
/// of an additive table as many as it has effects are fitted exactly, so the median is of the others.
/// Infinite where none is free: then nothing is known of the scatter.
double line_of_residuals(const PairTable& table, const PairEffects& effects, std::optional<int> rail) {
  constexpr double kSigmas = 6;
  constexpr double kToSigma = 1.4826;
  constexpr double kMinLine = 0.01;
  std::vector<double> scatter;
  std::set<std::tuple<int, int, bool>> fitted;
  for (std::size_t i = 0; i < table.times.size(); ++i) {
    const RailTime& time = table.times[i];
    if (std::isnan(effects.residuals[i]) || (rail && time.rail != *rail)) continue;
    scatter.push_back(std::fabs(effects.residuals[i]));
    fitted.insert({time.from, time.rail, true});
    fitted.insert({time.to, time.rail, false});
  }
  if (scatter.size() <= fitted.size()) return std::numeric_limits<double>::infinity();
  std::sort(scatter.begin(), scatter.end());
  scatter.erase(scatter.begin(), scatter.begin() + static_cast<std::ptrdiff_t>(fitted.size()) - 1);
  const auto free = static_cast<double>(scatter.size());
  return std::max(kMinLine, kSigmas * kToSigma * median(scatter) * (1 + kFewFree / free));
}

}  // namespace

double line_of_pairs(const PairTable& table, const PairEffects& effects) {
  return line_of_residuals(table, effects, std::nullopt);
}

double line_of_rail(const PairTable& table, const PairEffects& effects, int rail) {
  std::vector<double> parts;
  for (const auto* direction : {&effects.send, &effects.receive}) {
    for (const std::vector<double>& node : *direction) parts.push_back(node[slot_of(rail)]);
  }
  return std::max(population_line(parts), line_of_residuals(table, effects, rail) / 2);
}

}  // namespace collbench::analysis
