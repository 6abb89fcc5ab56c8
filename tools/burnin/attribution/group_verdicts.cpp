#include "tools/burnin/attribution/group_verdicts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "analysis/probe/siblings.hpp"
#include "base/statistics.hpp"
#include "base/units.hpp"
#include "tools/burnin/attribution/blame_words.hpp"
#include "tools/burnin/attribution/gpu_phase.hpp"
#include "tools/burnin/attribution/halving.hpp"
#include "tools/burnin/attribution/mixed_fleet.hpp"
#include "tools/burnin/attribution/pairs/pair_elimination.hpp"

namespace collbench::analysis {
namespace {

// By so much two sittings of one host may differ on host memory, by where pages and ranks happen to lie (85
// records of one machine, docs/compare.md): a host that is in another state than its siblings for that
// long is slower in each launch of a burn-in, and sound.
constexpr double kSittingsOnHostMemory = 1.3;

/// From where on a member is named: only for what matters. NaN where it cannot be compared.
double line_to_name(const GroupPopulation& population) { return std::max(population.line, kMatters); }

double log_of(const GroupRate& rate) { return std::log(rate.bus_bandwidth); }

/// By how much a member of a population is below its median: log, and 0 for the median.
double below(const GroupPopulation& population, const GroupRate& rate) {
  return std::log(population.median) - log_of(rate);
}

const GroupRate& slowest_of(const GroupPopulation& population) {
  return **std::ranges::min_element(population.members, {}, &GroupRate::bus_bandwidth);
}

/// What a launch took again, alone, against others alone: log; none where fewer than two can be compared.
std::optional<double> below_alone(const std::vector<GroupPopulation>& populations,
                                  const GroupPopulation& population, const GroupRate& rate,
                                  const std::set<std::vector<int>>& slow) {
  const GroupRate* own = nullptr;
  std::vector<double> others;
  for (const GroupPopulation& other : populations) {
    if (!other.alone || other.phase != population.phase || other.size != population.size ||
        other.operation != population.operation || other.per_leaf != population.per_leaf ||
        other.gpus != population.gpus)
      continue;
    for (const GroupRate* const member : other.members) {
      if (member->launch.nodes == rate.launch.nodes)
        own = member;
      else if (!slow.contains(member->launch.nodes))
        others.push_back(log_of(*member));
    }
  }
  if (own == nullptr || others.size() < 2) return std::nullopt;
  return median(others) - log_of(*own);
}

/// "groups of 8 across 2 leaf switches (4 + 4)".
std::string words_of_like(const GroupPopulation& population) {
  if (population.phase == BurninPhase::nodes) return "hosts by themselves";
  const std::size_t leaves = population.per_leaf.size();
  return fmt::format("groups of {}{}", population.size,
                     leaves == 0   ? ""
                     : leaves == 1 ? " below one leaf switch"
                                   : fmt::format(" across {} leaf switches ({})", leaves,
                                                 fmt::join(population.per_leaf, " + ")));
}

/// A slow member of a population of hosts by themselves, or of small groups.
struct SlowGroup {
  const GroupRate* rate = nullptr;
  double log_time = 0;
  double line = 0;
  bool confirmed = false;
  std::string like{};  ///< what it was compared with: "groups of 8"
};

/// By their nodes, each with its slowest operation. Slow in company and not alone is others' work, and left
/// out.
std::map<std::vector<int>, SlowGroup> slow_groups(const std::vector<GroupPopulation>& populations,
                                                  BurninPhase phase) {
  std::set<std::vector<int>> suspected;
  for (const GroupPopulation& population : populations) {
    if (population.phase != phase || population.alone) continue;
    for (const GroupRate* const rate : population.members)
      if (below(population, *rate) > line_to_name(population)) suspected.insert(rate->launch.nodes);
  }
  std::map<std::vector<int>, SlowGroup> found;
  for (const GroupPopulation& population : populations) {
    if (population.phase != phase || population.alone) continue;
    for (const GroupRate* const rate : population.members) {
      if (!(below(population, *rate) > line_to_name(population))) continue;
      const std::optional<double> alone = below_alone(populations, population, *rate, suspected);
      if (alone && *alone <= line_to_name(population)) continue;
      const SlowGroup slow{rate, alone.value_or(below(population, *rate)), line_to_name(population),
                           alone.has_value(), words_of_like(population)};
      SlowGroup& known = found.try_emplace(rate->launch.nodes, slow).first->second;
      if (slow.log_time > known.log_time) known = slow;
    }
  }
  return found;
}

std::string rate_words(const GroupRate& rate) {
  return fmt::format("{} makes {:.4g} GB/s", rate.operation, rate.bus_bandwidth / kGigabyte);
}

void judge_single_nodes(const BurninRecord& record, const std::vector<GroupPopulation>& populations,
                        Attribution& found) {
  for (const auto& [nodes, slow] : slow_groups(populations, BurninPhase::nodes)) {
    const int node = nodes.front();
    const std::string& host = record.table.nodes[slot_of(node)];
    const double bad_times = slow.rate->host_memory ? kSittingsOnHostMemory : kBadTimes;
    const bool may_be_a_sitting = slow.rate->host_memory && std::exp(slow.log_time) <= kSittingsOnHostMemory;
    const std::string evidence =
        fmt::format("{} by itself: {}, taking {} (line {}){}{}", host, rate_words(*slow.rate),
                    time_words(slow.log_time, "its siblings"), percent_slower(slow.line),
                    slow.confirmed ? ", and again with nothing beside it" : "",
                    may_be_a_sitting ? "; on host memory one sound host may differ by 30 % from one sitting "
                                       "to another, so measure it again later"
                                     : "");
    add_finding(
        found.blames,
        {.kind = BlameKind::inside, .nodes = {node}, .confirmed = slow.confirmed, .evidence = evidence},
        slow.log_time, slow.line, host);
    NodeVerdict& verdict = found.nodes[slot_of(node)];
    const bool is_bad = slow.confirmed && std::exp(slow.log_time) > bad_times;
    if (verdict.bucket == Bucket::good || (is_bad && verdict.bucket == Bucket::suspect))
      verdict = {node, is_bad ? Bucket::bad : Bucket::suspect, evidence};
  }
}

/// Below its floor, where that is for what it had of the network, and not above it when measured again alone.
bool counts_as_below(const BurninRecord& record, const GroupRate& rate) {
  const bool has_network = rate.launch.alone || rate.launch.phase == BurninPhase::nodes;
  return has_network && rate.is_below_floor() &&
         std::ranges::none_of(record.groups, [&rate](const GroupRate& again) {
           return again.launch.alone && again.launch.phase == rate.launch.phase &&
                  again.launch.nodes == rate.launch.nodes && again.operation == rate.operation &&
                  again.floor > 0 && !again.is_below_floor();
         });
}

/// Hosts by themselves that are like their siblings, and below what a sound one makes.
void judge_by_floor(const BurninRecord& record, Attribution& found) {
  for (const GroupRate& rate : record.groups) {
    if (rate.launch.phase != BurninPhase::nodes || !counts_as_below(record, rate)) continue;
    NodeVerdict& verdict = found.nodes[slot_of(rate.launch.nodes.front())];
    if (verdict.bucket == Bucket::good)
      verdict = {rate.launch.nodes.front(), Bucket::suspect, "by itself " + floor_words(record, rate)};
  }
}

/// Where no pairs were measured: who took part in what could be compared, and nothing speaks against it.
void judge_without_pairs(const BurninRecord& record, const std::vector<GroupPopulation>& populations,
                         Attribution& found) {
  if (record.launcher_errors.contains(stage(BurninPhase::pairs))) {
    for (NodeVerdict& verdict : found.nodes)
      verdict = {verdict.node, Bucket::not_tested, "phase pairs was ended by its launcher"};
    return;
  }
  if (record.groups.empty() && record.group_failures.empty() && record.probes.empty()) return;
  std::set<int> compared;
  found.blind_below = 0;
  found.blind_below_by_node.clear();
  for (const GroupPopulation& population : populations) {
    const bool of_nodes = population.phase == BurninPhase::nodes || population.phase == BurninPhase::groups;
    if (!of_nodes || population.alone || std::isnan(population.line)) continue;
    found.blind_below = std::max(found.blind_below, line_to_name(population));
    for (const GroupRate* const rate : population.members)
      compared.insert(rate->launch.nodes.begin(), rate->launch.nodes.end());
  }
  const std::vector<int> probed = nodes_with_compared_gpus(record);
  compared.insert(probed.begin(), probed.end());
  if (!probed.empty()) found.blind_below = std::max(found.blind_below, -std::log(kSuspectShare));
  if (compared.empty()) found.blind_below = std::numeric_limits<double>::infinity();
  std::set<int> measured(probed.begin(), probed.end());
  for (const GroupRate& rate : record.groups)
    measured.insert(rate.launch.nodes.begin(), rate.launch.nodes.end());
  if (record.expected > 0 && has_rate_of_each_node(record)) {  // whatever the others make
    compared = measured;
    found.blind_below = std::min(found.blind_below, -std::log(kShareOfExpected));
  }
  for (NodeVerdict& verdict : found.nodes) {
    verdict = {verdict.node, Bucket::not_tested,
               measured.contains(verdict.node) || record.source.empty() ? "in nothing that can be compared"
                                                                        : "not measured"};
    if (compared.contains(verdict.node)) verdict = {verdict.node, Bucket::good, ""};
  }
  // Pairs were asked for, and had nobody to compare these with: what their links carry is not known.
  if (!was_left_out(record, BurninPhase::pairs)) {
    for (const auto& verdict : nodes_without_like(record)) found.nodes[slot_of(verdict.node)] = verdict;
  }
}

/// A host without a result of its own launch, beside others that have one.
void judge_failed_nodes(const BurninRecord& record, Attribution& found) {
  for (const auto& [launch, said] : record.group_failures) {
    if (launch.phase != BurninPhase::nodes && launch.phase != BurninPhase::gpus) continue;
    NodeVerdict& verdict = found.nodes[slot_of(launch.nodes.front())];
    const std::string why = fmt::format("no result in phase {}: {}", name(launch.phase), said);
    if (verdict.bucket == Bucket::good && works_somewhere(record, launch.phase))
      verdict = {verdict.node, Bucket::suspect, why};
    if (verdict.bucket == Bucket::not_tested && record.failures.empty()) verdict.why = why;
  }
}

void judge_small_groups(const BurninRecord& record, const std::vector<GroupPopulation>& populations,
                        Attribution& found) {
  std::vector<std::vector<int>> named;
  std::vector<const GroupRate*> by_itself;
  for (const GroupPopulation& population : populations)
    if (population.phase == BurninPhase::nodes)
      by_itself.insert(by_itself.end(), population.members.begin(), population.members.end());
  auto slow = slow_groups(populations, BurninPhase::groups);
  std::set<int> cleared;  // in a group like the others: of disjoint ones nobody of a slow one is
  for (const GroupPopulation& population : populations) {
    if (population.phase != BurninPhase::groups || std::isnan(population.line)) continue;
    for (const GroupRate* const rate : population.members)
      if (!slow.contains(rate->launch.nodes))
        cleared.insert(rate->launch.nodes.begin(), rate->launch.nodes.end());
  }
  std::vector<std::pair<std::vector<int>, SlowGroup>> by_size(slow.begin(), slow.end());
  std::ranges::sort(by_size, [](const auto& a, const auto& b) {
    return a.first.size() != b.first.size() ? a.first.size() < b.first.size() : a.first < b.first;
  });
  for (const auto& entry : by_size) {
    const std::vector<int>& nodes = entry.first;
    const SlowGroup& group = entry.second;
    const bool explained =
        std::ranges::any_of(nodes,
                            [&](int node) { return found.nodes[slot_of(node)].bucket != Bucket::good; }) ||
        std::ranges::any_of(named, [&nodes](const std::vector<int>& part) {
          return std::includes(nodes.begin(), nodes.end(), part.begin(), part.end());
        });
    if (explained) continue;
    named.push_back(nodes);
    const std::vector<std::string> hosts = names_of(record, nodes);
    const bool says_nothing_of_nodes = record.table.times.empty() && by_itself.empty();
    for (const int node : nodes) {
      if (says_nothing_of_nodes && !cleared.contains(node))
        found.nodes[slot_of(node)] = {
            node, Bucket::not_tested,
            fmt::format("this design cannot tell: in a group of {} that takes {} (line {}); it, one of the "
                        "others, or what is between them",
                        nodes.size(), time_words(group.log_time), percent_slower(group.line))};
    }
    add_finding(
        found.blames,
        {.kind = BlameKind::group,
         .nodes = nodes,
         .confirmed = group.confirmed,
         .evidence = fmt::format(
             "{} on {}, taking {} (line {}), and {}", rate_words(*group.rate), fmt::join(hosts, ", "),
             time_words(group.log_time, group.like), percent_slower(group.line),
             says_nothing_of_nodes ? "its nodes by themselves were not measured"
                                   : "nothing speaks against its nodes or smaller groups by themselves")},
        group.log_time, group.line, fmt::format("{}", fmt::join(hosts, ", ")));
  }
}

void judge_rails(const std::vector<GroupPopulation>& populations, Attribution& found) {
  for (const GroupPopulation& population : populations) {
    if (population.phase != BurninPhase::rails || !population.alone) continue;
    for (const GroupRate* const rate : population.members) {
      const int rail = rate->launch.rail.value_or(0);
      const double more = below(population, *rate);
      if (!(more > line_to_name(population)) || blames_rail(found.blames, rail)) continue;
      add_finding(found.blames,
                  {.kind = BlameKind::rail,
                   .rail = rail,
                   .confirmed = false,  // each rail ran once
                   .evidence = fmt::format("over rail {} {}, taking {}, one rail at a time "
                                           "(a slow NIC of one node slows them all, too)",
                                           rail, rate_words(*rate), time_words(more, "the other rails"))},
                  more, line_to_name(population), "");
    }
  }
}

/// "not compared: 2 groups of …", for each kind of group of which fewer than kMinPopulation were measured.
std::string not_compared(const BurninRecord& record, const std::vector<GroupPopulation>& populations,
                         BurninPhase phase) {
  std::vector<std::string> kinds;
  for (const GroupPopulation& population : populations) {
    const bool is_compared = phase == BurninPhase::nodes || phase == BurninPhase::groups;
    if (population.phase != phase || population.alone || !is_compared || !std::isnan(population.line))
      continue;
    std::string kind = fmt::format("{} {}", population.members.size(), words_of_like(population));
    if (phase == BurninPhase::nodes) {
      std::vector<std::string> hosts;
      for (const GroupRate* const rate : population.members)
        hosts.push_back(record.table.nodes[slot_of(rate->launch.nodes.front())]);
      kind = fmt::format("{}{}", fmt::join(hosts, ", "),
                         population.gpus.empty() ? "" : fmt::format(" ({})", population.gpus));
    }
    if (std::ranges::find(kinds, kind) == kinds.end()) kinds.push_back(std::move(kind));
  }
  if (kinds.empty()) return {};
  return fmt::format("not compared, for fewer than {} were alike: {}", kMinPopulation,
                     fmt::join(kinds, ", "));
}

/// "+1.8 %"; "-" where nobody knows, or where half of the rate could be missing.
std::string line_words(double line) {
  constexpr double kUseless = 0.6931;  // log 2
  return line <= kUseless ? percent_slower(line) : "-";
}

bool is_of_groups(BurninPhase phase) { return phase == BurninPhase::groups || phase == BurninPhase::halving; }

std::string phase_heading(const BurninRecord& record, BurninPhase phase) {
  const std::size_t hosts = record.table.nodes.size();
  switch (phase) {
    case BurninPhase::nodes:
      return fmt::format("phase nodes: each of {} by itself, bus bandwidth in GB/s", counted(hosts, "host"));
    case BurninPhase::rails:
      return fmt::format("phase rails: all hosts over each of {}, bus bandwidth in GB/s",
                         counted(slot_of(record.table.rails), "rail"));
    case BurninPhase::groups:
      return fmt::format("phase groups: {}groups of hosts, bus bandwidth in GB/s",
                         record.source.empty() ? "disjoint " : "");
    case BurninPhase::whole:
      return "phase whole: all hosts, bus bandwidth in GB/s";
    case BurninPhase::halving:
      return "phase halving: domains, halves of slow ones and groups of well hosts beside them, bus "
             "bandwidth in GB/s";
    case BurninPhase::gpus:  // gpu_section has one of its own
    case BurninPhase::pairs:
      return "phase pairs: a message one way, bandwidth in GB/s";
  }
  return {};
}

}  // namespace

double group_line(const std::vector<double>& log_rates) {
  if (log_rates.size() < kMinPopulation) return std::numeric_limits<double>::quiet_NaN();
  return population_line(log_rates, 1 + 3 / static_cast<double>(log_rates.size() - 1));
}

std::vector<GroupPopulation> group_populations(const BurninRecord& record) {
  std::vector<GroupPopulation> found;
  for (const GroupRate& rate : record.groups) {
    if (!(rate.bus_bandwidth > 0)) continue;
    const GroupLaunch& launch = rate.launch;
    const std::vector<int> per_leaf = nodes_per_leaf(launch.nodes, record.table.leaf_of_node);
    const std::string gpus = gpus_of(record, launch.nodes);
    auto population = std::ranges::find_if(found, [&](const GroupPopulation& one) {
      return one.phase == launch.phase && one.size == launch.nodes.size() && one.per_leaf == per_leaf &&
             one.gpus == gpus && one.operation == rate.operation && one.alone == launch.alone &&
             one.members.front()->launch.rail.has_value() == launch.rail.has_value() &&
             one.members.front()->launch.without_nvlink == launch.without_nvlink;
    });
    if (population == found.end()) {
      found.push_back({launch.phase, launch.nodes.size(), per_leaf, gpus, rate.operation, launch.alone, {}});
      population = found.end() - 1;
    }
    population->members.push_back(&rate);
  }
  for (GroupPopulation& population : found) {
    std::vector<double> logs;
    for (const GroupRate* const rate : population.members) logs.push_back(log_of(*rate));
    population.median = std::exp(median(logs));
    population.line = group_line(logs);
  }
  return found;
}

void judge_groups(const BurninRecord& record, Attribution& found) {
  const std::vector<GroupPopulation> populations = group_populations(record);
  if (record.table.times.empty() && record.failures.empty()) judge_without_pairs(record, populations, found);
  judge_failed_nodes(record, found);
  judge_gpus(record, found);
  judge_single_nodes(record, populations, found);
  judge_halving(record, found);
  judge_small_groups(record, populations, found);
  judge_by_floor(record, found);
  judge_rails(populations, found);
}

JobsBelowFloor jobs_below_floor(const BurninRecord& record) {
  using Job = std::pair<BurninPhase, std::vector<int>>;
  JobsBelowFloor jobs;
  std::set<Job> judged;
  std::set<Job> below;
  const auto share = [](const GroupRate& rate) { return rate.bus_bandwidth / rate.floor; };
  for (const GroupRate& rate : record.groups) {
    if (rate.floor <= 0 || (!rate.launch.alone && rate.launch.phase != BurninPhase::nodes)) continue;
    judged.emplace(rate.launch.phase, rate.launch.nodes);
    if (!counts_as_below(record, rate)) continue;
    below.emplace(rate.launch.phase, rate.launch.nodes);
    if (jobs.worst == nullptr || share(rate) < share(*jobs.worst)) jobs.worst = &rate;
  }
  jobs.judged = judged.size();
  jobs.below = below.size();
  return jobs;
}

std::string floor_words(const BurninRecord& record, const GroupRate& rate) {
  const std::vector<std::string> hosts = names_of(record, rate.launch.nodes);
  return fmt::format("{}{}, below the {:.4g} GB/s of a sound {}", rate_words(rate),
                     hosts.size() == 1 ? "" : fmt::format(" on {} to {}", hosts.front(), hosts.back()),
                     rate.floor / kGigabyte, rate.machine);
}

std::vector<GroupLaunch> group_retests(const BurninRecord& record) {
  const std::vector<GroupPopulation> populations = group_populations(record);
  std::vector<GroupLaunch> launches;
  const auto add = [&launches](GroupLaunch launch) {
    launch.alone = true;
    if (std::ranges::find(launches, launch) == launches.end()) launches.push_back(std::move(launch));
  };
  for (const GroupPopulation& population : populations) {
    if (population.alone || population.phase == BurninPhase::rails) continue;
    constexpr std::size_t kReferences = 2;
    std::vector<const GroupRate*> slow;
    std::vector<const GroupRate*> like_others;
    for (const GroupRate* const rate : population.members)
      (below(population, *rate) > line_to_name(population) ? slow : like_others).push_back(rate);
    const GroupRate& slowest = slowest_of(population);
    if (is_of_groups(population.phase) && population.median < slowest.floor) add(slowest.launch);
    if (slow.empty() || population.phase == BurninPhase::halving) continue;
    std::ranges::sort(like_others, [&](const GroupRate* a, const GroupRate* b) {
      const double first = std::fabs(below(population, *a));
      const double second = std::fabs(below(population, *b));
      return first < second || (first <= second && a->launch.nodes < b->launch.nodes);
    });
    for (const GroupRate* const rate : slow) add(rate->launch);
    for (std::size_t i = 0; i < std::min(kReferences, like_others.size()); ++i) add(like_others[i]->launch);
  }
  return launches;
}

ReportSection group_section(const BurninRecord& record, BurninPhase phase) {
  const std::vector<GroupPopulation> populations = group_populations(record);
  // Where leaves are known a size has a line for each way in which its groups spread over them.
  const bool has_leaves = is_of_groups(phase) && !record.table.leaf_of_node.empty();
  ReportTable table{
      .headings = {"operation", "measured", "jobs", "median", "slowest", "line", "who is slowest"},
      .left = 2,
      .right = 1,
      .spare = {"line", "jobs"}};
  if (has_leaves) table.headings.insert(table.headings.begin() + 2, "leaves");
  if (phase != BurninPhase::rails) table.headings.insert(table.headings.begin() + 2, "hosts");
  for (const GroupPopulation& population : populations) {
    const bool is_halved_rail = phase == BurninPhase::halving && population.members.front()->launch.rail;
    if (population.phase != phase || is_halved_rail) continue;  // a line for each rail would be too many
    const GroupRate& worst = slowest_of(population);
    const std::string first_host = record.table.nodes[slot_of(worst.launch.nodes.front())];
    std::vector<ReportCell>& cells = table.rows.emplace_back(1, population.operation);
    cells.emplace_back(population.alone ? "alone" : "at once");
    if (phase != BurninPhase::rails) cells.emplace_back(fmt::to_string(population.size));
    if (has_leaves) cells.emplace_back(fmt::to_string(population.per_leaf.size()));
    cells.insert(
        cells.end(),
        {fmt::to_string(population.members.size()), fmt::format("{:.4g}", population.median / kGigabyte),
         fmt::format("{:.4g}", worst.bus_bandwidth / kGigabyte), line_words(population.line),
         worst.launch.rail ? fmt::format("rail {}", *worst.launch.rail)
         : worst.launch.nodes.size() == 1
             ? first_host
             : fmt::format("{} to {}", first_host, record.table.nodes[slot_of(worst.launch.nodes.back())])});
  }
  if (table.rows.empty()) return {};
  ReportSection section{phase_heading(record, phase), {std::move(table)}};
  if (std::string left = not_compared(record, populations, phase); !left.empty())
    section.blocks.emplace_back(std::move(left));
  return section;
}

}  // namespace collbench::analysis
