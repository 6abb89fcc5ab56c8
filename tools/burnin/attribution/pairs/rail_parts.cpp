#include "tools/burnin/attribution/pairs/rail_parts.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
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
  const auto make_it =
      std::count_if(known.begin(), known.end(), [needed](double seconds) { return seconds <= needed; });
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
    std::copy_if(of_class.begin(), of_class.end(), std::back_inserter(known),
                 [](double value) { return !std::isnan(value); });
    if (known.size() < kMinRails) continue;
    const double middle = median(known);
    const double line = population_line(known);
    for (int rail = 0; rail < rails; ++rail) {
      const double more = of_class[slot_of(rail)] - middle;
      const bool is_named =
          std::any_of(slow.begin(), slow.end(), [rail](const SlowRail& one) { return one.rail == rail; });
      if (more > line && !is_named) slow.push_back({rail, more, line});
    }
  }
  return slow;
}

}  // namespace collbench::analysis
