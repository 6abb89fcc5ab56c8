#include "tools/burnin/attribution/pairs/node_groups.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "base/statistics.hpp"
#include "tools/burnin/attribution/pairs/pair_elimination.hpp"

namespace collbench::analysis {
namespace {

constexpr std::size_t kMaxNodes = 4096;
constexpr std::size_t kMinMembers = 3;
constexpr double kMinApart = 0.75 * kMatters;  // less is no node's fault, either
constexpr double kClip = 3 * kMatters;         // a slow path says no more than that it is slow

/// The pairs of a table, each by the median of its directions and rails.
std::vector<PairTime> pairs_of(const PairTable& table) {
  std::vector<std::vector<double>> of_rail(slot_of(table.rails));
  for (const RailTime& time : table.times)
    if (time.seconds > 0 && time.repeat == 0) of_rail[slot_of(time.rail)].push_back(std::log(time.seconds));
  std::vector<double> usual;
  for (const auto& times : of_rail) usual.push_back(times.empty() ? 0 : median(times));
  std::map<std::pair<int, int>, std::vector<double>> times;
  for (const RailTime& time : table.times) {
    if (time.seconds > 0 && time.repeat == 0)
      times[std::minmax(time.from, time.to)].push_back(std::log(time.seconds) - usual[slot_of(time.rail)]);
  }
  std::vector<PairTime> pairs;
  for (auto& [ends, of] : times) pairs.push_back({ends.first, ends.second, reordering_median(of)});
  return pairs;
}

struct Fit {
  std::vector<int> labels;
  std::vector<double> parts;  ///< by node
  double inside = 0;
  double across = 0;
  double scale = kMinScatter;  ///< mean deviation
  double criterion = std::numeric_limits<double>::infinity();
};

class GroupSearch {
 public:
  GroupSearch(std::vector<PairTime> pairs, std::size_t nodes) : pairs_(std::move(pairs)), partners_(nodes) {
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      partners_[slot_of(pairs_[i].a)].emplace_back(pairs_[i].b, i);
      partners_[slot_of(pairs_[i].b)].emplace_back(pairs_[i].a, i);
    }
  }

  /// One level: each node by itself, and no pair inside.
  [[nodiscard]] Fit without() const {
    std::vector<int> labels(partners_.size());
    std::iota(labels.begin(), labels.end(), 0);
    return fit_of(labels, false);
  }

  /// The best of a search that begins with these parts, and groups of pairs below this middle of the levels,
  /// or of this share of the pairs.
  [[nodiscard]] Fit with(std::vector<double> parts, std::optional<double> middle, double inside = 0) const {
    constexpr int kTurns = 5;
    Fit best;
    for (int turn = 0; turn < kTurns; ++turn) {
      std::vector<double> values;
      for (const PairTime& pair : pairs_) {
        const auto [less, more] = std::minmax(parts[slot_of(pair.a)], parts[slot_of(pair.b)]);
        values.push_back(pair.log_time - more - std::min(less, 0.0));  // of two slow ones the slower
      }
      if (!middle) middle = (quantile(values, inside / 2) + quantile(values, (1 + inside) / 2)) / 2;
      const Fit now = fit_of(likeliest(values, *middle), true);
      if (now.criterion >= best.criterion) break;
      best = now;
      parts = now.parts;
      middle = (now.inside + now.across) / 2;
    }
    return best.labels.empty() ? best : refined(best);
  }

  /// A group has pairs that are as fast as those inside the others; slow nodes have not.
  [[nodiscard]] bool has_fast_pairs(const Fit& fit, int label) const {
    constexpr double kOfMostSlow = 0.1;  // two thirds of a group's nodes may be
    std::vector<double> more;
    for (const PairTime& pair : pairs_)
      if (is_inside(fit, true, pair) && fit.labels[slot_of(pair.a)] == label)
        more.push_back(pair.log_time - fit.inside);
    return !more.empty() && quantile(more, kOfMostSlow) < kMinApart;
  }

 private:
  /// A slow node's pairs inside its group look like pairs across, and all nodes of the largest group may be
  /// said to be by themselves, and those of the others slow: tried is whether those who are alone are a
  /// group, and each node where its pairs fit best, first all of them at once, for two that are slow hide
  /// each other.
  [[nodiscard]] Fit refined(Fit best) const {
    constexpr int kPasses = 3;
    const auto keep_if_better = [&](const std::vector<int>& labels) {
      if (Fit now = fit_of(labels, true); now.criterion < best.criterion) best = std::move(now);
    };
    for (int pass = 0; pass < kPasses; ++pass) {
      std::vector<int> size = sizes_of(best.labels);
      std::vector<int> joined = best.labels;
      const auto is_alone = [&size](int label) { return size[slot_of(label)] == 1; };
      if (const auto alone = std::ranges::find_if(joined, is_alone); alone != joined.end()) {
        std::ranges::replace_if(joined, is_alone, int{*alone});
        keep_if_better(joined);
      }
      std::vector<int> labels = best.labels;
      size = sizes_of(labels);
      for (std::size_t node = 0; node < labels.size(); ++node) {
        if (pass == 0 && std::cmp_greater_equal(size[slot_of(labels[node])], kMinMembers)) continue;
        labels[node] = fitting_label(node, best, size);
        ++size[slot_of(labels[node])];  // an empty one is no other's
      }
      keep_if_better(labels);
    }
    return best;
  }

  [[nodiscard]] static std::vector<int> sizes_of(const std::vector<int>& labels) {
    std::vector<int> size(labels.size(), 0);
    for (const int label : labels) ++size[slot_of(label)];
    return size;
  }

  /// Where a node's pairs are fitted best by a part of its own, of the groups that it met and none.
  [[nodiscard]] int fitting_label(std::size_t node, const Fit& fit, const std::vector<int>& size) const {
    if (partners_[node].empty()) return fit.labels[node];  // it did not answer
    std::set<int> labels{fit.labels[node]};
    if (const auto empty = std::ranges::find(size, 0); empty != size.end())
      labels.insert(static_cast<int>(empty - size.begin()));
    for (const auto& [partner, pair] : partners_[node])
      if (size[slot_of(fit.labels[slot_of(partner)])] > 1) labels.insert(fit.labels[slot_of(partner)]);
    int best = fit.labels[node];
    double least = std::numeric_limits<double>::infinity();
    for (const int label : labels) {
      std::vector<double> rests;
      for (const auto& [partner, pair] : partners_[node])
        rests.push_back(pairs_[pair].log_time - fit.parts[slot_of(partner)] -
                        (fit.labels[slot_of(partner)] == label ? fit.inside : fit.across));
      const double part = median(rests);
      double cost = 0;
      for (const double rest : rests) cost += std::min(std::fabs(rest - part), kClip);
      cost =
          cost / fit.scale + std::log(static_cast<double>(size.size()) / std::max(1, size[slot_of(label)]));
      if (cost < least) std::tie(least, best) = std::pair(cost, label);
    }
    return best;
  }

  /// Moves nodes and joins groups while the likelihood gains: a pair inside a group gains what it is below
  /// the middle of the levels.
  [[nodiscard]] std::vector<int> likeliest(const std::vector<double>& values, double middle) const {
    std::vector<double> spread = values;
    const double usual = reordering_median(spread);
    for (double& value : spread) value = std::fabs(value - usual);
    const double limit = std::max(2 * kToSigma * reordering_median(spread), kMatters / 2);
    std::vector<double> gains;
    // What is slower than any level by far is a slow path, and says nothing of groups.
    for (const double value : values)
      gains.push_back(value > middle + 4 * limit ? 0 : std::clamp(middle - value, -limit, limit));
    std::vector<int> labels(partners_.size());
    std::iota(labels.begin(), labels.end(), 0);
    constexpr int kPasses = 100;
    for (int pass = 0; pass < kPasses; ++pass) {
      const bool moved = move_nodes(gains, labels);
      if (!join_groups(gains, labels) && !moved) break;
    }
    return labels;
  }

  bool move_nodes(const std::vector<double>& gains, std::vector<int>& labels) const {
    constexpr int kPasses = 20;
    std::vector<int> size = sizes_of(labels);
    for (int pass = 0; pass < kPasses; ++pass) {
      bool moved = false;
      for (std::size_t node = 0; node < labels.size(); ++node) {
        const int best = best_label(node, gains, labels, size);
        if (best == labels[node]) continue;
        --size[slot_of(labels[node])];
        ++size[slot_of(best)];
        labels[node] = best;
        moved = true;
      }
      if (!moved) return pass > 0;
    }
    return true;
  }

  /// The group that a node gains most by, its own if none is better; an empty one where that costs.
  [[nodiscard]] int best_label(std::size_t node, const std::vector<double>& gains,
                               const std::vector<int>& labels, const std::vector<int>& size) const {
    std::map<int, double> to{{labels[node], 0}};
    for (const auto& [partner, pair] : partners_[node]) to[labels[slot_of(partner)]] += gains[pair];
    int best = labels[node];
    double most = to[best];
    const auto empty = most < 0 ? std::ranges::find(size, 0) : size.end();
    if (empty != size.end()) std::tie(best, most) = std::pair(static_cast<int>(empty - size.begin()), 0.0);
    // In the order of its partners: of equal ones the first.
    for (const auto& [partner, pair] : partners_[node]) {
      const int label = labels[slot_of(partner)];
      if (to[label] > most) std::tie(best, most) = std::pair(label, to[label]);
    }
    return best;
  }

  bool join_groups(const std::vector<double>& gains, std::vector<int>& labels) const {
    std::map<std::pair<int, int>, double> between;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const auto groups = std::minmax(labels[slot_of(pairs_[i].a)], labels[slot_of(pairs_[i].b)]);
      if (groups.first != groups.second) between[groups] += gains[i];
    }
    const auto best =
        std::ranges::max_element(between, [](const auto& a, const auto& b) { return a.second < b.second; });
    if (best == between.end() || best->second <= 0) return false;
    std::ranges::replace(labels, best->first.second, best->first.first);
    return true;
  }

  [[nodiscard]] static bool is_inside(const Fit& fit, bool two_levels, const PairTime& pair) {
    return two_levels && fit.labels[slot_of(pair.a)] == fit.labels[slot_of(pair.b)];
  }
  /// Of two slow nodes the slower sets the rate, or what they lose adds up: as the pair says.
  [[nodiscard]] static double rest(const Fit& fit, bool two_levels, const PairTime& pair) {
    const double a = fit.parts[slot_of(pair.a)];
    const double b = fit.parts[slot_of(pair.b)];
    const double rest = pair.log_time - (is_inside(fit, two_levels, pair) ? fit.inside : fit.across) - a - b;
    const double of_slower = rest + std::max(0.0, std::min(a, b));
    return std::fabs(of_slower) < std::fabs(rest) ? of_slower : rest;
  }

  /// Medians in turn, of the levels and of each node's pairs.
  [[nodiscard]] Fit fit_of(const std::vector<int>& labels, bool two_levels) const {
    constexpr int kPasses = 10;
    Fit fit{labels, std::vector<double>(partners_.size(), 0)};
    // Who is alone may be slow, so that pairs of groups say what is across, where there are any.
    const std::vector<int> size = sizes_of(labels);
    const auto is_between = [&](const PairTime& pair) {
      const int a = labels[slot_of(pair.a)];
      const int b = labels[slot_of(pair.b)];
      return a != b && size[slot_of(a)] > 1 && size[slot_of(b)] > 1;
    };
    const bool any_between = two_levels && std::ranges::any_of(pairs_, is_between);
    std::vector<double> values;
    const auto settle = [&values](double& level) {
      if (!values.empty()) level += reordering_median(values);
      values.clear();
    };
    for (int pass = 0; pass < kPasses; ++pass) {
      for (const bool inside : {true, false}) {
        for (const PairTime& pair : pairs_)
          if (is_inside(fit, two_levels, pair) == inside && (!any_between || inside || is_between(pair)))
            values.push_back(rest(fit, two_levels, pair));
        settle(inside ? fit.inside : fit.across);
      }
      for (std::size_t node = 0; node < partners_.size(); ++node) {
        for (const auto& [partner, pair] : partners_[node])
          values.push_back(rest(fit, two_levels, pairs_[pair]));
        settle(fit.parts[node]);
      }
      const double middle = median(fit.parts);
      for (double& part : fit.parts) part -= middle;
      fit.inside += 2 * middle;
      fit.across += 2 * middle;
    }
    double deviation = 0;
    for (const PairTime& pair : pairs_) deviation += std::min(std::fabs(rest(fit, two_levels, pair)), kClip);
    fit.scale = deviation / static_cast<double>(pairs_.size()) + kMinScatter;
    fit.criterion = criterion(fit, two_levels);
    return fit;
  }

  [[nodiscard]] double criterion(const Fit& fit, bool two_levels) const {
    const auto count = static_cast<double>(pairs_.size());
    const auto nodes = static_cast<double>(partners_.size());
    std::map<int, double> sizes;
    for (const int label : fit.labels) ++sizes[label];
    double labels = 0;
    double alone = 0;  // one label for all who are in no group
    for (const auto& [label, size] : sizes)
      (size > 1 ? labels : alone) += size > 1 ? size * std::log(nodes / size) : 1;
    if (alone > 0) labels += alone * std::log(nodes / alone);
    // Of many nodes with few pairs each, the kind of each pair is said with less than the group of each node.
    const auto inside = static_cast<double>(std::ranges::count_if(
        pairs_, [&](const PairTime& pair) { return is_inside(fit, two_levels, pair); }));
    double kinds = 0;
    for (const double of_kind : {inside, count - inside})
      if (of_kind > 0) kinds += of_kind * std::log(count / of_kind);
    double matter = 0;  // parts, each as far as it matters
    for (const double part : fit.parts) matter += std::min(1.0, std::fabs(part) / kMatters);
    return 2 * count * std::log(fit.scale) + 2 * (two_levels ? std::min(labels, kinds) : 0) +
           (matter + (two_levels ? 2 : 1)) * std::log(count);
  }

  std::vector<PairTime> pairs_;
  std::vector<std::vector<std::pair<int, std::size_t>>> partners_;  ///< with the number of the pair
};

}  // namespace

NodeGroups node_groups(const PairTable& table) {
  NodeGroups groups;
  if (table.nodes.size() < 2 * kMinMembers || table.nodes.size() > kMaxNodes) return groups;
  std::vector<PairTime> pairs = pairs_of(table);
  if (pairs.size() < table.nodes.size()) return groups;
  const GroupSearch search(std::move(pairs), table.nodes.size());
  const Fit without = search.without();
  Fit best = without;
  const auto keep_if_better = [&best](const Fit& fit) {
    if (fit.criterion < best.criterion && fit.across - fit.inside > kMinApart) best = fit;
  };
  for (const double inside : {0.05, 0.1, 0.2, 0.35, 0.5, 0.75})
    keep_if_better(search.with(std::vector<double>(table.nodes.size(), 0), std::nullopt, inside));
  // A few nodes that are fast with one another are slow with all others beside one large group.
  for (const double middle : {-0.05, -0.1}) keep_if_better(search.with(without.parts, middle));
  groups.group_of_node = best.labels;
  std::map<int, std::vector<int>> members;
  for (std::size_t node = 0; node < best.labels.size(); ++node)
    members[best.labels[node]].push_back(static_cast<int>(node));
  for (const auto& [label, nodes] : members) {
    if (!search.has_fast_pairs(best, label))
      for (const int node : nodes) groups.group_of_node[slot_of(node)] = -1 - node;
    else if (nodes.size() >= kMinMembers)
      groups.members.push_back(nodes);
  }
  if (groups.members.size() < 2) return {};
  groups.across = best.across - best.inside;
  return groups;
}

}  // namespace collbench::analysis
