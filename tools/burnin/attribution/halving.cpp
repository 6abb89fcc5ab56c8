#include "tools/burnin/attribution/halving.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>

#include "tools/burnin/attribution/group_verdicts.hpp"
#include "tools/burnin/attribution/halving_launches.hpp"

namespace collbench::analysis {
namespace {

/// Those that `is_preferred`, then the others, each in their order; std::stable_partition of libstdc++ 12 is
/// deprecated to clang.
template <class Predicate>
std::vector<int> preferred_first(const std::vector<int>& nodes, const Predicate& is_preferred) {
  std::vector<int> first;
  std::vector<int> others;
  for (const int node : nodes) (is_preferred(node) ? first : others).push_back(node);
  first.insert(first.end(), others.begin(), others.end());
  return first;
}

using Nodes = HalvingLaunches::Nodes;

constexpr std::size_t kSwaps = 3;  // well hosts beside whom a host is slow before it is a suspect

/// One that is slow over NVLink and without it is one suspect.
void add_suspect(std::vector<HalvingSuspect>& suspects, HalvingSuspect suspect) {
  const auto known = std::ranges::find(suspects, suspect.node, &HalvingSuspect::node);
  if (known == suspects.end()) {
    suspects.push_back(std::move(suspect));
    return;
  }
  suspect.over_nvlink = true;
  suspect.swapped = suspect.swapped && known->swapped;
  suspect.excluded = suspect.excluded && known->excluded;
  suspect.evidence = fmt::format("over NVLink {}; without {}", known->evidence, suspect.evidence);
  *known = std::move(suspect);
}

/// With NVLink between hosts, or without.
class Halver {
 public:
  Halver(const BurninRecord& record, bool without_nvlink)
      : record_(record), without_nvlink_(without_nvlink), launches_(record, without_nvlink) {}

  /// Adds what is found to `found`; its next is empty where nothing is left to measure.
  void halve(Halving& found) {
    (void)(halve_domains() && swap_single_nodes() && confirm() && split_by_rail() && find_paths() &&
           cross_domains());
    found.next = std::move(next_);
    for (const Group& group : groups_) {
      const bool is_slow = group.verdict.is_bad() || (group.verdict.state == LaunchState::unknown &&
                                                      launches_.is_far_behind(group.nodes));
      if (group.is_domain && is_slow) found.slow_domains.push_back(group.nodes);
    }
    well_.insert(launches_.well().begin(), launches_.well().end());
    found.well.emplace_back(well_.begin(), well_.end());
    found.unclear.insert(unclear_.begin(), unclear_.end());
    found.blind_below = std::max(found.blind_below, blind_below_);
    found.across_unclear = found.across_unclear || across_unclear_;
    const bool is_nvlink = !without_nvlink_ && record_.nvlink_nodes > 0;
    for (HalvingSuspect& suspect : suspects_) {
      (is_nvlink ? suspect.over_nvlink : suspect.over_network) = true;
      add_suspect(found.suspects, std::move(suspect));
    }
    for (HalvingPath& path : paths_) {
      path.over_nvlink = is_nvlink;
      found.paths.push_back(std::move(path));
    }
  }

 private:
  struct Group {
    Nodes nodes;
    bool is_domain = false;
    LaunchVerdict verdict{};
  };

  /// Whether all of `tested` was measured, with what it is compared with; if not, next_ is what can be at
  /// once.
  [[nodiscard]] bool is_measured(const std::vector<GroupLaunch>& tested,
                                 const std::vector<GroupLaunch>& more = {}) {
    std::set<int> busy;
    std::vector<GroupLaunch> open;
    for (const GroupLaunch& launch : tested) {
      if (launches_.was_launched(launch)) continue;
      open.push_back(launch);
      busy.insert(launch.nodes.begin(), launch.nodes.end());
    }
    for (const GroupLaunch& launch : more) busy.insert(launch.nodes.begin(), launch.nodes.end());
    std::vector<GroupLaunch> controls = launches_.missing_controls(tested, busy);
    open.insert(open.end(), more.begin(), more.end());
    open.insert(open.end(), controls.begin(), controls.end());
    std::set<int> used;
    for (GroupLaunch& launch : open) {
      const bool is_free =
          std::ranges::none_of(launch.nodes, [&used](int node) { return used.contains(node); });
      if (!is_free) continue;
      used.insert(launch.nodes.begin(), launch.nodes.end());
      next_.push_back(std::move(launch));
    }
    return next_.empty();
  }

  [[nodiscard]] std::vector<Nodes> domains() const {
    const int nodes = static_cast<int>(record_.table.nodes.size());
    const bool by_nvlink =
        record_.nvlink_nodes > 0 && (!without_nvlink_ || record_.table.leaf_of_node.empty());
    std::map<int, Nodes> of;
    for (int node = 0; node < nodes; ++node)
      of[by_nvlink ? node / record_.nvlink_nodes : launches_.leaf_of(node)].push_back(node);
    std::vector<Nodes> all;
    for (auto& [number, members] : of) all.push_back(std::move(members));
    return all;
  }

  /// Level by level; false: something is open.
  [[nodiscard]] bool halve_domains() {
    std::vector<Nodes> level = domains();
    for (bool is_first = true; !level.empty(); is_first = false) {
      std::vector<GroupLaunch> groups;
      std::vector<Nodes> next;
      for (Nodes& nodes : level) {
        if (nodes.size() == 1)
          singles_.insert(nodes.front());
        else
          groups.push_back(launches_.launch_of(std::move(nodes)));
      }
      if (!is_measured(groups)) return false;
      std::set<int> well;
      bool works = false;
      for (const GroupLaunch& launch : groups) {
        const LaunchVerdict verdict = launches_.verdict_of(launch);
        works = works || verdict.state != LaunchState::failed;
        groups_.push_back({launch.nodes, is_first, verdict});
        const auto middle = launch.nodes.begin() + static_cast<std::ptrdiff_t>((launch.nodes.size() + 1) / 2);
        if (verdict.state == LaunchState::well) {
          well.insert(launch.nodes.begin(), launch.nodes.end());
          blind_below_ = std::max(blind_below_, verdict.line);
        } else {
          next.emplace_back(launch.nodes.begin(), middle);
          next.emplace_back(middle, launch.nodes.end());
        }
      }
      // Where no domain gives anything it is the launcher.
      if (is_first && !works && groups.size() > 1) {
        unclear_.insert(singles_.begin(), singles_.end());
        for (const Group& group : groups_) unclear_.insert(group.nodes.begin(), group.nodes.end());
        singles_.clear();
        return true;
      }
      launches_.add_well(well);
      level = std::move(next);
    }
    well_ = launches_.well();
    return true;
  }

  [[nodiscard]] LaunchVerdict beside(int node, int other) const {
    return launches_.verdict_of(launches_.pair_of(node, other));
  }

  /// Each beside a well host, and beside others while it is slow with each: other traffic rarely meets the
  /// same host three times.
  [[nodiscard]] bool swap_single_nodes() {
    for (std::size_t turn = 1; turn <= kSwaps; ++turn) {
      std::vector<GroupLaunch> pairs;
      std::set<int> busy;
      for (const int node : singles_) {
        Nodes met = launches_.partners_of(node);
        const bool is_asked =
            met.size() < turn &&
            std::ranges::all_of(met, [&](int other) { return beside(node, other).is_bad(); });
        if (const auto other = is_asked ? launches_.partner_for(node, met, busy) : std::nullopt) {
          met.push_back(*other);
          busy.insert(*other);
        }
        for (const int each : met) pairs.push_back(launches_.pair_of(node, each));
      }
      if (!is_measured(pairs)) return false;
    }
    for (const int node : singles_) judge_single_node(node);
    return true;
  }

  void judge_single_node(int node) {
    HalvingSuspect suspect{.node = node};
    std::vector<std::string> words;
    std::size_t known = 0;
    const Nodes met = launches_.partners_of(node);
    for (const int other : met) {
      const LaunchVerdict verdict = beside(node, other);
      known += verdict.state == LaunchState::unknown ? 0 : 1;
      if (!verdict.is_bad()) continue;
      words.push_back(fmt::format("with {} {}", record_.table.nodes[slot_of(other)], verdict.words));
      if (verdict.log_time >= suspect.log_time) {
        suspect.log_time = verdict.log_time;
        suspect.line = verdict.line;
      }
      if (verdict.state == LaunchState::failed) suspect.why = verdict.words;
    }
    suspect.swapped = words.size() > 1 && words.size() == met.size();
    suspect.evidence = fmt::format("{}", fmt::join(words, "; "));
    if (known == 0)
      unclear_.insert(node);
    else if (words.size() < known)
      well_.insert(node);
    else
      suspects_.push_back(std::move(suspect));
  }

  [[nodiscard]] bool is_suspect(int node) const {
    return std::ranges::any_of(suspects_,
                               [node](const HalvingSuspect& suspect) { return suspect.node == node; });
  }

  /// Slow groups all of whose nodes and smaller groups are well.
  [[nodiscard]] bool find_paths() {
    for (auto group = groups_.rbegin(); group != groups_.rend(); ++group) {
      const bool all_well =
          std::ranges::all_of(group->nodes, [this](int node) { return well_.contains(node); });
      if (!group->verdict.is_bad() || !all_well) continue;
      if (!judge_path({.nodes = group->nodes, .evidence = group->verdict.words})) return false;
    }
    return true;
  }

  /// A finding only if it is slow in each of several launches with nothing beside it, and has no smaller one
  /// in it. False: something is open.
  [[nodiscard]] bool judge_path(HalvingPath path) {
    const bool is_named = std::ranges::any_of(paths_, [&path](const HalvingPath& known) {
      return std::ranges::all_of(
          known.nodes, [&path](int node) { return std::ranges::find(path.nodes, node) != path.nodes.end(); });
    });
    if (is_named) return true;
    const GroupLaunch launch = launches_.launch_of(path.nodes);
    const LaunchVerdict verdict = launches_.verdict_alone(launch, kPathRepeats, next_);
    if (!next_.empty()) return false;
    if (verdict.state == LaunchState::well) return true;  // slow in company only: others' traffic
    path.confirmed = verdict.is_bad();
    path.log_time = verdict.log_time;
    path.line = verdict.line;
    path.evidence =
        fmt::format("{}{}: {}", hosts_of(record_, path.nodes),
                    path.across ? ", of two domains that are well by themselves" : "", path.evidence);
    if (path.confirmed && !path.across && !narrow(path)) return false;
    paths_.push_back(std::move(path));
    return true;
  }

  static Nodes joined(const Nodes& a, const Nodes& b) {
    Nodes both = a;
    both.insert(both.end(), b.begin(), b.end());
    return both;
  }

  /// From a half of one part with a half of the other to two hosts, where one of these is slow, too, and once
  /// more with nothing beside it. Else it stays: the library's order of these hosts takes it, or there are
  /// several. False: something is open.
  [[nodiscard]] bool narrow(HalvingPath& path) {
    const auto halves_of = [](const Nodes& nodes) {
      const auto middle = nodes.begin() + static_cast<std::ptrdiff_t>((nodes.size() + 1) / 2);
      std::vector<Nodes> halves{{nodes.begin(), middle}};
      if (middle != nodes.end()) halves.emplace_back(middle, nodes.end());
      return halves;
    };
    std::vector<Nodes> parts = halves_of(path.nodes);
    while (parts[0].size() + parts[1].size() > 2) {
      std::vector<std::vector<Nodes>> across;
      std::vector<GroupLaunch> launches;
      for (const Nodes& a : halves_of(parts[0]))
        for (const Nodes& b : halves_of(parts[1])) {
          across.push_back({a, b});
          launches.push_back(launches_.launch_of(joined(a, b)));
        }
      if (!is_measured(launches)) return false;
      const auto slow = std::ranges::find_if(
          launches, [this](const GroupLaunch& launch) { return launches_.verdict_of(launch).is_bad(); });
      if (slow == launches.end()) break;
      parts = across[static_cast<std::size_t>(slow - launches.begin())];
    }
    const Nodes least = joined(parts[0], parts[1]);
    if (least.size() == path.nodes.size()) return true;
    const LaunchVerdict verdict = launches_.verdict_alone(launches_.launch_of(least), 1, next_);
    if (!next_.empty()) return false;
    if (!verdict.is_bad()) return true;
    path.nodes = least;
    path.evidence += fmt::format("; narrowed to {}: {}", hosts_of(record_, least), verdict.words);
    return true;
  }

  /// The largest slow group of a suspect, without it and the others, that can be compared, or one host of it,
  /// which is well beside others; else none.
  [[nodiscard]] Nodes group_without(const HalvingSuspect& suspect) const {
    for (const Group& group : groups_) {  // the largest first
      const bool is_of_it = std::ranges::find(group.nodes, suspect.node) != group.nodes.end();
      if (!is_of_it || !group.verdict.is_bad()) continue;
      Nodes rest;
      std::ranges::copy_if(group.nodes, std::back_inserter(rest),
                           [this](int node) { return !is_suspect(node) && !unclear_.contains(node); });
      if (rest.size() == 1 || (rest.size() > 1 && launches_.can_be_compared(launches_.launch_of(rest))))
        return rest;
    }
    return {};
  }

  /// The suspects by themselves, and enough well hosts to compare them with, who are in no group if possible.
  [[nodiscard]] std::vector<GroupLaunch> hosts_by_themselves(const std::vector<GroupLaunch>& groups) const {
    const auto& known = launches_.by_itself();
    std::vector<GroupLaunch> hosts;
    const auto add = [&](int node) {
      if (!known.contains(node)) hosts.push_back({BurninPhase::nodes, {node}});
    };
    for (const HalvingSuspect& suspect : suspects_) add(suspect.node);
    if (hosts.empty()) return hosts;
    std::set<int> busy;
    for (const GroupLaunch& launch : groups) busy.insert(launch.nodes.begin(), launch.nodes.end());
    Nodes well(launches_.well().begin(), launches_.well().end());
    well = preferred_first(well, [&busy](int node) { return !busy.contains(node); });
    well = preferred_first(well, [&known](int node) { return known.contains(node); });
    well.resize(std::min(well.size(), std::max(kControls, suspects_.size() + 1)));
    for (const int node : well) add(node);
    return hosts;
  }

  /// The groups without them, and each by itself beside well hosts.
  [[nodiscard]] bool confirm() {
    std::vector<GroupLaunch> groups;
    for (const HalvingSuspect& suspect : suspects_) {
      Nodes rest = group_without(suspect);
      if (rest.size() > 1) groups.push_back(launches_.launch_of(std::move(rest)));
    }
    if (!is_measured(groups, hosts_by_themselves(groups))) return false;
    return std::ranges::all_of(suspects_,
                               [this](HalvingSuspect& suspect) { return judge_exclusion(suspect); });
  }

  /// False: its group without it is to be measured alone.
  [[nodiscard]] bool judge_exclusion(HalvingSuspect& suspect) {
    const auto alone = launches_.by_itself().find(suspect.node);
    suspect.works_alone = alone != launches_.by_itself().end() && alone->second;
    const Nodes rest = group_without(suspect);
    LaunchVerdict verdict{rest.size() == 1 ? LaunchState::well : LaunchState::unknown};
    if (rest.size() > 1) verdict = launches_.verdict_of(launches_.launch_of(rest));
    if (verdict.is_bad()) verdict = launches_.verdict_alone(launches_.launch_of(rest), 1, next_);
    if (!next_.empty()) return false;
    suspect.excluded = verdict.state == LaunchState::well;
    suspect.evidence += suspect.excluded ? fmt::format("; without it {} well", is_are(rest))
                        : verdict.is_bad()
                            ? fmt::format("; without it {}: {}", hosts_of(record_, rest), verdict.words)
                            : "; no group without it can be compared";
    return true;
  }

  [[nodiscard]] std::string is_are(const Nodes& nodes) const {
    return fmt::format("{} {}", hosts_of(record_, nodes), nodes.size() == 1 ? "is" : "are");
  }

  /// Each suspect on each rail by itself, one rail after the other, with a well host that it met; with the
  /// others that it met on those that are slow with each before.
  [[nodiscard]] bool split_by_rail() {
    if (record_.table.rails < 2 || (record_.nvlink_nodes > 0 && !without_nvlink_)) return true;
    std::vector<Nodes> partners;
    std::set<int> busy;
    for (const HalvingSuspect& suspect : suspects_) {
      Nodes met = launches_.partners_of(suspect.node);
      met = preferred_first(met, [&busy](int other) { return !busy.contains(other); });
      busy.insert(met.front());
      partners.push_back(std::move(met));
    }
    std::map<std::pair<std::size_t, int>, LaunchVerdict> last;  // by suspect and rail
    for (int rail = 0; rail < record_.table.rails; ++rail)
      if (!measure_rail(partners, {rail}, 0, last)) return false;
    std::vector<int> all(slot_of(record_.table.rails));
    std::iota(all.begin(), all.end(), 0);
    for (std::size_t turn = 1; turn < kSwaps; ++turn)
      if (!measure_rail(partners, all, turn, last)) return false;
    for (const auto& [key, verdict] : last) {
      HalvingSuspect& suspect = suspects_[key.first];
      if (verdict.is_bad()) suspect.evidence += fmt::format("; on rail {} {}", key.second, verdict.words);
      if (verdict.is_bad()) suspect.rails.push_back(key.second);
      if (verdict.state == LaunchState::well) suspect.working_rails.push_back(key.second);
    }
    return true;
  }

  /// Each suspect on each of `rails` with its partner of this turn, where it is slow with all before.
  [[nodiscard]] bool measure_rail(const std::vector<Nodes>& partners, const std::vector<int>& rails,
                                  std::size_t turn,
                                  std::map<std::pair<std::size_t, int>, LaunchVerdict>& last) {
    std::vector<GroupLaunch> pairs;
    std::vector<std::pair<std::size_t, int>> keys;
    for (std::size_t i = 0; i < suspects_.size(); ++i) {
      // Rails that are all slow by as much bear each other out.
      double worst = 0;
      bool all_slow = turn > 0;
      for (int rail = 0; all_slow && rail < record_.table.rails; ++rail) {
        worst = std::max(worst, last.at({i, rail}).log_time);
        all_slow = last.at({i, rail}).is_bad();
      }
      for (const int rail : rails) {
        const bool is_slow = turn == 0 || last.at({i, rail}).is_bad();
        const bool is_borne_out = all_slow && 2 * last.at({i, rail}).log_time >= worst;
        if (turn >= partners[i].size() || !is_slow || is_borne_out) continue;
        pairs.push_back(launches_.pair_of(suspects_[i].node, partners[i][turn], rail));
        keys.emplace_back(i, rail);
      }
    }
    if (!is_measured(pairs)) return false;
    for (std::size_t i = 0; i < pairs.size(); ++i) last[keys[i]] = launches_.verdict_of(pairs[i]);
    return true;
  }

  /// Well hosts of two domains together, as many of each: what is slow there is between them.
  [[nodiscard]] bool cross_domains() {
    if (record_.table.leaf_of_node.empty() || (record_.nvlink_nodes > 0 && !without_nvlink_)) return true;
    std::map<int, Nodes> by_leaf;
    for (const int node : launches_.well()) by_leaf[launches_.leaf_of(node)].push_back(node);
    std::size_t most = 0;
    for (const auto& [leaf, nodes] : by_leaf) most = std::max(most, nodes.size());
    std::erase_if(by_leaf, [most](const auto& of) { return 2 * of.second.size() < most; });
    std::size_t half = most;
    for (const auto& [leaf, nodes] : by_leaf) half = std::min(half, nodes.size());
    std::vector<GroupLaunch> groups;
    for (auto of = by_leaf.begin(); of != by_leaf.end() && std::next(of) != by_leaf.end();
         std::advance(of, 2)) {
      Nodes nodes(of->second.begin(), of->second.begin() + static_cast<std::ptrdiff_t>(half));
      const Nodes& others = std::next(of)->second;
      nodes.insert(nodes.end(), others.begin(), others.begin() + static_cast<std::ptrdiff_t>(half));
      groups.push_back(launches_.launch_of(std::move(nodes)));
      if (std::distance(of, by_leaf.end()) < 3) break;
    }
    if (groups.size() < kMinPopulation && !launches_.has_floor()) return true;
    std::ranges::copy_if(groups, std::back_inserter(next_),  // they are each other's like
                         [this](const GroupLaunch& group) { return !launches_.was_launched(group); });
    if (!next_.empty()) return false;
    for (const GroupLaunch& group : groups) {
      const LaunchVerdict verdict = launches_.verdict_of(group);
      across_unclear_ = across_unclear_ || verdict.state == LaunchState::unknown;
      if (!verdict.is_bad()) continue;
      if (!judge_path({.nodes = group.nodes, .across = true, .evidence = verdict.words})) return false;
    }
    return true;
  }

  const BurninRecord& record_;
  bool without_nvlink_;
  HalvingLaunches launches_;
  GroupBatch next_{};
  std::vector<Group> groups_{};  ///< the largest first
  std::set<int> well_{};         ///< of well groups, and who is well beside one of these
  std::set<int> singles_{};
  std::set<int> unclear_{};
  std::vector<HalvingSuspect> suspects_{};
  std::vector<HalvingPath> paths_{};
  double blind_below_ = 0;
  bool across_unclear_ = false;
};

}  // namespace

Halving halving_of(const BurninRecord& record) {
  Halving found;
  for (const bool without_nvlink : {false, true}) {
    if (!found.next.empty() || (without_nvlink && record.nvlink_nodes == 0)) break;
    Halver(record, without_nvlink).halve(found);
  }
  return found;
}

HalvingCost expected_cost(BurninRecord record, const std::vector<int>& slow, int at_once) {
  // By size: what is played is like what was measured.
  std::map<std::size_t, GroupRate> known;
  for (const GroupRate& rate : record.groups) {
    GroupRate& fastest = known.try_emplace(rate.launch.nodes.size(), rate).first->second;
    if (rate.bus_bandwidth > fastest.bus_bandwidth && rate.operation == fastest.operation) fastest = rate;
  }
  const bool has_floor =
      std::ranges::any_of(record.groups, [](const GroupRate& rate) { return rate.floor > 0; });
  HalvingCost cost;
  for (GroupBatch batch = halving_of(record).next; !batch.empty(); batch = halving_of(record).next) {
    cost.rounds += in_batches(batch, at_once).size();
    cost.launches += batch.size();
    for (const GroupLaunch& launch : batch) {
      const bool is_slow = launch.nodes.size() > 1 && launch.rail.value_or(0) == 0 &&
                           std::ranges::any_of(launch.nodes, [&slow](int node) {
                             return std::ranges::find(slow, node) != slow.end();
                           });
      GroupRate rate =
          known.try_emplace(launch.nodes.size(), GroupRate{launch, "all_reduce", 1}).first->second;
      rate.launch = launch;
      rate.floor = has_floor && !launch.rail ? 0.8 * rate.bus_bandwidth : 0;
      if (is_slow) rate.bus_bandwidth /= 2;
      record.groups.push_back(std::move(rate));
    }
  }
  return cost;
}

void measure_halving(BurninRecord& record, const HalvingPhaseOptions& options, const MeasureGroups& measure) {
  for (Halving now = halving_of(record); !now.next.empty();) {
    const std::size_t rounds = in_batches(now.next, options.at_once).size();
    const auto took = measure(now.next);
    if (!took) return;
    record.halving.rounds += rounds;
    record.halving.launches += now.next.size();
    record.halving.seconds += took->first;
    now = halving_of(record);
    if (record.halving_predicted.rounds > 0 || took->second <= 0) continue;
    record.start_seconds = std::max(0.0, took->second - options.seconds);
    std::vector<int> slow;
    for (const Nodes& domain : now.slow_domains) slow.push_back(domain.back());
    const auto all_of = [&](const std::vector<int>& nodes) {
      HalvingCost cost = expected_cost(record, nodes, options.at_once);
      cost.seconds = record.halving.seconds +
                     static_cast<double>(cost.rounds) * (options.seconds + record.start_seconds);
      cost.rounds += record.halving.rounds;
      cost.launches += record.halving.launches;
      return cost;
    };
    record.halving_predicted = all_of(slow);
    if (!slow.empty()) record.halving_least = all_of({});
    options.on_prediction();
  }
}

}  // namespace collbench::analysis
