#include "tools/burnin/attribution/burnin_record.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/host_name.hpp"
#include "base/text_sinks.hpp"
#include "base/units.hpp"
#include "tools/burnin/attribution/blame.hpp"
#include "tools/burnin/attribution/blame_words.hpp"
#include "tools/burnin/attribution/failure_verdicts.hpp"
#include "tools/burnin/attribution/group_verdicts.hpp"
#include "tools/burnin/attribution/mixed_fleet.hpp"
#include "tools/burnin/attribution/pairs/pair_elimination.hpp"
#include "tools/burnin/attribution/steadiness.hpp"

namespace collbench::analysis {
namespace {

/// What a node made on a rail: its fastest rate, bytes per second, and some of those it met, three at most.
struct OfNode {
  double fastest = 0;
  std::set<int> met{};
};
using RatesOfRail = std::map<int, OfNode>;  // by node

std::map<int, RatesOfRail> rates_by_rail(const BurninRecord& record) {
  std::map<int, RatesOfRail> rates;
  for (const RailTime& time : record.table.times) {
    if (time.seconds <= 0) continue;
    for (const auto& [node, other] : {std::pair(time.from, time.to), std::pair(time.to, time.from)}) {
      OfNode& of = rates[time.rail][node];
      of.fastest = std::max(of.fastest, record.bytes / time.seconds);
      if (std::cmp_less(of.met.size(), kMinPartners)) of.met.insert(other);
    }
  }
  return rates;
}

double fastest_of(const RatesOfRail& rates) {
  double fastest = 0;
  for (const auto& [node, of] : rates) fastest = std::max(fastest, of.fastest);
  return fastest;
}

/// Where others measured rates of nodes or groups: by node the fastest with it, in bytes per second.
std::map<int, double> node_rates(const BurninRecord& record) {
  std::map<int, double> rates;
  for (const GroupRate& group : record.groups) {
    if (record.source.empty()) continue;
    for (const int node : group.launch.nodes) {
      double& rate = rates[node];
      rate = std::max(rate, group.bus_bandwidth);
    }
  }
  return rates;
}

bool falls_short(const BurninRecord& record, double rate) {
  return record.expected > 0 && rate < kShareOfExpected * record.expected;
}

/// A rail on which nobody makes what is expected, and on others somebody does, is the rail's own fault.
bool is_slow_as_a_rail(const BurninRecord& record, const std::map<int, RatesOfRail>& rates, int rail) {
  return falls_short(record, fastest_of(rates.at(rail))) && std::ranges::any_of(rates, [&](const auto& of) {
           return !falls_short(record, fastest_of(of.second));
         });
}

/// "makes 20.2 of the expected 40 GB/s".
std::string makes_of_expected(const BurninRecord& record, double rate) {
  return fmt::format("makes {:.4g} of the expected {:.4g} GB/s", rate / kGigabyte,
                     record.expected / kGigabyte);
}

void add_rail_below_expected(const BurninRecord& record, int rail, double fastest, Attribution& found) {
  if (blames_rail(found.blames, rail)) return;
  add_finding(found.blames,
              {.kind = BlameKind::rail,
               .rail = rail,
               .against_expected = true,
               .evidence = fmt::format("the fastest pair of rail {} {}, and other rails make it", rail,
                                       makes_of_expected(record, fastest))},
              std::log(record.expected / fastest), -std::log(kShareOfExpected), "");
}

/// A node whose fastest pair on a rail falls short is no good one. Who met one or two others only, which fall
/// short with all they met as well, may be slow by these.
void judge_expected(const BurninRecord& record, Attribution& found) {
  if (record.expected <= 0) return;
  const std::map<int, RatesOfRail> by_rail = rates_by_rail(record);
  for (const auto& [rail, rates] : by_rail) {
    if (is_slow_as_a_rail(record, by_rail, rail)) {
      add_rail_below_expected(record, rail, fastest_of(rates), found);
      continue;
    }
    for (const auto& [node, of] : rates) {
      NodeVerdict& verdict = found.nodes[slot_of(node)];
      const bool is_open = verdict.bucket == Bucket::good || verdict.bucket == Bucket::not_tested;
      if (!is_open || !falls_short(record, of.fastest)) continue;
      const bool may_be_by_others = std::cmp_less(of.met.size(), kMinPartners) &&
                                    std::ranges::all_of(of.met, [&, &known = rates](int other) {
                                      return falls_short(record, known.at(other).fastest);
                                    });
      const std::string words = fmt::format("its fastest pair{} {}", record.table.of_rail(rail, " on"),
                                            makes_of_expected(record, of.fastest));
      if (may_be_by_others)
        verdict = {node, Bucket::not_tested,
                   fmt::format("this design cannot tell: {}, and it met {} only, whose pairs all are below",
                               words, fmt::join(names_of(record, {of.met.begin(), of.met.end()}), " and "))};
      else
        verdict = {node, Bucket::suspect, words};
    }
  }
}

/// The same of rates of nodes or groups, once judge_groups() has compared these: of a group's nodes nobody
/// knows which it is.
void judge_expected_of_nodes(const BurninRecord& record, Attribution& found) {
  const bool is_of_nodes = has_rate_of_each_node(record);
  for (const auto& [node, rate] : node_rates(record)) {
    NodeVerdict& verdict = found.nodes[slot_of(node)];
    const bool is_open = verdict.bucket == Bucket::good || verdict.bucket == Bucket::not_tested;
    if (!is_open || !falls_short(record, rate)) continue;
    if (is_of_nodes)
      verdict = {node, Bucket::suspect, "it " + makes_of_expected(record, rate)};
    else
      verdict = {node, Bucket::not_tested,
                 fmt::format("this design cannot tell: the fastest group with it {}",
                             makes_of_expected(record, rate))};
  }
}

/// "BELOW: 6 of 6 nodes make less than 95 % of the expected 40 GB/s (the fastest 20.2); ", of pairs "… in
/// their fastest pair (…"; empty for none.
std::string below_expected(const BurninRecord& record) {
  if (record.expected <= 0) return {};
  std::set<int> below;
  std::set<int> all;
  double fastest = 0;
  const auto count = [&](int node, double rate) {
    all.insert(node);
    if (falls_short(record, rate)) below.insert(node);
    fastest = std::max(fastest, rate);
  };
  const std::map<int, RatesOfRail> by_rail = rates_by_rail(record);
  for (const auto& [rail, rates] : by_rail) {
    if (is_slow_as_a_rail(record, by_rail, rail)) continue;
    for (const auto& [node, of] : rates) count(node, of.fastest);
  }
  const std::string_view measured_in = !all.empty()                    ? " in their fastest pair"
                                       : has_rate_of_each_node(record) ? ""
                                                                       : " in their fastest group";
  if (all.empty())
    for (const auto& [node, rate] : node_rates(record)) count(node, rate);
  return below.empty() ? ""
                       : fmt::format(
                             "BELOW: {} of {} nodes make less than {:.0f} % of the expected {:.4g} GB/s{} "
                             "(the fastest {:.4g}); ",
                             below.size(), all.size(), 100 * kShareOfExpected, record.expected / kGigabyte,
                             measured_in, fastest / kGigabyte);
}

/// A host with a counter that operators act on is no good one.
void judge_rises(const BurninRecord& record, Attribution& found) {
  for (const CounterRise& rise : record.rises) {
    if (grade_of(rise) == RiseGrade::noted) continue;
    const std::optional<int> node = node_named(record, rise.host);
    if (!node) continue;
    NodeVerdict& verdict = found.nodes[slot_of(*node)];
    if (verdict.bucket == Bucket::good)
      verdict = {verdict.node, Bucket::suspect, "its errors went up: " + rise_words(rise)};
  }
}

Attribution findings_of_idle_hosts(const BurninRecord& record) {
  Attribution found = attribute_alike(record, record.expected > 0 ? record.bytes / record.expected : 0);
  judge_expected(record, found);
  judge_failures(record, found);
  judge_groups(record, found);
  judge_expected_of_nodes(record, found);
  judge_rises(record, found);
  judge_losses(record.table, found);
  return found;
}

/// What the times, the failures and `expected` say, however much the times scatter.
Attribution burnin_findings(const BurninRecord& record) {
  const std::vector<BusyHost> busy = busy_hosts(record.table);
  if (busy.empty()) return findings_of_idle_hosts(record);
  BurninRecord rest = record;
  rest.table = without_hosts(record.table, busy);
  Attribution found = findings_of_idle_hosts(rest);
  judge_busy_hosts(record.table, busy, found);
  return found;
}

/// Pairs of good nodes, two below one leaf switch and two across: what others' times alone are compared with.
std::array<PairRound, 2> reference_pairs(const PairTable& table, const std::vector<int>& good) {
  constexpr std::size_t kOfAClass = 2;
  std::array<PairRound, 2> classes;
  const auto is_full = [&](std::size_t of) { return classes.at(of).size() >= kOfAClass; };
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (std::size_t k = i + 1; k < good.size(); ++k) {
      PairRound& round = classes.at(slot_of(path_class(table, good[i], good[k])));
      if (round.size() < kOfAClass) round.emplace_back(good[i], good[k]);
      if (is_full(0) && (is_full(1) || table.leaf_of_node.empty())) return classes;
    }
  }
  return classes;
}

/// Nobody is said to be slow by one column of a table and like the others by another.
void require_agreement(const BurninRecord& record, Attribution& found) {
  for (const OtherColumn& column : record.other_columns) {
    BurninRecord other = record;
    other.table.times = column.times;
    other.other_columns.clear();
    const Attribution said = burnin_findings(other);
    for (std::size_t node = 0; node < found.nodes.size(); ++node) {
      NodeVerdict& verdict = found.nodes[node];
      const NodeVerdict& again = said.nodes[node];
      const auto is_slow = [](const NodeVerdict& of) {
        return of.bucket == Bucket::suspect || of.bucket == Bucket::bad;
      };
      if (is_slow(verdict) == is_slow(again) || verdict.bucket == Bucket::not_tested) continue;
      const bool by_other = is_slow(again);
      verdict = {
          verdict.node, Bucket::not_tested,
          fmt::format("the columns disagree: slow by {}, and not by {}: {}",
                      by_other ? column.name : "the first column",
                      by_other ? "the first column" : column.name, by_other ? again.why : verdict.why)};
      std::erase_if(found.blames,
                    [&verdict](const Blame& blame) { return blame.nodes == std::vector{verdict.node}; });
    }
  }
}

}  // namespace

LeftOutPhase left_out(BurninPhase phase, std::string_view why) {
  return {fmt::format("{} ({})", name(phase), why), phase};
}

LeftOutPhase cut_by_time(BurninPhase phase) {
  return {fmt::format("{}{}", name(phase), kCutByTime), std::nullopt, true};
}

bool is_held_against_expected(const BurninRecord& record) {
  return !rates_by_rail(record).empty() || !node_rates(record).empty();
}

bool has_rate_of_each_node(const BurninRecord& record) {
  return !record.source.empty() && !record.groups.empty() &&
         std::ranges::all_of(record.groups,
                             [](const GroupRate& rate) { return rate.launch.nodes.size() == 1; });
}

bool was_left_out(const BurninRecord& record, BurninPhase phase) {
  return std::ranges::find(record.phases_left_out, phase, &LeftOutPhase::phase) !=
         record.phases_left_out.end();
}

bool works_somewhere(const BurninRecord& record, BurninPhase phase) {
  if (phase == BurninPhase::gpus) return !record.probes.empty();
  if (phase == BurninPhase::pairs) return !record.table.times.empty();
  return std::ranges::any_of(record.groups,
                             [phase](const GroupRate& rate) { return rate.launch.phase == phase; });
}

std::vector<int> nodes_not_reached(const BurninRecord& record) {
  std::set<int> asked;
  std::set<int> answered;
  for (const RailTime& time : record.table.times) answered.insert({time.from, time.to});
  for (const GroupRate& rate : record.groups)
    answered.insert(rate.launch.nodes.begin(), rate.launch.nodes.end());
  for (const ProbeRecord& probe : record.probes) answered.insert(node_named(record, probe.host).value_or(-1));
  for (const PairFailure& failure : record.failures) asked.insert({failure.a, failure.b});
  for (const GroupFailure& failure : record.group_failures)
    asked.insert(failure.launch.nodes.begin(), failure.launch.nodes.end());
  std::erase_if(asked, [&](int node) { return answered.empty() || answered.contains(node); });
  return {asked.begin(), asked.end()};
}

bool passes(const BurninRecord& record, const Attribution& found) {
  const bool all_good = nodes_in(found, Bucket::good).size() == found.nodes.size();
  return all_good && !has_finding_of_no_node(record, found) && record.without_counters.empty() &&
         record.launcher_errors.empty();
}

std::string summary(const BurninRecord& record, const Attribution& found) {
  std::vector<std::string> counts;
  for (const Bucket bucket : {Bucket::good, Bucket::suspect, Bucket::bad, Bucket::not_tested})
    counts.push_back(fmt::format("{} {}", nodes_in(found, bucket).size(), name(bucket)));
  const JobsBelowFloor below = jobs_below_floor(record);
  std::string words = below_expected(record);
  if (below.below > 0)
    words += fmt::format("BELOW: {} of {} below a sound {}; ", below.below, counted(below.judged, "job"),
                         below.worst->machine);
  words += fmt::format("{}: {}", counted(record.table.nodes.size(), "node"), fmt::join(counts, ", "));
  if (const std::vector<int> silent = nodes_not_reached(record); !silent.empty())
    words += fmt::format("; {} {}", silent.size(), record.source.empty() ? "not reached" : "gave no rate");
  if (!record.without_counters.empty())
    words += fmt::format("; error counters of {} not read", record.without_counters.size());
  for (const auto& [what, why] : record.launcher_errors)
    words += fmt::format("; {} ended by its launcher", what);
  for (const BurninPhase phase : burnin_phases()) {
    const bool failed = phase == BurninPhase::pairs
                            ? !record.failures.empty()
                            : std::ranges::any_of(record.group_failures, [phase](const auto& each) {
                                return each.launch.phase == phase;
                              });
    if (failed && !works_somewhere(record, phase))
      words += fmt::format("; no launch of phase {} worked", name(phase));
  }
  const bool is_only_doubt = !found.doubt.empty() && found.blames.empty() && below.below == 0 &&
                             record.failures.empty() && record.group_failures.empty();
  if (has_finding_of_no_node(record, found))
    words += is_only_doubt ? "; UNCLEAR, as said below" : "; the findings below are of no single node";
  return words;
}

bool has_finding_of_no_node(const BurninRecord& record, const Attribution& found) {
  const bool has_finding = !found.blames.empty() || !found.doubt.empty() || !record.failures.empty() ||
                           !record.group_failures.empty() || jobs_below_floor(record).below > 0;
  return has_finding && nodes_in(found, Bucket::good).size() == found.nodes.size();
}

std::vector<std::string> names_of(const BurninRecord& record, const std::vector<int>& nodes) {
  std::vector<std::string> names;
  for (const int node : nodes) names.push_back(record.table.nodes[slot_of(node)]);
  return names;
}

std::string hosts_of(const BurninRecord& record, const std::vector<int>& nodes) {
  constexpr std::size_t kMaxNamed = 4;
  const std::vector<std::string> hosts = names_of(record, nodes);
  return hosts.size() <= kMaxNamed
             ? fmt::format("{}", fmt::join(hosts, ", "))
             : fmt::format("{} to {} ({} hosts)", hosts.front(), hosts.back(), hosts.size());
}

std::optional<int> node_named(const BurninRecord& record, const std::string& host) {
  const auto& nodes = record.table.nodes;
  auto found = std::ranges::find(nodes, host);
  if (found == nodes.end())
    found = std::ranges::find_if(nodes, [&](const auto& node) { return is_same_host(node, host); });
  if (found == nodes.end()) return std::nullopt;
  return static_cast<int>(found - nodes.begin());
}

std::vector<int> nodes_in(const Attribution& found, Bucket bucket) {
  std::vector<int> nodes;
  for (const NodeVerdict& node : found.nodes)
    if (node.bucket == bucket) nodes.push_back(node.node);
  return nodes;
}

std::vector<std::string> names_of(const BurninRecord& record, const Attribution& found, Bucket bucket) {
  return names_of(record, nodes_in(found, bucket));
}

Attribution attribute(const BurninRecord& record) {
  Attribution found = burnin_findings(record);
  require_agreement(record, found);
  if (!record.source.empty()) hold_back_unseen(record, found);
  for (NodeVerdict& node : found.nodes) {
    const std::string blind = blind_words(found.blind_below_of(node.node));
    if (blind.empty() || node.bucket != Bucket::good) continue;
    // What others measured cannot be measured again, and accuses nobody by its scatter.
    node = record.source.empty() ? NodeVerdict{node.node, Bucket::suspect, blind, true}
                                 : NodeVerdict{node.node, Bucket::not_tested, blind};
  }
  return found;
}

std::string measured_otherwise(const std::map<std::string, std::string>& earlier,
                               const std::map<std::string, std::string>& now) {
  if (earlier.empty()) return "does not say how it was measured";
  std::set<std::string> names;
  for (const auto* const settings : {&earlier, &now})
    for (const auto& [name, value] : *settings) names.insert(name);
  const auto value_in = [](const std::map<std::string, std::string>& settings, const std::string& name) {
    const auto at = settings.find(name);
    return at == settings.end() ? std::string("not set") : fmt::format("'{}'", at->second);
  };
  std::vector<std::string> differences;
  for (const std::string& name : names) {
    if (value_in(earlier, name) != value_in(now, name))
      differences.push_back(
          fmt::format("{} {} (now {})", name, value_in(earlier, name), value_in(now, name)));
  }
  return differences.empty() ? std::string()
                             : fmt::format("was measured with {}", fmt::join(differences, ", "));
}

std::vector<PairOnRail> retests_of(const BurninRecord& record) {
  const Attribution found = burnin_findings(record);  // scatter is no reason against a partner
  const std::vector<int> good = nodes_in(found, Bucket::good);
  std::vector<PairOnRail> retests;
  std::set<std::pair<int, std::size_t>> compared;  // rail and class of the retests
  for (const Blame& blame : found.blames) {
    if (blame.confirmed || blame.nodes.empty() || blame.nodes.size() > 2 || blame.kind == BlameKind::leaf ||
        blame.kind == BlameKind::inside || blame.kind == BlameKind::busy || blame.kind == BlameKind::gpu)
      continue;
    for (const auto& pair : retest_pairs(blame.nodes, good, record.table.leaf_of_node)) {
      for (int rail = 0; rail < record.table.rails; ++rail) {
        if (blame.rail && *blame.rail != rail) continue;
        retests.emplace_back(pair, rail);
        compared.insert({rail, slot_of(path_class(record.table, pair.first, pair.second))});
      }
    }
  }
  if (compared.empty()) return retests;
  const std::array<PairRound, 2> references = reference_pairs(record.table, good);
  for (const auto& [rail, of] : compared) {
    for (const auto& pair : references.at(of)) retests.emplace_back(pair, rail);
  }
  return retests;
}

std::vector<PairOnRail> repeats_of(const BurninRecord& record) {
  const Attribution found = burnin_findings(record);
  return steadiness_pairs(record.table, found, nodes_in(found, Bucket::good));
}

std::string drain_lines(const BurninRecord& record) {
  std::string lines;
  const Attribution found = attribute(record);
  for (const NodeVerdict& node : found.nodes) {
    if (node.bucket != Bucket::bad) continue;
    lines += fmt::format("scontrol update NodeName={} State=DRAIN Reason={}\n",
                         record.table.nodes[slot_of(node.node)],
                         shell_word("collbench burnin: " + one_line(node.why)));
  }
  return lines.empty()
             ? fmt::format("# no host is bad, none to drain: {}\n", one_line(summary(record, found)))
             : lines;
}

std::string good_nodes(const BurninRecord& record, std::string_view separator) {
  return fmt::format("{}\n", fmt::join(names_of(record, attribute(record), Bucket::good), separator));
}

}  // namespace collbench::analysis
