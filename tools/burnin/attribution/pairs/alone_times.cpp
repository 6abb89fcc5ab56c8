#include "tools/burnin/attribution/pairs/alone_times.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/statistics.hpp"

namespace collbench::analysis {
namespace {

bool is_alone_on(const RailTime& time, int rail) {
  return time.alone && time.seconds > 0 && time.rail == rail;
}

}  // namespace

AloneTimes alone_times(const PairTable& table, const PairEffects& effects) {
  AloneTimes alone;
  for (std::size_t i = 0; i < table.times.size(); ++i) {
    if (!table.times[i].alone) continue;
    alone.table.times.push_back(table.times[i]);
    alone.effects.classes.push_back(effects.classes[i]);
  }
  return alone;
}

std::optional<double> alone_part(const PairTable& table, const PairEffects& effects, int node, int rail,
                                 bool sends, const IsFine& is_fine) {
  std::array<std::vector<double>, 2> references;  // by class
  for (std::size_t i = 0; i < table.times.size(); ++i) {
    const RailTime& time = table.times[i];
    if (!is_alone_on(time, rail) || time.from == node || time.to == node) continue;
    if (is_fine(time.from, rail) && is_fine(time.to, rail))
      references.at(slot_of(effects.classes[i])).push_back(std::log(time.seconds));
  }
  std::set<int> partners;
  std::vector<double> parts;
  for (std::size_t i = 0; i < table.times.size(); ++i) {
    const RailTime& time = table.times[i];
    const std::vector<double>& reference = references.at(slot_of(effects.classes[i]));
    const int partner = sends ? time.to : time.from;
    if (!is_alone_on(time, rail) || (sends ? time.from : time.to) != node || reference.empty() ||
        !is_fine(partner, rail))
      continue;
    partners.insert(partner);
    parts.push_back(std::log(time.seconds) - median(reference));
  }
  return partners.size() < 2 ? std::nullopt : std::optional(median(parts));
}

std::vector<double> alone_path(const PairTable& table, const PairEffects& effects, int a, int b, int rail,
                               const IsFine& is_fine) {
  std::array<std::vector<double>, 2> own;  // from a, from b
  std::vector<double> others;
  std::set<int> seen;  // which of the two met somebody else
  int own_class = 0;
  const auto is_end = [a, b](int node) { return node == a || node == b; };
  for (std::size_t i = 0; i < table.times.size(); ++i) {
    const RailTime& time = table.times[i];
    if (!is_alone_on(time, rail) || std::minmax(time.from, time.to) != std::minmax(a, b)) continue;
    own.at(time.from == a ? 0 : 1).push_back(std::log(time.seconds));
    own_class = effects.classes[i];
  }
  for (std::size_t i = 0; i < table.times.size(); ++i) {
    const RailTime& time = table.times[i];
    if (!is_alone_on(time, rail) || effects.classes[i] != own_class) continue;
    const bool from_here = is_end(time.from);
    if (from_here == is_end(time.to) || !is_fine(from_here ? time.to : time.from, rail)) continue;
    seen.insert(from_here ? time.from : time.to);
    others.push_back(std::log(time.seconds));
  }
  if ((own[0].empty() && own[1].empty()) || seen.size() < 2) return {};
  const bool second = own[0].empty() || (!own[1].empty() && median(own[1]) > median(own[0]));
  std::vector<double> slower = own.at(second ? 1 : 0);
  const double reference = median(others);
  for (double& log_time : slower) log_time -= reference;
  return slower;
}

}  // namespace collbench::analysis
