#include "tools/burnin/attribution/halving_launches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>

#include "base/statistics.hpp"
#include "base/units.hpp"
#include "tools/burnin/attribution/group_verdicts.hpp"
#include "tools/burnin/attribution/mixed_fleet.hpp"
#include "tools/burnin/attribution/pairs/pair_elimination.hpp"

namespace collbench::analysis {
namespace {

/// What a rate is compared with: log, and how far below it is slow.
struct Reference {
  double middle = 0;
  double line = 0;
  std::size_t count = 0;
};

std::vector<double> logs_of(const std::vector<const GroupRate*>& rates, const std::string& operation) {
  std::vector<double> logs;
  for (const GroupRate* const rate : rates)
    if (rate->operation == operation && rate->bus_bandwidth > 0)
      logs.push_back(std::log(rate->bus_bandwidth));
  return logs;
}

/// None of too few, or where a quarter is so much faster than the median that it may be of the slow ones.
std::optional<Reference> reference_of(const std::vector<double>& logs) {
  if (logs.size() < kMinPopulation) return std::nullopt;
  const Reference found{median(logs), std::max(kMatters, group_line(logs)), logs.size()};
  const auto faster =
      std::ranges::count_if(logs, [&](double log) { return log > found.middle + found.line; });
  if (4 * slot_of(static_cast<int>(faster)) >= logs.size()) return std::nullopt;
  return found;
}

/// To those of its launch: the next one begins with an operation that this one has.
void add_rate(std::vector<std::vector<const GroupRate*>>& launches, const GroupRate& rate) {
  const bool is_next =
      launches.empty() || std::ranges::any_of(launches.back(), [&rate](const GroupRate* known) {
        return known->operation == rate.operation;
      });
  if (is_next) launches.emplace_back();
  launches.back().push_back(&rate);
}

/// Whether in some operation all rates of the one are below all of the others, by what matters.
bool is_apart(const std::vector<std::vector<const GroupRate*>>& own,
              const std::vector<std::vector<const GroupRate*>>& others) {
  std::map<std::string, std::pair<double, double>> bounds;  // the one's fastest, the others' slowest
  for (const auto& launch : own)
    for (const GroupRate* const rate : launch) {
      double& fastest = bounds.try_emplace(rate->operation, 0, HUGE_VAL).first->second.first;
      fastest = std::max(fastest, rate->bus_bandwidth);
    }
  for (const auto& launch : others)
    for (const GroupRate* const rate : launch) {
      double& slowest = bounds.try_emplace(rate->operation, HUGE_VAL, HUGE_VAL).first->second.second;
      slowest = std::min(slowest, rate->bus_bandwidth);
    }
  return !others.empty() && std::ranges::any_of(bounds, [](const auto& of) {
    return std::isfinite(of.second.second) && of.second.first < of.second.second * std::exp(-kMatters);
  });
}

}  // namespace

HalvingLaunches::HalvingLaunches(const BurninRecord& record, bool without_nvlink)
    : record_(record), without_nvlink_(without_nvlink) {
  const auto is_mine = [without_nvlink](const GroupLaunch& launch) {
    return launch.phase == BurninPhase::halving && launch.without_nvlink == without_nvlink;
  };
  for (int node = 0; std::cmp_less(node, record.table.nodes.size()); ++node)
    gpus_.push_back(gpus_of(record, node));
  for (const GroupRate& rate : record.groups) {
    if (rate.launch.phase == BurninPhase::nodes) by_itself_[rate.launch.nodes.front()] = true;
    if (!is_mine(rate.launch)) continue;
    has_floor_ = has_floor_ || rate.floor > 0;
    if (rate.launch.alone) {
      add_rate(alone_[key_of(rate.launch)], rate);
      continue;
    }
    rates_[key_of(rate.launch)].push_back(&rate);
    kinds_[kind_of(rate.launch)].push_back(&rate);
  }
  for (const GroupFailure& failure : record.group_failures) {
    if (failure.launch.phase == BurninPhase::nodes) by_itself_.emplace(failure.launch.nodes.front(), false);
    if (is_mine(failure.launch))
      (failure.launch.alone ? failures_alone_ : failures_)[key_of(failure.launch)] = &failure;
  }
}

HalvingLaunches::Key HalvingLaunches::key_of(const GroupLaunch& launch) {
  Nodes nodes = launch.nodes;
  std::ranges::sort(nodes);
  return {nodes, launch.rail.value_or(-1)};
}

HalvingLaunches::Kind HalvingLaunches::kind_of(const GroupLaunch& launch) const {
  Kind kind{launch.nodes.size(),
            nodes_per_leaf(launch.nodes, record_.table.leaf_of_node),
            {},
            launch.rail.value_or(-1)};
  for (const int node : launch.nodes) kind.gpus.insert(gpus_[slot_of(node)]);
  return kind;
}

GroupLaunch HalvingLaunches::launch_of(Nodes nodes, std::optional<int> rail) const {
  return {BurninPhase::halving, std::move(nodes), rail, false, without_nvlink_};
}

GroupLaunch HalvingLaunches::pair_of(int a, int b, std::optional<int> rail) const {
  return launch_of({std::min(a, b), std::max(a, b)}, rail);
}

bool HalvingLaunches::was_launched(const GroupLaunch& launch) const {
  return rates_.contains(key_of(launch)) || failures_.contains(key_of(launch));
}

bool HalvingLaunches::is_well(const Nodes& nodes) const {
  return std::ranges::all_of(nodes, [this](int node) { return well_.contains(node); });
}

int HalvingLaunches::leaf_of(int node) const {
  return record_.table.leaf_of_node.empty() ? 0 : record_.table.leaf_of_node[slot_of(node)];
}

LaunchVerdict HalvingLaunches::verdict_of(const GroupLaunch& launch) const {
  const auto rates = rates_.find(key_of(launch));
  if (rates != rates_.end()) return worst_of(rates->second);
  const auto failure = failures_.find(key_of(launch));
  if (failure == failures_.end()) return {};
  return {LaunchState::failed, 0, 0, "it gave no result: " + failure->second->why};
}

LaunchVerdict HalvingLaunches::worst_of(const Rates& rates) const {
  LaunchVerdict worst{LaunchState::unknown};
  for (const GroupRate* const rate : rates) {
    LaunchVerdict said = verdict_of(*rate);
    const bool is_worse = said.state == LaunchState::slow &&
                          (worst.state != LaunchState::slow || said.log_time > worst.log_time);
    if (is_worse || (worst.state == LaunchState::unknown && said.state == LaunchState::well)) {
      worst = std::move(said);
    } else if (said.state == worst.state) {
      worst.line = std::max(worst.line, said.line);
    }
  }
  return worst;
}

LaunchVerdict HalvingLaunches::verdict_of(const GroupRate& rate) const {
  const std::string made =
      fmt::format("{} makes {:.4g} GB/s", rate.operation, rate.bus_bandwidth / kGigabyte);
  if (rate.is_below_floor()) {
    return {LaunchState::slow, std::log(rate.floor / rate.bus_bandwidth), 0,
            fmt::format("{}, below the {:.4g} of a sound {}", made, rate.floor / kGigabyte, rate.machine)};
  }
  const Rates& all = kinds_.at(kind_of(rate.launch));
  Rates controls;
  std::ranges::copy_if(all, std::back_inserter(controls),
                       [this](const GroupRate* of) { return is_well(of->launch.nodes); });
  const std::vector<double> logs = logs_of(controls, rate.operation);
  const auto reference = reference_of(logs.size() >= kMinPopulation ? logs : logs_of(all, rate.operation));
  if (!reference) return {rate.floor > 0 ? LaunchState::well : LaunchState::unknown};
  const double more = reference->middle - std::log(rate.bus_bandwidth);
  if (more <= reference->line) {
    const bool can_tell = rate.floor > 0 || reference->line <= kMaxBlind;
    return {can_tell ? LaunchState::well : LaunchState::unknown, 0, reference->line};
  }
  return {LaunchState::slow, more, reference->line,
          fmt::format("{}, taking {} (line {})", made,
                      time_words(more, fmt::format("the {} like it", reference->count)),
                      percent_slower(reference->line))};
}

LaunchVerdict HalvingLaunches::verdict_alone(GroupLaunch launch, std::size_t times, GroupBatch& next) const {
  launch.alone = true;
  GroupLaunch control = launch_of(well_group_like(launch));
  control.alone = true;
  if (failures_alone_.contains(key_of(launch))) {
    // One that gave a rate beside others, and none by itself, is no slow one.
    const LaunchVerdict in_company = verdict_of(launch);
    return in_company.state == LaunchState::failed ? in_company : LaunchVerdict{LaunchState::unknown};
  }
  const auto measured = [this](const GroupLaunch& of) {
    const auto found = alone_.find(key_of(of));
    return found == alone_.end() ? std::vector<Rates>{} : found->second;
  };
  const std::vector<Rates> own = measured(launch);
  const std::vector<Rates> controls = control.nodes.empty() ? std::vector<Rates>{} : measured(control);
  const bool has_controls = !control.nodes.empty() && !failures_alone_.contains(key_of(control));
  LaunchVerdict worst{LaunchState::unknown};
  for (std::size_t time = 0; time < times; ++time) {
    if (own.size() <= time) {
      next = {launch};
      return {};
    }
    LaunchVerdict verdict = worst_of(own[time]);
    if (!verdict.is_bad()) return verdict;
    if (verdict.log_time > worst.log_time) worst = std::move(verdict);
    if (has_controls && controls.size() <= time) {
      next = {control};
      return {};
    }
  }
  worst.state = is_apart(own, controls) || (!has_controls && worst.line <= 0) ? LaunchState::slow
                                                                              : LaunchState::unknown;
  return worst;
}

bool HalvingLaunches::is_far_behind(const Nodes& nodes) const {
  const auto of = kinds_.find(kind_of(launch_of(nodes)));
  if (of == kinds_.end()) return false;
  for (const GroupRate* const own : rates_.at(key_of(launch_of(nodes)))) {
    const std::vector<double> logs = logs_of(of->second, own->operation);
    if (std::log(own->bus_bandwidth) < *std::ranges::max_element(logs) - kMaxBlind) return true;
  }
  return false;
}

HalvingLaunches::Nodes HalvingLaunches::like(const Kind& kind, const std::set<int>& used) const {
  std::map<int, Nodes> free;
  for (const int node : well_) {
    if (!used.contains(node) && kind.gpus.size() == 1 && kind.gpus.contains(gpus_[slot_of(node)]))
      free[leaf_of(node)].push_back(node);
  }
  Nodes nodes;
  for (const int count : kind.per_leaf.empty() ? Nodes{static_cast<int>(kind.size)} : kind.per_leaf) {
    const auto leaf = std::ranges::find_if(
        free, [count](const auto& of) { return std::cmp_less_equal(count, of.second.size()); });
    if (leaf == free.end()) return {};
    nodes.insert(nodes.end(), leaf->second.begin(), leaf->second.begin() + count);
    free.erase(leaf);
  }
  return nodes;
}

HalvingLaunches::Nodes HalvingLaunches::well_group_like(const GroupLaunch& launch) const {
  const std::set<int> own(launch.nodes.begin(), launch.nodes.end());
  const Kind kind = kind_of(launch);
  for (const auto& [key, rates] : rates_) {
    const bool is_apart = std::ranges::none_of(key.first, [&own](int node) { return own.contains(node); });
    if (is_apart && key.second == kind.rail && kind_of(rates.front()->launch) == kind &&
        worst_of(rates).state == LaunchState::well)
      return key.first;
  }
  return like(kind, own);
}

std::vector<GroupLaunch> HalvingLaunches::controls_for(const GroupLaunch& launch,
                                                       const std::set<int>& busy) const {
  if (well_.empty() || (has_floor_ && !launch.rail)) return {};
  const Kind kind = kind_of(launch);
  std::set<int> taken(launch.nodes.begin(), launch.nodes.end());
  std::size_t count = 0;
  const auto note = [&](const auto& launched) {
    for (const auto& [key, of] : launched) {
      const bool may_be_like = key.second == kind.rail && key.first.size() == kind.size && is_well(key.first);
      if (!may_be_like || key == key_of(launch) || kind_of(launch_of(key.first, launch.rail)) != kind)
        continue;
      ++count;
      taken.insert(key.first.begin(), key.first.end());
    }
  };
  note(rates_);
  note(failures_);
  std::vector<GroupLaunch> missing;
  const auto add = [&](std::size_t enough, std::set<int> used) {
    used.insert(taken.begin(), taken.end());
    for (Nodes nodes; count < enough && !(nodes = like(kind, used)).empty(); ++count) {
      used.insert(nodes.begin(), nodes.end());
      taken.insert(nodes.begin(), nodes.end());
      missing.push_back(launch_of(nodes, launch.rail));
    }
  };
  // More than the fewest only in a launch that is needed anyhow.
  add(busy.empty() ? kMinPopulation : kControls, busy);
  add(kMinPopulation, {});
  return missing;
}

std::vector<GroupLaunch> HalvingLaunches::missing_controls(const std::vector<GroupLaunch>& tested,
                                                           std::set<int> busy) const {
  std::vector<GroupLaunch> missing;
  std::set<Kind> kinds;
  for (const GroupLaunch& launch : tested) {
    if (!kinds.insert(kind_of(launch)).second) continue;
    for (GroupLaunch& control : controls_for(launch, busy)) {
      busy.insert(control.nodes.begin(), control.nodes.end());
      missing.push_back(std::move(control));
    }
  }
  return missing;
}

bool HalvingLaunches::can_be_compared(const GroupLaunch& launch) const {
  if (has_floor_) return true;
  std::set<int> used(launch.nodes.begin(), launch.nodes.end());
  for (std::size_t count = 0; count < kMinPopulation; ++count) {
    const Nodes nodes = like(kind_of(launch), used);
    if (nodes.empty()) return false;
    used.insert(nodes.begin(), nodes.end());
  }
  return true;
}

HalvingLaunches::Nodes HalvingLaunches::partners_of(int node) const {
  Nodes partners;
  const auto note = [&](const Key& key) {
    if (key.second >= 0 || key.first.size() != 2) return;
    const int other = key.first[0] == node ? key.first[1] : key.first[0];
    if ((key.first[0] == node || key.first[1] == node) && well_.contains(other)) partners.push_back(other);
  };
  for (const auto& [key, rates] : rates_) note(key);
  for (const auto& [key, failure] : failures_) note(key);
  std::ranges::sort(partners);
  partners.erase(std::unique(partners.begin(), partners.end()), partners.end());
  return partners;
}

std::optional<int> HalvingLaunches::partner_for(int node, const Nodes& met, const std::set<int>& busy) const {
  std::optional<int> best;
  const auto rank = [&](int other) {
    return std::tuple(busy.contains(other), leaf_of(other) != leaf_of(node), std::abs(other - node), other);
  };
  for (const int other : well_) {
    const bool fits =
        gpus_[slot_of(other)] == gpus_[slot_of(node)] && std::ranges::find(met, other) == met.end();
    if (fits && (!best || rank(other) < rank(*best))) best = other;
  }
  return best;
}

}  // namespace collbench::analysis
