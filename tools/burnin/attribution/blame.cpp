#include "tools/burnin/attribution/blame.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/statistics.hpp"
#include "tools/burnin/attribution/blame_words.hpp"
#include "tools/burnin/attribution/pairs/alone_times.hpp"
#include "tools/burnin/attribution/pairs/leaf_doubt.hpp"
#include "tools/burnin/attribution/pairs/node_groups.hpp"
#include "tools/burnin/attribution/pairs/pair_design.hpp"
#include "tools/burnin/attribution/pairs/pair_effects.hpp"
#include "tools/burnin/attribution/pairs/pair_elimination.hpp"
#include "tools/burnin/attribution/pairs/pair_repeats.hpp"
#include "tools/burnin/attribution/pairs/rail_parts.hpp"
#include "tools/burnin/attribution/steadiness.hpp"

namespace collbench::analysis {
namespace {

struct SlowPath {
  double log_time = 0;  ///< the worst of two nodes, beyond what they explain
  int rail = 0;
  bool confirmed = false;   ///< no other pair ran, and most launches were slow
  std::ptrdiff_t slow = 0;  ///< launches alone that were slow
  std::size_t launches = 0;
};

class Finder {
 public:
  Finder(const PairTable& table, double expected_seconds, std::vector<UnsteadyPart> unsteady,
         bool groups_were_found)
      : table_(table),
        groups_were_found_(groups_were_found),
        expected_seconds_(expected_seconds),
        unsteady_(std::move(unsteady)),
        design_(pair_design(table).kind),
        effects_(pair_effects(table)),
        rails_(rail_parts(table, effects_, expected_seconds)),
        sides_(table, design_, rails_),
        alone_(alone_times(table, effects_)) {}

  Attribution found() {
    find_rails();
    find_leaves();
    find_unsteady();
    find_nodes();
    find_paths();
    const MedianDoubt doubt = median_doubt(table_, effects_, [this](int node, int rail) {
      return blamed_.contains(node) || rails_[slot_of(rail)].slow(node);
    });
    slower_half_ = doubt.slower_half;
    std::ranges::sort(blames_, is_worse);
    Attribution all{effects_, blames_, {}, doubt.why, std::max(kMatters, line_of_pairs(table_, effects_)),
                    cleared_};
    for (const RailParts& rail : rails_) all.line_of_nodes = std::max(all.line_of_nodes, rail.send.line);
    all.blind_below = std::max(all.blind_below, all.line_of_nodes);
    for (int node = 0; node < node_count(); ++node) all.nodes.push_back(verdict_of(node));
    return all;
  }

 private:
  [[nodiscard]] int node_count() const { return static_cast<int>(table_.nodes.size()); }
  [[nodiscard]] const std::string& name_of(int node) const { return table_.nodes[slot_of(node)]; }

  void add(Blame blame, double log_time, double line, const std::string& who) {
    add_finding(blames_, std::move(blame), log_time, line, who);
  }

  void find_rails() {
    for (const SlowRail& slow : slow_rails(effects_, table_.rails)) {
      add({.kind = BlameKind::rail,
           .rail = slow.rail,
           .evidence = fmt::format("all pairs of rail {} take {}", slow.rail,
                                   time_words(slow.more, "those of the other rails"))},
          slow.more, slow.line, "");
    }
  }

  /// All nodes of a leaf on one rail, and not all nodes.
  void find_leaves() {
    std::map<int, std::vector<int>> leaves;
    for (std::size_t node = 0; node < table_.leaf_of_node.size(); ++node)
      leaves[table_.leaf_of_node[node]].push_back(static_cast<int>(node));
    if (groups_were_found_ || leaves.size() < 3) return;  // of two nobody knows which is the odd one
    for (const auto& [leaf, members] : leaves) {
      for (int rail = 0; rail < table_.rails; ++rail) {
        const RailParts& one = rails_[slot_of(rail)];
        const bool all =
            members.size() > 1 && std::ranges::all_of(members, [&](int node) { return one.slow(node); });
        if (!all) continue;
        std::vector<double> parts;
        for (const int node : members) {
          explained_.insert({node, rail});
          blamed_.insert(node);
          parts.push_back(one.worst(node));
        }
        add({.kind = BlameKind::leaf,
             .nodes = members,
             .rail = rail,
             .evidence =
                 fmt::format("all {} nodes of leaf {} take {}{}, and {} of the {} of other leaves",
                             members.size(), leaf, time_words(median(parts)), table_.of_rail(rail, " on"),
                             slow_nodes(rail) - static_cast<std::ptrdiff_t>(members.size()),
                             table_.nodes.size() - members.size())},
            median(parts), one.send.line, "");
      }
    }
  }

  [[nodiscard]] std::ptrdiff_t slow_nodes(int rail) const {
    std::ptrdiff_t count = 0;
    for (int node = 0; node < node_count(); ++node) count += rails_[slot_of(rail)].slow(node) ? 1 : 0;
    return count;
  }

  /// Whose part on a rail comes and goes.
  void find_unsteady() {
    for (const UnsteadyPart& part : unsteady_) {
      if (!explained_.insert({part.node, part.rail}).second) continue;
      blamed_.insert(part.node);
      add({.kind = nic_kind(table_.rails, part.sends, part.receives),
           .nodes = {part.node},
           .rail = part.rail,
           .confirmed = part.certain,
           .evidence = fmt::format(
               "{}{} comes and goes: it takes {} in {} of {} directions with it, with {} others, and in "
               "none of {} without it; nothing else ran{}",
               name_of(part.node), table_.of_rail(part.rail), time_words(part.log_time), part.slow,
               part.measured, part.partners, part.without,
               part.certain ? "" : "; so few launches may be slow by chance")},
          part.log_time, part.line, name_of(part.node));
    }
  }

  /// On which a node is slow by itself: without those on which others' traffic was, or other groups are.
  [[nodiscard]] std::vector<int> slow_rails_of(int node) {
    std::vector<int> slow;
    for (int rail = 0; rail < table_.rails; ++rail) {
      if (!rails_[slot_of(rail)].slow(node) || explained_.contains({node, rail})) continue;
      if (is_slow_elsewhere_only(table_, effects_, rails_[slot_of(rail)], node, rail, groups_were_found_))
        elsewhere_[rail].push_back(node);
      else if (cleared(node, rail))
        cleared_.push_back({.node = node, .rail = rail});
      else
        slow.push_back(rail);
    }
    return slow;
  }

  void find_nodes() {
    for (int node = 0; node < node_count(); ++node) {
      const std::vector<int> slow = slow_rails_of(node);
      if (slow.empty()) continue;
      if (sides_.has_slower_level(rails_, node) || may_share_leaf(table_, effects_, rails_, design_, node)) {
        unclear_.insert(node);
        continue;
      }
      blamed_.insert(node);
      if (table_.rails > 1 && std::cmp_equal(slow.size(), table_.rails))
        add_host(node, slow);
      else
        for (const int rail : slow) add_nic(node, rail);
    }
    for (const auto& [rail, nodes] : elsewhere_) {
      std::vector<std::string> names;
      std::vector<double> parts;
      for (const int node : nodes) {
        names.push_back(name_of(node));
        parts.push_back(rails_[slot_of(rail)].worst(node));
      }
      add({.kind = BlameKind::trunk,
           .rail = rail,
           .evidence = fmt::format("{}{}: slow with hosts of other groups, and not with most of one group: "
                                   "the path between groups, or several paths",
                                   fmt::join(names, ", "), table_.of_rail(rail))},
          median(parts), rails_[slot_of(rail)].send.line, "");
    }
  }

  /// What the times alone say of the ways in which a node was slow; none: they cannot be compared.
  [[nodiscard]] std::optional<double> alone_worst(int node, int rail) const {
    const RailParts& one = rails_[slot_of(rail)];
    const IsFine is_fine = [this](int other, int on) { return !rails_[slot_of(on)].slow(other); };
    std::optional<double> worst;
    for (const bool sends : {true, false}) {
      if (!(sends ? one.send : one.receive).slow(node)) continue;
      const std::optional<double> part = alone_part(alone_.table, alone_.effects, node, rail, sends, is_fine);
      if (part) worst = std::max(worst.value_or(*part), *part);
    }
    return worst;
  }

  /// Slow in company and not alone: others' traffic, and no fault of the node's.
  [[nodiscard]] bool cleared(int node, int rail) const {
    const std::optional<double> alone = alone_worst(node, rail);
    const RailParts& one = rails_[slot_of(rail)];
    return alone && *alone <= one.send.line && !one.only_short(node);
  }

  /// By how much its quickest pair falls short of what is expected (log).
  [[nodiscard]] double shortfall(int node, int rail) const {
    double quickest = 0;
    for (const DirectionParts* const way : {&rails_[slot_of(rail)].send, &rails_[slot_of(rail)].receive}) {
      if (way->short_of_expected.contains(node)) quickest = std::max(quickest, way->quickest[slot_of(node)]);
    }
    return std::log(quickest / expected_seconds_);
  }

  void add_host(int node, const std::vector<int>& slow) {
    std::vector<double> parts;
    double line = 0;
    bool confirmed = true;
    for (const int rail : slow) {
      const RailParts& one = rails_[slot_of(rail)];
      const std::optional<double> alone = alone_worst(node, rail);
      confirmed = confirmed && alone.has_value();
      parts.push_back(one.only_short(node) ? shortfall(node, rail) : alone.value_or(one.worst(node)));
      line = std::max(line, one.only_short(node) ? std::log(kBadTimes) : one.send.line);
    }
    add({.kind = BlameKind::host,
         .nodes = {node},
         .confirmed = confirmed,
         .evidence =
             fmt::format("{} takes longer on all {} rails ({} to {}), so it is no single NIC or cable",
                         name_of(node), table_.rails, percent_slower(*std::ranges::min_element(parts)),
                         percent_slower(*std::ranges::max_element(parts)))},
        median(parts), line, name_of(node));
  }

  /// What the other rails of a node say of its host.
  [[nodiscard]] std::string other_rails(int node, int rail) const {
    if (table_.rails == 1) return "with one rail NIC, cable and host cannot be told apart";
    int slow = 0;
    int unknown = 0;
    for (int other = 0; other < table_.rails; ++other) {
      if (other == rail) continue;
      const bool is_slow = rails_[slot_of(other)].slow(node);
      slow += is_slow ? 1 : 0;
      const bool is_known = has_parts(node, other) && std::isfinite(rails_[slot_of(other)].send.line);
      unknown += is_slow || is_known ? 0 : 1;
    }
    if (slow + unknown > 0)
      return fmt::format("of its other rails {} slow, {} not known, of {}", slow, unknown, table_.rails - 1);
    return fmt::format("its other {} not slow, so it is not the host",
                       table_.rails == 2 ? "rail is" : fmt::format("{} rails are", table_.rails - 1));
  }

  void add_nic(int node, int rail) {
    const RailParts& one = rails_[slot_of(rail)];
    const std::optional<double> alone = alone_worst(node, rail);
    Blame blame{.kind = nic_kind(table_.rails, one.send.slow(node), one.receive.slow(node)),
                .nodes = {node},
                .rail = rail,
                .confirmed = alone.has_value()};
    if (one.only_short(node)) {
      const double missing = shortfall(node, rail);
      blame.against_expected = true;
      blame.evidence = fmt::format(
          "{}{}: its fastest pair makes {:.1f} % of what is expected, and most others make 95 % and more{}; "
          "{}",
          name_of(node), table_.of_rail(rail), 100 * std::exp(-missing), alone ? ", alone too" : "",
          other_rails(node, rail));
      add(std::move(blame), missing, std::log(kBadTimes), name_of(node));
      return;
    }
    blame.evidence = fmt::format(
        "{}{}: compared with the {}median it takes {} to send and {} to receive (line {}), {}; {}",
        name_of(node), table_.of_rail(rail), table_.rails > 1 ? "rail's " : "",
        time_words(one.send.values[slot_of(node)]), time_words(one.receive.values[slot_of(node)]),
        percent_slower(one.send.line),
        alone ? time_words(*alone) + " alone" : "with no times alone to compare", other_rails(node, rail));
    add(std::move(blame), alone.value_or(one.worst(node)), one.send.line, name_of(node));
  }

  [[nodiscard]] std::optional<std::pair<int, int>> leaves_of(int a, int b) const {
    if (table_.leaf_of_node.empty()) return std::nullopt;
    return std::minmax(table_.leaf_of_node[slot_of(a)], table_.leaf_of_node[slot_of(b)]);
  }

  [[nodiscard]] std::string path_evidence(const std::string& who, const SlowPath& path, double line,
                                          bool fine_with_others) const {
    return fmt::format(
        "{}{}: {} (line {}){}{}{}", who, table_.of_rail(path.rail), percent_slower(path.log_time),
        percent_slower(line), fine_with_others ? " while both are fine with others" : "",
        path.launches == 0   ? "; it was not measured alone"
        : path.launches == 1 ? ""
                             : fmt::format("; in {} of {} launches alone", path.slow, path.launches),
        table_.adaptive_routing ? "; with adaptive routing no link of the path can be named" : "");
  }

  /// Whether what slows a node there is known, or known not to be its own.
  [[nodiscard]] bool is_settled(int node, int rail) const {
    const auto elsewhere = elsewhere_.find(rail);
    return blamed_.contains(node) || explained_.contains({node, rail}) || unclear_.contains(node) ||
           std::ranges::any_of(
               cleared_,
               [&](const Cleared& one) { return one.node == node && !one.peer && one.rail == rail; }) ||
           (elsewhere != elsewhere_.end() &&
            std::ranges::find(elsewhere->second, node) != elsewhere->second.end());
  }

  /// Nodes that the scatter of all nodes' parts hides, and that are slow with most of those who are not.
  void find_slow_with_most(double line) {
    for (const SlowWithMost& one : slow_with_most(table_, effects_, line)) {
      if (is_settled(one.node, one.rail)) continue;
      blamed_.insert(one.node);
      add({.kind = nic_kind(table_.rails, true, true),
           .nodes = {one.node},
           .rail = one.rail,
           .evidence = fmt::format(
               "{}{}: slow with {} of {} others that are not slow with most, by {} in the median; {}",
               name_of(one.node), table_.of_rail(one.rail), one.excesses.size(), one.measured,
               percent_slower(median(one.excesses)), other_rails(one.node, one.rail))},
          median(one.excesses), line, name_of(one.node));
    }
  }

  /// Slow pairs of nodes that are fine with others: single ones are paths; a whole block of leaves is a
  /// trunk.
  void find_paths() {
    const double line = std::max(kMatters, line_of_pairs(table_, effects_));
    find_slow_with_most(line);
    const IsFine is_fine = [this](int node, int rail) { return !rails_[slot_of(rail)].slow(node); };
    std::map<std::pair<int, int>, SlowPath> slow;
    std::map<std::pair<int, int>, std::set<int>> slow_partners;  // by node and rail
    std::map<std::pair<int, int>, std::vector<double>> blocks;
    for (std::size_t i = 0; i < table_.times.size(); ++i) {
      const RailTime& time = table_.times[i];
      const double residual = effects_.residuals[i];
      if (std::isnan(residual)) continue;
      const auto leaves = leaves_of(time.from, time.to);
      if (leaves && effects_.classes[i] == 1) blocks[*leaves].push_back(residual);
      if (residual <= line || !has_parts(time.from, time.rail) || !has_parts(time.to, time.rail)) continue;
      const std::vector<double> alone =
          alone_path(alone_.table, alone_.effects, time.from, time.to, time.rail, is_fine);
      const std::ptrdiff_t slow_alone =
          std::ranges::count_if(alone, [line](double more) { return more > line; });
      if (!alone.empty() && slow_alone == 0) {  // others' traffic
        cleared_.push_back({std::min(time.from, time.to), std::max(time.from, time.to), time.rail});
        continue;
      }
      const bool is_confirmed = !alone.empty() && median(alone) > line;
      const double log_time = is_confirmed ? median(alone) : residual;
      slow_partners[{time.from, time.rail}].insert(time.to);
      slow_partners[{time.to, time.rail}].insert(time.from);
      const auto [worst, is_new] = slow.try_emplace(std::minmax(time.from, time.to));
      if (is_new || log_time > worst->second.log_time)
        worst->second = {log_time, time.rail, is_confirmed, slow_alone, alone.size()};
    }
    const std::set<std::pair<int, int>> trunks = find_trunks(blocks, line);
    for (const auto& [pair, worst] : slow) {
      const auto [a, b] = pair;
      const auto leaves = leaves_of(a, b);
      if (blamed_.contains(a) || blamed_.contains(b) || (leaves && trunks.contains(*leaves))) continue;
      const std::string who = name_of(a) + " and " + name_of(b);
      const auto only_here = [&slow_partners, &is_fine, rail = worst.rail](int node) {
        return slow_partners[{node, rail}].size() == 1 && is_fine(node, rail);
      };
      add({.kind = BlameKind::path,
           .nodes = {a, b},
           .rail = worst.rail,
           .confirmed = worst.confirmed,
           .alone_launches = worst.launches,
           .evidence = path_evidence(who, worst, line, only_here(a) && only_here(b))},
          worst.log_time, line, who);
    }
  }

  std::set<std::pair<int, int>> find_trunks(const std::map<std::pair<int, int>, std::vector<double>>& blocks,
                                            double line) {
    std::set<std::pair<int, int>> found;
    constexpr std::size_t kMinPairs = 4;
    if (groups_were_found_) return found;
    for (const auto& [leaves, residuals] : blocks) {
      if (blocks.size() < 3 || residuals.size() < kMinPairs || median(residuals) <= line) continue;
      found.insert(leaves);
      add({.kind = BlameKind::trunk,
           .evidence = fmt::format(
               "{} directions between leaf {} and leaf {} take {} in the median (line {})", residuals.size(),
               leaves.first, leaves.second, time_words(median(residuals)), percent_slower(line))},
          median(residuals), line, "");
    }
    return found;
  }

  /// Whether a node met enough others on a rail to know its own part; else that part is in its pairs'
  /// residuals.
  [[nodiscard]] bool has_parts(int node, int rail) const {
    const RailParts& one = rails_[slot_of(rail)];
    return !std::isnan(one.send.values[slot_of(node)]) && !std::isnan(one.receive.values[slot_of(node)]);
  }

  /// The first rail on which too little was measured of a node.
  [[nodiscard]] std::optional<int> untested_rail(int node) const {
    for (int rail = 0; rail < table_.rails; ++rail) {
      if (!has_parts(node, rail)) return rail;
    }
    return std::nullopt;
  }

  [[nodiscard]] NodeVerdict verdict_of(int node) const {
    const std::optional<int> untested = untested_rail(node);
    NodeVerdict verdict{node, Bucket::good, ""};
    for (const Blame& blame : blames_) {
      const bool is_mine = blame.nodes.size() == 1 && blame.nodes.front() == node;
      const bool touches = std::ranges::find(blame.nodes, node) != blame.nodes.end();
      if (is_mine && blame.confirmed && blame.times_slower > kBadTimes)
        return {node, Bucket::bad, blame.evidence};
      const bool may_be_mine = is_mine || blame.confirmed || blame.kind == BlameKind::leaf;
      if (touches && may_be_mine && verdict.bucket == Bucket::good)
        verdict = {node, Bucket::suspect, blame.evidence};
    }
    if (verdict.bucket != Bucket::good) return verdict;
    const bool may_be_of_faster_level = sides_.may_be_of_faster_level(rails_, node);
    if (may_be_of_faster_level && sides_.scatter_hides_a_tenth(node))
      return {node, Bucket::not_tested,
              "this design cannot tell: the rates of its side scatter by more than a loss of 10 %"};
    if (unclear_.contains(node) || may_be_of_faster_level)
      return {node, Bucket::not_tested,
              fmt::format("this design cannot tell: others are faster and others as slow, so it may be slow, "
                          "or below another leaf switch. {}",
                          kMeasureAmongThem)};
    const auto is_elsewhere = [node](const auto& of) {
      return std::ranges::find(of.second, node) != of.second.end();
    };
    if (groups_were_found_ && std::ranges::any_of(elsewhere_, is_elsewhere)) {
      return {node, Bucket::not_tested,
              "this design cannot tell: slow with hosts of other groups, and not with most of one group"};
    }
    if (untested) {
      return {node, Bucket::not_tested,
              fmt::format("measured with fewer than {} others{}", kMinPartners,
                          table_.of_rail(*untested, " on"))};
    }
    if (slower_half_.contains(node))
      return {node, Bucket::suspect, "not known: in none of the pairs that are faster than the median"};
    return verdict;
  }

  const PairTable& table_;
  bool groups_were_found_;
  double expected_seconds_;
  std::vector<UnsteadyPart> unsteady_;
  DesignKind design_;
  PairEffects effects_;
  std::vector<RailParts> rails_;
  SideLevels sides_;
  AloneTimes alone_;
  std::vector<Blame> blames_{};
  std::set<std::pair<int, int>> explained_{};  ///< node and rail, by a leaf
  std::set<int> blamed_{};
  std::set<int> unclear_{};
  std::map<int, std::vector<int>> elsewhere_{};  ///< by rail: who is slow with other groups only
  std::set<int> slower_half_{};
  std::vector<Cleared> cleared_{};
};

Attribution attribute_among(const PairTable& table, double expected_seconds, bool groups_were_found) {
  const std::vector<UnsteadyPart> unsteady = unsteady_parts(table, pair_effects(table));
  return Finder(without_slow_moments(table, unsteady), expected_seconds, unsteady, groups_were_found).found();
}

}  // namespace

bool blames_rail(const std::vector<Blame>& blames, int rail) {
  return std::ranges::any_of(
      blames, [rail](const Blame& blame) { return blame.kind == BlameKind::rail && blame.rail == rail; });
}

double unseen_below(const Attribution& found) {
  // The line is some four deviations, and of 1,000 who lost as much one is three below.
  return kMustBeSeen - 0.75 * found.line_of_nodes;
}

double worst_part(const PairEffects& effects, int node) {
  double worst = -kMustBeSeen;
  for (const auto* of : {&effects.send, &effects.receive})
    for (const double part : (*of)[slot_of(node)]) worst = std::fmax(worst, part);
  return worst;
}

bool is_worse(const Blame& a, const Blame& b) {
  return std::tie(b.times_slower, a.evidence) < std::tie(a.times_slower, b.evidence);
}

Attribution attribute(const PairTable& table, double expected_seconds) {
  if (has_repeats(table)) return attribute(settled_pairs(table).table, expected_seconds);
  if (const PairDesign design = pair_design(table); design.usual > 0 && design.is_sparse()) {
    Attribution found = attribute_by_elimination(table, design, expected_seconds);
    std::ranges::sort(found.blames, is_worse);
    return found;
  }
  if (!table.leaf_of_node.empty()) return attribute_among(table, expected_seconds, false);
  const NodeGroups groups = node_groups(table);
  if (groups.group_of_node.empty()) return attribute_among(table, expected_seconds, false);
  PairTable grouped = table;
  grouped.leaf_of_node = groups.group_of_node;
  Attribution found = attribute_among(grouped, expected_seconds, true);
  std::set<int> members;
  for (const std::vector<int>& group : groups.members) members.insert(group.begin(), group.end());
  for (NodeVerdict& verdict : found.nodes) {
    const bool is_in_doubt = groups.across + worst_part(found.effects, verdict.node) > unseen_below(found);
    if (verdict.bucket == Bucket::good && !members.contains(verdict.node) && is_in_doubt)
      verdict = {verdict.node, Bucket::not_tested,
                 "this design cannot tell: its pairs are as slow as those between groups, so it may be slow, "
                 "or in a group of its own"};
  }
  found.groups = groups.members;
  found.across_groups = groups.across;
  return found;
}

}  // namespace collbench::analysis
