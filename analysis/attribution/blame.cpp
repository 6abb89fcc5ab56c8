#include "analysis/attribution/blame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/statistics.hpp"

namespace collbench::analysis {
namespace {

constexpr double kBadTimes = 1 / 0.95;  // below 95 % of the others' rate

std::string percent_slower(double log_time) { return fmt::format("{:+.1f} %", 100 * std::expm1(log_time)); }

/// The nodes' parts on one rail, as senders or receivers.
std::vector<double> of_rail(const std::vector<std::vector<double>>& effects, int rail) {
  std::vector<double> values;
  for (const std::vector<double>& node : effects) values.push_back(node[slot_of(rail)]);
  return values;
}

/// One direction of one rail: who is beyond the line.
struct Direction {
  std::vector<double> values;
  double line = 0;

  [[nodiscard]] bool slow(int node) const { return values[slot_of(node)] > line; }  // false for NaN
};

struct Rail {
  Direction send;
  Direction receive;

  [[nodiscard]] bool slow(int node) const { return send.slow(node) || receive.slow(node); }
  [[nodiscard]] double worst(int node) const {
    return std::fmax(send.values[slot_of(node)], receive.values[slot_of(node)]);
  }
};

std::vector<Rail> directions_of_rails(const PairTable& table, const PairEffects& effects) {
  std::vector<Rail> rails;
  for (int rail = 0; rail < table.rails; ++rail) {
    Rail found;
    found.send.values = of_rail(effects.send, rail);
    found.receive.values = of_rail(effects.receive, rail);
    found.send.line = line_of_rail(table, effects, rail);
    found.receive.line = found.send.line;
    rails.push_back(std::move(found));
  }
  return rails;
}

/// Measured with nothing beside it against two others at least, where it was slow.
bool seen_alone(const PairTable& table, int node, std::optional<int> rail) {
  std::set<int> partners;
  for (const RailTime& time : table.times) {
    if (!time.alone || time.seconds <= 0 || (rail && time.rail != *rail)) continue;
    if (time.from == node) partners.insert(time.to);
    if (time.to == node) partners.insert(time.from);
  }
  return partners.size() >= 2;
}

std::string technician_step(BlameKind kind, const std::string& who, std::optional<int> rail) {
  const std::string nic = fmt::format("NIC {} of {}", rail.value_or(0), who);
  switch (kind) {
    case BlameKind::nic_transmit:
    case BlameKind::nic_receive:
    case BlameKind::nic:
      return fmt::format(
          "on {}: mlxlink -d mlx5_{} -c -e, and lspci -vv for LnkSta; swap the cable of {}, then test again",
          who, rail.value_or(0), nic);
    case BlameKind::host:
    case BlameKind::node:
      return fmt::format(
          "on {}: nvidia-smi -q -d PERFORMANCE, lspci -vv for LnkSta of all NICs, dmesg; reboot "
          "it and test again before it is sent back",
          who);
    case BlameKind::leaf:
    case BlameKind::rail:
      return fmt::format("look at the switch of rail {}: its ports' rate, error counters and uplinks",
                         rail.value_or(0));
    case BlameKind::trunk:
      return "look at the uplinks of both leaf switches: how many are up, and their error counters";
    case BlameKind::path:
      return fmt::format("ibtracert between {} names the links of a static route; measure the pair again",
                         who);
  }
  return {};
}

class Finder {
 public:
  explicit Finder(const PairTable& table)
      : table_(table), effects_(pair_effects(table)), rails_(directions_of_rails(table, effects_)) {}

  Attribution found() {
    find_rails();
    find_leaves();
    find_nodes();
    find_paths();
    std::sort(blames_.begin(), blames_.end(), [](const Blame& a, const Blame& b) {
      return std::tie(b.times_slower, a.evidence) < std::tie(a.times_slower, b.evidence);
    });
    Attribution all{effects_, blames_, {}};
    for (int node = 0; node < node_count(); ++node) all.nodes.push_back(verdict_of(node));
    return all;
  }

 private:
  [[nodiscard]] int node_count() const { return static_cast<int>(table_.nodes.size()); }
  [[nodiscard]] const std::string& name_of(int node) const { return table_.nodes[slot_of(node)]; }

  void add(Blame blame, double log_time, double line, const std::string& who) {
    blame.times_slower = std::exp(log_time);
    blame.line = std::exp(line);
    blame.next = technician_step(blame.kind, who, blame.rail);
    blames_.push_back(std::move(blame));
  }

  /// A rail whose common time is beyond that of the other rails.
  void find_rails() {
    if (table_.rails < 3) return;  // of two nobody knows which is the odd one
    for (const std::vector<double>& of_class : effects_.common) {
      std::vector<double> known;
      std::copy_if(of_class.begin(), of_class.end(), std::back_inserter(known),
                   [](double value) { return !std::isnan(value); });
      if (known.size() < 3) continue;
      const double middle = median(known);
      const double line = population_line(known);
      for (int rail = 0; rail < table_.rails; ++rail) {
        const double more = of_class[slot_of(rail)] - middle;
        if (!(more > line) || slow_rails_.contains(rail)) continue;
        slow_rails_.insert(rail);
        add({.kind = BlameKind::rail,
             .rail = rail,
             .evidence = fmt::format("all pairs of rail {} take {} of the other rails' time", rail,
                                     percent_slower(more))},
            more, line, "");
      }
    }
  }

  /// All nodes of a leaf on one rail, and not all nodes.
  void find_leaves() {
    std::map<int, std::vector<int>> leaves;
    for (std::size_t node = 0; node < table_.leaf_of_node.size(); ++node)
      leaves[table_.leaf_of_node[node]].push_back(static_cast<int>(node));
    if (leaves.size() < 3) return;  // of two nobody knows which is the odd one
    for (const auto& [leaf, members] : leaves) {
      for (int rail = 0; rail < table_.rails; ++rail) {
        const Rail& one = rails_[slot_of(rail)];
        const bool all = members.size() > 1 && std::all_of(members.begin(), members.end(),
                                                           [&](int node) { return one.slow(node); });
        if (!all) continue;
        std::vector<double> parts;
        for (const int node : members) {
          explained_.insert({node, rail});
          parts.push_back(one.worst(node));
        }
        add({.kind = BlameKind::leaf,
             .nodes = members,
             .rail = rail,
             .evidence = fmt::format("all {} nodes of leaf {} are {} on rail {}; no node of another leaf is",
                                     members.size(), leaf, percent_slower(median(parts)), rail)},
            median(parts), one.send.line, "");
      }
    }
  }

  void find_nodes() {
    for (int node = 0; node < node_count(); ++node) {
      std::vector<int> slow;
      for (int rail = 0; rail < table_.rails; ++rail) {
        const bool is_slow = rails_[slot_of(rail)].slow(node) && !explained_.contains({node, rail});
        if (is_slow && !cleared(node, rail)) slow.push_back(rail);
      }
      if (slow.empty()) continue;
      blamed_.insert(node);
      if (table_.rails > 1 && std::cmp_equal(slow.size(), table_.rails)) {
        add_host(node, slow);
      } else {
        for (const int rail : slow) add_nic(node, rail);
      }
    }
  }

  /// What the pairs that were measured alone say of a node's part, as sender or as receiver.
  [[nodiscard]] double alone_part(int node, int rail, bool sends) const {
    std::vector<double> parts;
    for (std::size_t i = 0; i < table_.times.size(); ++i) {
      const RailTime& time = table_.times[i];
      const bool is_mine = (sends ? time.from : time.to) == node;
      if (!time.alone || time.seconds <= 0 || time.rail != rail || !is_mine) continue;
      const double other = sends ? effects_.receive[slot_of(time.to)][slot_of(rail)]
                                 : effects_.send[slot_of(time.from)][slot_of(rail)];
      parts.push_back(std::log(time.seconds) - effects_.common[slot_of(effects_.classes[i])][slot_of(rail)] -
                      (std::isnan(other) ? 0 : other));
    }
    return parts.empty() ? 0 : median(parts);
  }

  /// Slow in company and not alone, against two others: others' traffic, and no fault of the node's.
  [[nodiscard]] bool cleared(int node, int rail) const {
    if (!seen_alone(table_, node, rail)) return false;
    const Rail& one = rails_[slot_of(rail)];
    const bool sends = one.send.slow(node) && alone_part(node, rail, true) > one.send.line;
    const bool receives = one.receive.slow(node) && alone_part(node, rail, false) > one.receive.line;
    return !sends && !receives;
  }

  void add_host(int node, const std::vector<int>& slow) {
    std::vector<double> parts;
    double line = 0;
    for (const int rail : slow) {
      parts.push_back(rails_[slot_of(rail)].worst(node));
      line = std::max(line, rails_[slot_of(rail)].send.line);
    }
    add({.kind = BlameKind::host,
         .nodes = {node},
         .confirmed = seen_alone(table_, node, std::nullopt),
         .evidence =
             fmt::format("{} on all {} rails ({} to {}), so it is no single NIC or cable", name_of(node),
                         table_.rails, percent_slower(*std::min_element(parts.begin(), parts.end())),
                         percent_slower(*std::max_element(parts.begin(), parts.end())))},
        median(parts), line, name_of(node));
  }

  void add_nic(int node, int rail) {
    const Rail& one = rails_[slot_of(rail)];
    const bool sends = one.send.slow(node);
    const bool receives = one.receive.slow(node);
    const BlameKind kind = table_.rails == 1   ? BlameKind::node
                           : sends && receives ? BlameKind::nic
                           : sends             ? BlameKind::nic_transmit
                                               : BlameKind::nic_receive;
    std::string text =
        fmt::format("{} rail {}: sends {}, receives {} against the rail's median (line {})", name_of(node),
                    rail, percent_slower(one.send.values[slot_of(node)]),
                    percent_slower(one.receive.values[slot_of(node)]), percent_slower(one.send.line));
    text += table_.rails == 1
                ? "; with one rail NIC, cable and host cannot be told apart"
                : fmt::format("; its other {} not slow, so it is not the host",
                              table_.rails == 2 ? "rail is" : fmt::format("{} rails are", table_.rails - 1));
    add({.kind = kind,
         .nodes = {node},
         .rail = rail,
         .confirmed = seen_alone(table_, node, rail),
         .evidence = std::move(text)},
        one.worst(node), one.send.line, name_of(node));
  }

  /// Slow pairs of nodes that are fine with others: single ones are paths; a whole block of leaves is a
  /// trunk.
  void find_paths() {
    const double line = population_line(effects_.residuals);
    struct Slow {
      double log_time = 0;
      int rail = 0;
      bool alone = true;
    };
    std::map<std::pair<int, int>, Slow> slow;
    std::map<std::pair<int, int>, std::vector<double>> blocks;
    for (std::size_t i = 0; i < table_.times.size(); ++i) {
      const RailTime& time = table_.times[i];
      const double residual = effects_.residuals[i];
      if (std::isnan(residual)) continue;
      if (!table_.leaf_of_node.empty() && effects_.classes[i] == 1)
        blocks[std::minmax(table_.leaf_of_node[slot_of(time.from)], table_.leaf_of_node[slot_of(time.to)])]
            .push_back(residual);
      if (residual <= line) continue;
      const auto [worst, is_new] = slow.try_emplace(std::minmax(time.from, time.to));
      if (is_new || residual > worst->second.log_time) worst->second = {residual, time.rail, time.alone};
    }
    const std::set<std::pair<int, int>> trunks = find_trunks(blocks, line);
    for (const auto& [pair, worst] : slow) {
      const auto [a, b] = pair;
      if (blamed_.contains(a) || blamed_.contains(b)) continue;
      if (!table_.leaf_of_node.empty() &&
          trunks.contains(std::minmax(table_.leaf_of_node[slot_of(a)], table_.leaf_of_node[slot_of(b)])))
        continue;
      const std::string who = name_of(a) + " and " + name_of(b);
      add({.kind = BlameKind::path,
           .nodes = {a, b},
           .rail = worst.rail,
           .confirmed = worst.alone,
           .evidence = fmt::format(
               "{} rail {}: {} (line {}) while both are fine with others{}{}", who, worst.rail,
               percent_slower(worst.log_time), percent_slower(line),
               worst.alone ? "" : "; other pairs ran at the same time",
               table_.adaptive_routing ? "; with adaptive routing no link of the path can be named" : "")},
          worst.log_time, line, who);
    }
  }

  std::set<std::pair<int, int>> find_trunks(const std::map<std::pair<int, int>, std::vector<double>>& blocks,
                                            double line) {
    std::set<std::pair<int, int>> found;
    constexpr std::size_t kMinPairs = 4;
    for (const auto& [leaves, residuals] : blocks) {
      if (blocks.size() < 3 || residuals.size() < kMinPairs || median(residuals) <= line) continue;
      found.insert(leaves);
      add({.kind = BlameKind::trunk,
           .evidence =
               fmt::format("{} pairs between leaf {} and leaf {} are {} (line {}); their nodes are fine "
                           "with the nodes of other leaves",
                           residuals.size(), leaves.first, leaves.second, percent_slower(median(residuals)),
                           percent_slower(line))},
          median(residuals), line, "");
    }
    return found;
  }

  [[nodiscard]] bool tested(int node) const {
    for (int rail = 0; rail < table_.rails; ++rail) {
      if (!std::isnan(rails_[slot_of(rail)].send.values[slot_of(node)]) &&
          !std::isnan(rails_[slot_of(rail)].receive.values[slot_of(node)]))
        return true;
    }
    return false;
  }

  [[nodiscard]] NodeVerdict verdict_of(int node) const {
    if (!tested(node)) {
      return {node, Bucket::not_tested, fmt::format("measured with fewer than {} others", kMinPartners)};
    }
    NodeVerdict verdict{node, Bucket::good, ""};
    for (const Blame& blame : blames_) {
      const bool is_mine = blame.nodes.size() == 1 && blame.nodes.front() == node;
      const bool touches = std::find(blame.nodes.begin(), blame.nodes.end(), node) != blame.nodes.end();
      if (is_mine && blame.confirmed && blame.times_slower > kBadTimes)
        return {node, Bucket::bad, blame.evidence};
      const bool may_be_mine = is_mine || blame.confirmed;
      if (touches && may_be_mine && verdict.bucket == Bucket::good)
        verdict = {node, Bucket::suspect, blame.evidence};
    }
    return verdict;
  }

  const PairTable& table_;
  PairEffects effects_;
  std::vector<Rail> rails_;
  std::vector<Blame> blames_{};
  std::set<int> slow_rails_{};
  std::set<std::pair<int, int>> explained_{};  ///< node and rail, by a leaf
  std::set<int> blamed_{};
};

}  // namespace

std::string name(Bucket bucket) {
  switch (bucket) {
    case Bucket::good:
      return "good";
    case Bucket::suspect:
      return "suspect";
    case Bucket::bad:
      return "bad";
    case Bucket::not_tested:
      return "not tested";
  }
  return {};
}

std::string name(BlameKind kind) {
  switch (kind) {
    case BlameKind::nic_transmit:
      return "NIC, transmit";
    case BlameKind::nic_receive:
      return "NIC, receive";
    case BlameKind::nic:
      return "NIC";
    case BlameKind::host:
      return "host";
    case BlameKind::node:
      return "NIC or host";
    case BlameKind::leaf:
      return "leaf switch";
    case BlameKind::rail:
      return "rail";
    case BlameKind::trunk:
      return "between leaves";
    case BlameKind::path:
      return "path";
  }
  return {};
}

Attribution attribute(const PairTable& table) { return Finder(table).found(); }

}  // namespace collbench::analysis
