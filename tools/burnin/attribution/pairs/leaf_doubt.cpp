#include "tools/burnin/attribution/pairs/leaf_doubt.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace collbench::analysis {

SideLevels::SideLevels(const PairTable& table, DesignKind design, const std::vector<RailParts>& rails) {
  if (!table.leaf_of_node.empty() || design != DesignKind::bipartite) return;
  side_of_node_ = sides_of(table);
  for (const RailParts& rail : rails) {
    for (const int side : {0, 1}) {
      std::vector<double> parts;
      for (std::size_t node = 0; node < side_of_node_.size(); ++node) {
        const double part = rail.worst(static_cast<int>(node));
        if (side_of_node_[node] == side && !std::isnan(part)) parts.push_back(part);
      }
      const Levels levels = parts.empty() ? Levels{} : levels_of(parts);
      sides_.push_back({levels, clear_below(levels, std::max<std::size_t>(parts.size(), 1))});
    }
  }
}

const SideLevels::Side& SideLevels::side_of(std::size_t rail, int node) const {
  return sides_[2 * rail + slot_of(side_of_node_[slot_of(node)])];
}

bool SideLevels::has_slower_level(const std::vector<RailParts>& rails, int node) const {
  for (std::size_t rail = 0; rail < rails.size() && !sides_.empty(); ++rail) {
    const Levels& levels = side_of(rail, node).levels;
    if (rails[rail].slow(node) && !levels.centers.empty() &&
        rails[rail].worst(node) < levels.centers.back() + rails[rail].send.line)
      return levels.centers.size() > 1;
  }
  return false;
}

bool SideLevels::may_be_of_faster_level(const std::vector<RailParts>& rails, int node) const {
  for (std::size_t rail = 0; rail < rails.size() && !sides_.empty(); ++rail) {
    const Side& side = side_of(rail, node);
    if (side.levels.centers.size() > 1 &&
        rails[rail].worst(node) > side.levels.centers.front() + side.clear_below)
      return true;
  }
  return false;
}

bool SideLevels::scatter_hides_a_tenth(int node) const {
  for (std::size_t rail = 0; 2 * rail < sides_.size(); ++rail)
    if (side_of(rail, node).clear_below <= 0) return true;
  return false;
}

bool may_share_leaf(const PairTable& table, const PairEffects& effects, const std::vector<RailParts>& rails,
                    DesignKind design, int node) {
  for (int rail = 0; rail < table.rails; ++rail) {
    const RailParts& one = rails[slot_of(rail)];
    const double worst = one.worst(node);
    if (!one.slow(node) || worst > kMaxLeafCost ||
        parts_by_group(table, effects, node, rail, true).contains({}))
      continue;
    std::map<int, double> with;  // what a pair takes more
    for (std::size_t i = 0; i < table.times.size(); ++i) {
      const RailTime& time = table.times[i];
      if (time.rail == rail && !std::isnan(effects.residuals[i]) && (time.from == node || time.to == node))
        with[time.from == node ? time.to : time.from] = effects.residuals[i] +
                                                        effects.send[slot_of(time.from)][slot_of(rail)] +
                                                        effects.receive[slot_of(time.to)][slot_of(rail)];
    }
    const bool met_few = design == DesignKind::bipartite && 4 * with.size() < table.nodes.size();
    for (int other = 0; std::cmp_less(other, table.nodes.size()); ++other) {
      if (other == node || !one.slow(other) || std::fabs(one.worst(other) - worst) > one.send.line) continue;
      const auto pair = with.find(other);
      if (pair == with.end() ? met_few : pair->second < worst / 2) return true;
    }
  }
  return false;
}

bool is_slow_elsewhere_only(const PairTable& table, const PairEffects& effects, const RailParts& rail_parts,
                            int node, int rail, bool groups_were_found) {
  bool any = false;
  for (const bool sends : {true, false}) {
    const DirectionParts& way = sends ? rail_parts.send : rail_parts.receive;
    if (!way.slow(node)) continue;
    auto parts = parts_by_group(table, effects, node, rail, sends);
    if (const auto own = parts.find({}); own != parts.end())
      parts = {*own};
    else if (!groups_were_found)
      return false;
    if (std::ranges::none_of(parts,
                             [&](const auto& part) { return part.second <= way.values[slot_of(node)] / 2; }))
      return false;
    any = true;
  }
  return any;
}

}  // namespace collbench::analysis
