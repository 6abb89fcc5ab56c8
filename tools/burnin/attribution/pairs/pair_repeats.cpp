#include "tools/burnin/attribution/pairs/pair_repeats.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/deterministic_random.hpp"
#include "base/statistics.hpp"

namespace collbench::analysis {
namespace {

using DirectionOnRail = std::tuple<int, int, int>;  // from, to, rail

DirectionOnRail direction_of(const RailTime& time) { return {time.from, time.to, time.rail}; }

PairOnRail pair_of(const RailTime& time) { return {std::minmax(time.from, time.to), time.rail}; }

PairTable without_repeats(const PairTable& table) {
  PairTable rest = table;
  std::erase_if(rest.times, [](const RailTime& time) { return time.repeat > 0; });
  return rest;
}

/// What the times of a table without repeats should be. Keeps the table by reference.
class UsualTimes {
 public:
  explicit UsualTimes(const PairTable& table)
      : table_(table), effects_(pair_effects(table)), line_(line_of_pairs(table, effects_)) {
    for (int rail = 0; rail < table.rails; ++rail) rail_lines_.push_back(line_of_rail(table, effects_, rail));
  }

  /// Whether it has a part of its own.
  [[nodiscard]] bool slow(int node, int rail) const {
    return part(effects_.send, node, rail) > rail_lines_[slot_of(rail)] ||
           part(effects_.receive, node, rail) > rail_lines_[slot_of(rail)];
  }

  /// Log of the time beyond what its class and the parts of nodes that are not slow explain; NaN where
  /// nothing is known of the class.
  [[nodiscard]] double excess(const RailTime& time) const {
    const int of = path_class(table_, time.from, time.to);
    double usual = effects_.common[slot_of(of)][slot_of(time.rail)];
    usual += usual_part(effects_.send, time.from, time.rail);
    usual += usual_part(effects_.receive, time.to, time.rail);
    return std::log(time.seconds) - usual;
  }

  /// Whether the i-th time of the table does: also where only the parts of its nodes hide it.
  [[nodiscard]] bool stands_out(std::size_t i) const {
    const RailTime& time = table_.times[i];
    if (time.alone || !(time.seconds > 0)) return false;
    return excess(time) > line_ || effects_.residuals[i] > line_;
  }

  [[nodiscard]] double line() const { return line_; }

 private:
  [[nodiscard]] double part(const std::vector<std::vector<double>>& parts, int node, int rail) const {
    return parts[slot_of(node)][slot_of(rail)];
  }
  [[nodiscard]] double usual_part(const std::vector<std::vector<double>>& parts, int node, int rail) const {
    const double own = part(parts, node, rail);
    return std::isnan(own) || own > rail_lines_[slot_of(rail)] ? 0 : own;
  }

  const PairTable& table_;
  PairEffects effects_;
  double line_;
  std::vector<double> rail_lines_{};
};

/// Pairs of a round both of whose directions and both of whose nodes are like the others.
std::set<PairOnRail> ordinary_pairs(const PairTable& rounds, const UsualTimes& usual) {
  std::set<PairOnRail> ordinary;
  std::set<PairOnRail> others;
  for (const RailTime& time : rounds.times) {
    if (time.alone || !(time.seconds > 0)) continue;
    const bool is_like_others = std::fabs(usual.excess(time)) <= usual.line() &&
                                !usual.slow(time.from, time.rail) && !usual.slow(time.to, time.rail);
    (is_like_others ? ordinary : others).insert(pair_of(time));
  }
  for (const PairOnRail& pair : others) ordinary.erase(pair);
  return ordinary;
}

/// What each batch of repeats costs pairs of each class that are like the others: log of time. None for a
/// batch and class with too few of them.
std::map<std::pair<int, int>, double> costs_of_batches(const PairTable& table, const UsualTimes& usual,
                                                       const std::set<PairOnRail>& ordinary) {
  std::map<std::pair<int, int>, std::vector<double>> seen;
  for (const RailTime& time : table.times) {
    if (time.repeat == 0 || !(time.seconds > 0) || !ordinary.contains(pair_of(time))) continue;
    const double excess = usual.excess(time);
    if (!std::isnan(excess)) seen[{time.repeat, path_class(table, time.from, time.to)}].push_back(excess);
  }
  std::map<std::pair<int, int>, double> costs;
  for (const auto& [batch, excesses] : seen) {
    if (excesses.size() >= kMinReferences) costs[batch] = median(excesses);
  }
  return costs;
}

/// Of each direction the least time of its repeats, more by what its batch was faster than the rounds; those
/// of batches with too few references are none.
std::map<DirectionOnRail, double> fastest_repeats(const PairTable& table, const PairTable& rounds) {
  const UsualTimes usual(rounds);
  const auto costs = costs_of_batches(table, usual, ordinary_pairs(rounds, usual));
  std::map<DirectionOnRail, double> fastest;
  for (const RailTime& time : table.times) {
    if (time.repeat == 0 || !(time.seconds > 0)) continue;
    const auto cost = costs.find({time.repeat, path_class(table, time.from, time.to)});
    if (cost == costs.end()) continue;
    // A batch slower than the rounds may be so by chance: taken off, it would clear a pair that it did not
    // touch.
    const double seconds = time.seconds * std::exp(-std::min(0.0, cost->second));
    const auto [known, is_new] = fastest.try_emplace(direction_of(time), seconds);
    if (!is_new) known->second = std::min(known->second, seconds);
  }
  return fastest;
}

/// `items` in an order that looks random and is the same everywhere.
template <typename Item>
void mix(std::vector<Item>& items) {
  std::uint64_t counter = 1;
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[scrambled(counter++) % i]);
}

/// Takes pairs from a circle, each node in one of them at most.
class ReferenceCircle {
 public:
  explicit ReferenceCircle(std::vector<PairOnRail> pairs) : pairs_(std::move(pairs)) { mix(pairs_); }

  void add_to(std::vector<PairOnRail>& batch, std::set<int>& busy, std::size_t count) {
    for (std::size_t looked = 0; looked < pairs_.size() && count > 0; ++looked) {
      const PairOnRail& pair = pairs_[next_++ % pairs_.size()];
      if (busy.contains(pair.first.first) || busy.contains(pair.first.second)) continue;
      busy.insert({pair.first.first, pair.first.second});
      batch.push_back(pair);
      --count;
    }
  }

 private:
  std::vector<PairOnRail> pairs_;
  std::size_t next_ = 0;
};

/// Each pair into the first batch in which none of its nodes is, of at most `most` pairs.
std::vector<std::vector<PairOnRail>> disjoint(std::vector<PairOnRail> pairs, std::size_t most) {
  mix(pairs);
  std::vector<std::vector<PairOnRail>> batches;
  std::vector<std::set<int>> busy;
  std::size_t first_open = 0;  // those before are full
  for (const PairOnRail& pair : pairs) {
    const auto [a, b] = pair.first;
    std::size_t at = first_open;
    while (at < batches.size() &&
           (batches[at].size() >= most || busy[at].contains(a) || busy[at].contains(b)))
      ++at;
    if (at == batches.size()) {
      batches.emplace_back();
      busy.emplace_back();
    }
    batches[at].push_back(pair);
    busy[at].insert({a, b});
    while (first_open < batches.size() && batches[first_open].size() >= most) ++first_open;
  }
  return batches;
}

}  // namespace

bool has_repeats(const PairTable& table) {
  return std::ranges::any_of(table.times, [](const RailTime& time) { return time.repeat > 0; });
}

int last_repeat(const PairTable& table) {
  int last = 0;
  for (const RailTime& time : table.times) last = std::max(last, time.repeat);
  return last;
}

SettledPairs settled_pairs(const PairTable& table) {
  SettledPairs settled{without_repeats(table)};
  const std::map<DirectionOnRail, double> repeats = fastest_repeats(table, settled.table);
  std::set<std::size_t> taken;
  // What is taken in narrows the line, and then more stands out.
  for (bool is_new = true; is_new;) {
    is_new = false;
    const PairTable before = settled.table;
    const UsualTimes usual(before);
    settled.eased = taken.size();
    for (std::size_t i = 0; i < before.times.size(); ++i) {
      if (!usual.stands_out(i)) continue;
      RailTime& time = settled.table.times[i];
      const auto repeat = repeats.find(direction_of(time));
      if (repeat == repeats.end()) continue;
      if (taken.insert(i).second)
        is_new = true;
      else
        settled.eased -= 1;
      time.seconds = std::min(time.seconds, repeat->second);
    }
  }
  settled.repeated = taken.size();
  return settled;
}

std::vector<PairOnRail> standing_out(const PairTable& table) {
  const PairTable settled = has_repeats(table) ? settled_pairs(table).table : table;
  const UsualTimes usual(settled);
  std::set<PairOnRail> repeated;
  for (const RailTime& time : table.times) {
    if (time.repeat > 0) repeated.insert(pair_of(time));
  }
  std::set<PairOnRail> found;
  for (std::size_t i = 0; i < settled.times.size(); ++i) {
    if (!usual.stands_out(i)) continue;
    const RailTime& time = settled.times[i];
    const bool is_explained = usual.slow(time.from, time.rail) || usual.slow(time.to, time.rail);
    if (!is_explained || !repeated.contains(pair_of(time))) found.insert(pair_of(time));
  }
  return {found.begin(), found.end()};
}

std::vector<std::vector<PairOnRail>> repeat_batches(const PairTable& table,
                                                    const std::vector<PairOnRail>& pairs, int at_once) {
  const PairTable rounds = without_repeats(table);
  const UsualTimes usual(rounds);
  std::array<std::vector<PairOnRail>, 2> by_class;
  for (const PairOnRail& pair : ordinary_pairs(rounds, usual))
    by_class.at(slot_of(path_class(table, pair.first.first, pair.first.second))).push_back(pair);
  std::array<ReferenceCircle, 2> references{ReferenceCircle(std::move(by_class[0])),
                                            ReferenceCircle(std::move(by_class[1]))};
  // With two classes of which one has a single pair, references of both still fit.
  const std::size_t hosts = table.nodes.size();
  const std::size_t most = std::min({slot_of(at_once), std::max<std::size_t>(8, hosts / 4), hosts / 2});
  if (most <= kMinReferences) return {};
  std::vector<std::vector<PairOnRail>> batches =
      disjoint(pairs, std::min((most - 2) / 2, most - kMinReferences));
  for (std::vector<PairOnRail>& batch : batches) {
    std::array<std::size_t, 2> wanted{};
    std::set<int> busy;
    for (const auto& [pair, rail] : batch) {
      wanted.at(slot_of(path_class(table, pair.first, pair.second))) += 1;
      busy.insert({pair.first, pair.second});
    }
    for (std::size_t of = 0; of < references.size(); ++of) {
      if (wanted.at(of) > 0)
        references.at(of).add_to(batch, busy, std::max(wanted.at(of), kMinReferences / 2));
    }
  }
  return batches;
}

}  // namespace collbench::analysis
