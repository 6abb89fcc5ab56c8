#include "tools/burnin/attribution/pairs/median_doubt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace collbench::analysis {

MedianDoubt median_doubt(const PairTable& table, const PairEffects& effects,
                         const std::function<bool(int node, int rail)>& explains) {
  constexpr double kBadNodeTimes = 1 / 0.95;  // as of a bad node (blame.cpp)
  std::set<int> fast;
  double least = 0;
  const double line = std::max(line_of_pairs(table, effects), std::log(kBadNodeTimes));
  for (std::size_t i = 0; i < table.times.size(); ++i) {
    const RailTime& time = table.times[i];
    if (effects.residuals[i] >= -line || std::isnan(effects.residuals[i])) continue;
    if (explains(time.from, time.rail) || explains(time.to, time.rail)) continue;
    fast.insert({time.from, time.to});
    least = std::min(least, effects.residuals[i]);
  }
  // Fast pairs here and there are ways that are shorter; a faster half is fast among itself.
  std::size_t among = 0;
  std::size_t fast_among = 0;
  for (std::size_t i = 0; i < table.times.size(); ++i) {
    const RailTime& time = table.times[i];
    if (std::isnan(effects.residuals[i]) || !fast.contains(time.from) || !fast.contains(time.to)) continue;
    ++among;
    fast_among += effects.residuals[i] < -line ? 1 : 0;
  }
  if (2 * fast_among <= among) return {};
  if (3 * fast.size() < table.nodes.size() || fast.size() == table.nodes.size()) return {};
  MedianDoubt doubt;
  for (int node = 0; node < static_cast<int>(table.nodes.size()); ++node) {
    if (!fast.contains(node)) doubt.slower_half.insert(node);
  }
  doubt.why = fmt::format(
      "pairs between {} of the {} nodes take up to {:.0f} % less time than the median, which is the "
      "reference here: the other {} may be slow, or these have shorter ways",
      fast.size(), table.nodes.size(), -100 * std::expm1(least), doubt.slower_half.size());
  return doubt;
}

}  // namespace collbench::analysis
