#include "tools/burnin/attribution/pairs/rail_parts.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "base/statistics.hpp"
#include "tools/burnin/attribution/pairs/pair_elimination.hpp"

namespace collbench::analysis {
namespace {

constexpr double kShort = 1 / 0.95;  // as operators accept a link: 95 % of its nominal rate (docs/burnin.md)

DirectionParts direction_parts(const PairTable& table, const std::vector<std::vector<double>>& effects,
                               int rail, bool sends) {
  DirectionParts parts;
  for (const std::vector<double>& node : effects) parts.values.push_back(node[slot_of(rail)]);
  parts.quickest.assign(table.nodes.size(), 0);
  for (const RailTime& time : table.times) {
    if (time.rail != rail || !(time.seconds > 0)) continue;
    double& quickest = parts.quickest[slot_of(sends ? time.from : time.to)];
    quickest = quickest > 0 ? std::min(quickest, time.seconds) : time.seconds;
  }
  return parts;
}

void find_short(double expected_seconds, DirectionParts& parts) {
  if (expected_seconds <= 0) return;
  std::vector<double> known;
  for (const double seconds : parts.quickest)
    if (seconds > 0) known.push_back(seconds);
  if (known.size() <= slot_of(kMinPartners)) return;
  const double needed = expected_seconds * kShort;
  const auto make_it = std::ranges::count_if(known, [needed](double seconds) { return seconds <= needed; });
  if (2 * make_it <= std::ssize(known)) return;  // it is the rail, or what is expected of it
  // Where the quickest pairs scatter, one that falls short is no more than that.
  for (double& seconds : known) seconds = std::log(seconds);
  const double line = population_line(known, 1 + 3 / static_cast<double>(known.size() - 1));
  const double beyond = std::max(std::log(needed), median(known) + std::max(std::log(kShort), line));
  for (std::size_t node = 0; node < parts.quickest.size(); ++node) {
    const bool has_parts = !std::isnan(parts.values[node]);
    if (has_parts && std::log(parts.quickest[node]) > beyond)
      parts.short_of_expected.insert(static_cast<int>(node));
  }
}

bool is_most(const SlowWithMost& one) {
  return 2 * one.excesses.size() > one.measured && one.excesses.size() >= slot_of(kMinPartners);
}

using ByNodeAndRail = std::map<std::pair<int, int>, SlowWithMost>;

/// What the pairs of a node take on a rail beyond the usual, with partners for whom `counts_for` holds.
template <class CountsFor>
ByNodeAndRail excesses(const PairTable& table, const PairEffects& effects, double line,
                       const CountsFor& counts_for) {
  std::vector<std::tuple<int, int, int, double>> all;  // of a node, on a rail, with a partner
  for (std::size_t i = 0; i < table.times.size(); ++i) {
    const RailTime& time = table.times[i];
    const double excess = effects.residuals[i] + effects.send[slot_of(time.from)][slot_of(time.rail)] +
                          effects.receive[slot_of(time.to)][slot_of(time.rail)];  // NaN where any is
    if (std::isnan(excess)) continue;
    for (const auto& [node, partner] : {std::pair(time.from, time.to), std::pair(time.to, time.from)})
      if (counts_for(partner, time.rail)) all.emplace_back(node, time.rail, partner, excess);
  }
  std::ranges::sort(all);
  ByNodeAndRail found;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& [node, rail, partner, excess] = all[i];
    const bool is_worst =
        i + 1 == all.size() ||
        std::tie(node, rail, partner) !=
            std::tie(std::get<0>(all[i + 1]), std::get<1>(all[i + 1]), std::get<2>(all[i + 1]));
    if (!is_worst) continue;
    SlowWithMost& own =
        found.try_emplace({node, rail}, SlowWithMost{.node = node, .rail = rail}).first->second;
    ++own.measured;
    if (excess > line) own.excesses.push_back(excess);
  }
  return found;
}

}  // namespace

double RailParts::worst(int node) const {
  return std::fmax(send.values[slot_of(node)], receive.values[slot_of(node)]);
}

bool RailParts::only_short(int node) const { return slow(node) && !(worst(node) > send.line); }

std::vector<RailParts> rail_parts(const PairTable& table, const PairEffects& effects,
                                  double expected_seconds) {
  std::vector<RailParts> rails;
  for (int rail = 0; rail < table.rails; ++rail) {
    RailParts parts{direction_parts(table, effects.send, rail, true),
                    direction_parts(table, effects.receive, rail, false)};
    for (DirectionParts* const direction : {&parts.send, &parts.receive}) {
      direction->line = std::max(kMatters, line_of_rail(table, effects, rail));
      find_short(expected_seconds, *direction);
    }
    rails.push_back(std::move(parts));
  }
  return rails;
}

std::vector<SlowRail> slow_rails(const PairEffects& effects, int rails) {
  constexpr std::size_t kMinRails = 3;
  std::vector<SlowRail> slow;
  for (const std::vector<double>& of_class : effects.common) {
    std::vector<double> known;
    std::ranges::copy_if(of_class, std::back_inserter(known),
                         [](double value) { return !std::isnan(value); });
    if (known.size() < kMinRails) continue;
    const double middle = median(known);
    const double line = population_line(known);
    for (int rail = 0; rail < rails; ++rail) {
      const double more = of_class[slot_of(rail)] - middle;
      const bool is_named =
          std::ranges::any_of(slow, [rail](const SlowRail& one) { return one.rail == rail; });
      if (more > line && !is_named) slow.push_back({rail, more, line});
    }
  }
  return slow;
}

std::vector<SlowWithMost> slow_with_most(const PairTable& table, const PairEffects& effects, double line) {
  const ByNodeAndRail first =
      excesses(table, effects, line, [](int /*partner*/, int /*rail*/) { return true; });
  std::vector<SlowWithMost> found;
  if (std::ranges::none_of(first, [](const auto& of) { return is_most(of.second); })) return found;
  const auto is_other = [&first](int partner, int rail) { return !is_most(first.at({partner, rail})); };
  for (auto& [key, one] : excesses(table, effects, line, is_other))
    if (is_most(one)) found.push_back(std::move(one));
  return found;
}

}  // namespace collbench::analysis
