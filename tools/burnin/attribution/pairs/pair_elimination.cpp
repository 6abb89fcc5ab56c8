#include "tools/burnin/attribution/pairs/pair_elimination.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "base/statistics.hpp"

namespace collbench::analysis {
namespace {

constexpr std::size_t kMinPairs = 8;         // fewer do not know how healthy ones scatter
constexpr std::size_t kMaxLevels = 6;        // two kinds of paths, and what is slow beside them
constexpr std::size_t kMaxForLevels = 4096;  // the search takes the square of the values

/// Of values over a median absolute deviation of `count` of them, whose efficiency beside a standard
/// deviation is 0.37.
boost::math::students_t spread_of(std::size_t count) {
  constexpr double kEfficiency = 0.37;
  return boost::math::students_t(std::max(1.0, kEfficiency * static_cast<double>(count)));
}

/// Segments of sorted values: where each ends.
using Ends = std::vector<std::size_t>;

/// The cuts into up to kMaxLevels segments of least squares (Fisher, JASA 53, 1958), by their number.
std::vector<Ends> least_squares_cuts(const std::vector<double>& sorted) {
  const std::size_t count = sorted.size();
  std::vector<double> sum(count + 1, 0);
  std::vector<double> squares(count + 1, 0);
  for (std::size_t i = 0; i < count; ++i) {
    sum[i + 1] = sum[i] + sorted[i];
    squares[i + 1] = squares[i] + sorted[i] * sorted[i];
  }
  const auto cost = [&](std::size_t begin, std::size_t end) {
    const double part = sum[end] - sum[begin];
    return squares[end] - squares[begin] - part * part / static_cast<double>(end - begin);
  };
  std::vector<double> best(count + 1);
  for (std::size_t end = 1; end <= count; ++end) best[end] = cost(0, end);
  std::vector<std::vector<std::size_t>> cut_before{std::vector<std::size_t>(count + 1, 0)};
  std::vector<Ends> all{{count}};
  for (std::size_t level = 1; level < std::min(kMaxLevels, count); ++level) {
    std::vector<double> next(count + 1, std::numeric_limits<double>::infinity());
    std::vector<std::size_t> cuts(count + 1, 0);
    for (std::size_t end = level + 1; end <= count; ++end) {
      for (std::size_t cut = level; cut < end; ++cut) {
        const double with = best[cut] + cost(cut, end);
        if (with < next[end]) std::tie(next[end], cuts[end]) = std::pair(with, cut);
      }
    }
    best = next;
    cut_before.push_back(cuts);
    Ends ends{count};
    for (std::size_t at = level; at > 0; --at) ends.push_back(cut_before[at][ends.back()]);
    std::ranges::reverse(ends);
    all.push_back(ends);
  }
  return all;
}

/// Minus twice the classification likelihood, with BIC's penalty.
double criterion(const std::vector<double>& sorted, const Ends& ends) {
  const auto count = static_cast<double>(sorted.size());
  double squares = 0;
  double labels = 0;
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    const auto size = static_cast<double>(end - begin);
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += sorted[i];
    for (std::size_t i = begin; i < end; ++i) squares += std::pow(sorted[i] - sum / size, 2);
    labels += size * std::log(count / size);
    begin = end;
  }
  return count * std::log(squares / count + kMinScatter * kMinScatter) + 2 * labels +
         2 * static_cast<double>(ends.size()) * std::log(count);
}

double nearest(const std::vector<double>& centers, double value) {
  return *std::ranges::min_element(
      centers, [value](double a, double b) { return std::fabs(value - a) < std::fabs(value - b); });
}

/// Values that are faster than the scatter of the fastest level has them: the level that they have, or none.
/// The counts below each value are held against chance (in the manner of Berk & Jones, Z.
/// Wahrscheinlichkeitstheorie 47, 1979), so that two of hundreds suffice where they are far away.
std::optional<double> faster_level(const std::vector<double>& sorted, const Levels& levels) {
  constexpr double kByChance = 1e-3;
  constexpr std::size_t kMinValues = 2;
  const double center = levels.centers.front();
  const auto of_level = static_cast<std::size_t>(
      std::ranges::count_if(sorted, [&](double value) { return nearest(levels.centers, value) == center; }));
  const boost::math::students_t spread = spread_of(of_level);
  std::size_t fast = 0;
  for (std::size_t count = kMinValues; 2 * count <= of_level && sorted[count - 1] < center; ++count) {
    const double beyond = (center - sorted[count - 1]) / levels.sigma;
    const double expected =
        static_cast<double>(of_level) * boost::math::cdf(boost::math::complement(spread, beyond));
    const double chance = boost::math::gamma_p(static_cast<double>(count), expected);  // Poisson's
    if (chance < kByChance) fast = count;
  }
  if (fast == 0) return std::nullopt;
  return median({sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(fast)});
}

/// The pairs of a rail, each by its slower direction, of which the quickest time counts.
std::vector<PairTime> pairs_of(const PairTable& table, int rail) {
  std::map<std::pair<int, int>, double> quickest;
  for (const RailTime& time : table.times) {
    if (time.rail != rail || !(time.seconds > 0)) continue;
    double& seconds = quickest.try_emplace({time.from, time.to}, time.seconds).first->second;
    seconds = std::min(seconds, time.seconds);
  }
  std::map<std::pair<int, int>, double> slower;
  for (const auto& [direction, seconds] : quickest) {
    double& of = slower.try_emplace(std::minmax(direction.first, direction.second), seconds).first->second;
    of = std::max(of, seconds);
  }
  std::vector<PairTime> pairs;
  for (const auto& [pair, seconds] : slower) pairs.push_back({pair.first, pair.second, std::log(seconds)});
  return pairs;
}

/// Why this design cannot tell of a node whose pairs neither clear nor name it.
std::string why_unclear(const NodeStanding& node, const PairElimination& found, double clears_below) {
  if (std::isinf(found.line))
    return fmt::format("fewer than {} pairs do not say how healthy ones scatter", kMinPairs);
  if (clears_below <= 0)
    return fmt::format(
        "pairs scatter by {:.1f} % (robust standard deviation), too much to see a loss of 10 %",
        100 * found.levels.sigma);
  if (node.slow > 0)
    return fmt::format(
        "{} slow ({}), and a node at the other end, or a path, may be the slow one",
        node.pairs == 1 ? "its only pair is" : fmt::format("{} of its {} pairs are", node.slow, node.pairs),
        percent_slower(node.more));
  if (found.levels.centers.size() > 1)
    return fmt::format(
        "its pairs are no faster than the slower of {} levels, {} apart: it is below another leaf switch, or "
        "slow. {}",
        found.levels.centers.size(),
        percent_slower(found.levels.centers.back() - found.levels.centers.front()), kMeasureAmongThem);
  return fmt::format(
      "its pairs take {}: too slow to clear it, and too near the others' scatter (line {}) to name it",
      time_words(node.more), percent_slower(found.line));
}

bool is_slow(const PairTime& pair, const PairElimination& found) {
  return pair.log_time > found.levels.centers.back() + found.line;
}

/// How many pairs a node has, how many of them are slow, and whether one clears it: below what is returned.
/// Any of its pairs may, so that each does by as much less chance as nodes have of them.
double count_pairs(const std::vector<PairTime>& pairs, PairElimination& found) {
  std::vector<std::vector<double>> more(found.nodes.size());
  for (const PairTime& pair : pairs) {
    for (const int node : {pair.a, pair.b}) {
      NodeStanding& of = found.nodes[slot_of(node)];
      ++of.pairs;
      of.slow += is_slow(pair, found) ? 1 : 0;
      more[slot_of(node)].push_back(pair.log_time - found.levels.centers.back());
    }
  }
  std::vector<double> counts;
  for (std::size_t node = 0; node < more.size(); ++node) {
    if (more[node].empty()) continue;
    counts.push_back(found.nodes[node].pairs);
    found.nodes[node].more = median(more[node]);
  }
  if (pairs.size() < kMinPairs) return -1;
  const double clears_below = std::min(found.line, clear_below(found.levels, pairs.size(), median(counts)));
  for (const PairTime& pair : pairs) {
    if (pair.log_time > found.levels.centers.front() + clears_below) continue;
    for (const int node : {pair.a, pair.b}) found.nodes[slot_of(node)].standing = Standing::cleared;
  }
  return clears_below;
}

/// A slow pair of two that are cleared is a path; of one that is, the other is slow if all of its pairs are,
/// and two of them say so: one alone says it only by more than what paths are seen to cost.
void name_what_nothing_clears(const std::vector<PairTime>& pairs, double clears_below,
                              PairElimination& found) {
  const auto is_cleared = [&](int node) { return found.nodes[slot_of(node)].standing == Standing::cleared; };
  double slowest_path = found.levels.centers.back();
  std::vector<std::vector<double>> with_cleared(found.nodes.size());
  for (const PairTime& pair : pairs) {
    const bool clears = pair.log_time <= found.levels.centers.front() + clears_below;
    if (is_cleared(pair.a) && is_cleared(pair.b)) {
      if (!clears) slowest_path = std::max(slowest_path, pair.log_time);
      if (is_slow(pair, found))
        found.paths.push_back({pair.a, pair.b, pair.log_time - found.levels.centers.back()});
    } else if (is_cleared(pair.a) != is_cleared(pair.b)) {
      with_cleared[slot_of(is_cleared(pair.a) ? pair.b : pair.a)].push_back(pair.log_time);
    }
  }
  for (std::size_t node = 0; node < found.nodes.size(); ++node) {
    NodeStanding& of = found.nodes[node];
    const std::vector<double>& with = with_cleared[node];
    const bool is_all_slow = of.pairs > 0 && of.slow == of.pairs && !with.empty();
    if (is_all_slow && (with.size() > 1 || with.front() > slowest_path + found.line))
      of.standing = Standing::slow;
  }
  const double apart = found.levels.centers.back() - found.levels.centers.front();
  std::vector<double> slow;
  for (const NodeStanding& node : found.nodes)
    if (node.standing == Standing::slow) slow.push_back(node.more);
  for (NodeStanding& node : found.nodes) {
    const auto alike =
        std::ranges::count_if(slow, [&](double more) { return std::fabs(more - node.more) < found.line; });
    if (node.standing == Standing::slow && node.more + apart < kMaxLeafCost && alike > 1) {
      node.standing = Standing::unclear;
      node.why = fmt::format("{} as slow ({}): they may be below another leaf switch. {}",
                             alike == 2 ? "another is" : fmt::format("{} others are", alike - 1),
                             percent_slower(node.more), kMeasureAmongThem);
    }
  }
}

}  // namespace

Levels levels_of(std::vector<double> values) {
  std::ranges::sort(values);
  Levels levels{{median(values)}, 0};
  if (values.size() <= kMaxForLevels) {
    Ends best;
    double least = std::numeric_limits<double>::infinity();
    for (const Ends& ends : least_squares_cuts(values)) {
      const double now = criterion(values, ends);
      if (now < least) std::tie(least, best) = std::pair(now, ends);
    }
    const std::size_t smallest = std::max<std::size_t>(4, (values.size() + 9) / 10);
    std::vector<std::vector<double>> parts;
    std::size_t begin = 0;
    for (const std::size_t end : best) {
      const std::vector<double> part(values.begin() + static_cast<std::ptrdiff_t>(begin),
                                     values.begin() + static_cast<std::ptrdiff_t>(end));
      begin = end;
      if (!parts.empty() && median(part) - median(parts.back()) < kMatters)
        parts.back().insert(parts.back().end(), part.begin(), part.end());
      else
        parts.push_back(part);
    }
    std::erase_if(parts, [smallest](const auto& part) { return part.size() < smallest; });
    if (!parts.empty()) levels.centers.clear();
    for (const std::vector<double>& part : parts) levels.centers.push_back(median(part));
  }
  std::vector<double> away;
  for (const double value : values) away.push_back(std::fabs(value - nearest(levels.centers, value)));
  levels.sigma = std::max(kMinScatter, kToSigma * median(away));
  if (const std::optional<double> fast = faster_level(values, levels))
    levels.centers.insert(levels.centers.begin(), *fast);
  return levels;
}

double healthy_deviations(std::size_t count, double beyond) {
  return boost::math::quantile(boost::math::complement(spread_of(count), beyond));
}

double clear_below(const Levels& levels, std::size_t count, double tries) {
  constexpr double kMayBeCleared = 1e-3;
  return kMustBeSeen - healthy_deviations(count, kMayBeCleared / tries) * levels.sigma;
}

PairElimination pair_elimination(const PairTable& table, int rail) {
  PairElimination found;
  found.nodes.resize(table.nodes.size());
  const std::vector<PairTime> pairs = pairs_of(table, rail);
  if (pairs.empty()) return found;
  std::vector<double> values;
  for (const PairTime& pair : pairs) values.push_back(pair.log_time);
  found.levels = levels_of(values);
  const double sigma = found.levels.sigma;
  found.line = pairs.size() < kMinPairs ? std::numeric_limits<double>::infinity()
                                        : std::max(kMatters, healthy_deviations(pairs.size()) * sigma);
  const double clears_below = count_pairs(pairs, found);
  name_what_nothing_clears(pairs, clears_below, found);
  for (NodeStanding& node : found.nodes) {
    if (node.pairs > 0 && node.standing == Standing::unclear && node.why.empty())
      node.why = why_unclear(node, found, clears_below);
  }
  return found;
}

}  // namespace collbench::analysis
