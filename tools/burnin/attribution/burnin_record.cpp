#include "tools/burnin/attribution/burnin_record.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/host_name.hpp"
#include "base/text_sinks.hpp"
#include "base/units.hpp"
#include "tools/burnin/attribution/blame_words.hpp"
#include "tools/burnin/attribution/busy_hosts.hpp"
#include "tools/burnin/attribution/failure_verdicts.hpp"
#include "tools/burnin/attribution/group_verdicts.hpp"
#include "tools/burnin/attribution/losses.hpp"
#include "tools/burnin/attribution/mixed_fleet.hpp"
#include "tools/burnin/attribution/pairs/pair_design.hpp"
#include "tools/burnin/attribution/pairs/pair_elimination.hpp"
#include "tools/burnin/attribution/steadiness.hpp"

namespace collbench::analysis {
namespace {

constexpr double kShareOfExpected = 0.95;

/// The fastest rate of each node on each rail, bytes per second.
std::map<int, std::map<int, double>> best_rates(const BurninRecord& record) {
  std::map<int, std::map<int, double>> best;  // by rail, then node
  for (const RailTime& time : record.table.times) {
    for (const int node : {time.from, time.to}) {
      if (time.seconds <= 0) continue;
      double& rate = best[time.rail][node];
      rate = std::max(rate, record.bytes / time.seconds);
    }
  }
  return best;
}

/// Where others measured a rate of each node: that, in bytes per second.
std::map<int, double> node_rates(const BurninRecord& record) {
  std::map<int, double> rates;
  for (const GroupRate& group : record.groups) {
    if (record.source.empty() || group.launch.nodes.size() != 1) continue;
    double& rate = rates[group.launch.nodes.front()];
    rate = std::max(rate, group.bus_bandwidth);
  }
  return rates;
}

/// Where the times scatter by as much, a shortfall is nobody's own: the scatter holds all back.
bool falls_short(const BurninRecord& record, const Attribution& found, int node, double rate) {
  const double blind = found.blind_below_of(node);
  return rate < kShareOfExpected * record.expected &&
         (blind <= kMaxBlind || rate < record.expected / std::exp(blind));
}

/// "makes 20.2 of the expected 40 GB/s".
std::string makes_of_expected(const BurninRecord& record, double rate) {
  return fmt::format("makes {:.4g} of the expected {:.4g} GB/s", rate / kGigabyte,
                     record.expected / kGigabyte);
}

void add_rail_below_expected(const BurninRecord& record, int rail, double fastest, Attribution& found) {
  const bool is_named = std::any_of(found.blames.begin(), found.blames.end(), [rail](const Blame& blame) {
    return blame.kind == BlameKind::rail && blame.rail == rail;
  });
  if (is_named) return;
  add_finding(found.blames,
              {.kind = BlameKind::rail,
               .rail = rail,
               .against_expected = true,
               .evidence = fmt::format("the fastest pair of rail {} {}, and other rails make it", rail,
                                       makes_of_expected(record, fastest))},
              std::log(record.expected / fastest), -std::log(kShareOfExpected), "");
}

/// A node is good only if its fastest pair on each rail makes 95 % of what was expected. A rail on which
/// nobody does, while somebody does on others, is the rail's own fault and no node's.
void judge_expected(const BurninRecord& record, Attribution& found) {
  if (record.expected <= 0) return;
  const std::map<int, std::map<int, double>> best = best_rates(record);
  const auto fastest = [](const std::map<int, double>& rates) {
    return *std::max_element(rates.begin(), rates.end(),
                             [](const auto& a, const auto& b) { return a.second < b.second; });
  };
  const double needed = kShareOfExpected * record.expected;
  const int reference = pair_design(record.table).reference;
  const bool some_rail_is_fine = std::any_of(
      best.begin(), best.end(), [&](const auto& rail) { return fastest(rail.second).second >= needed; });
  for (const auto& [rail, rates] : best) {
    const auto best_of_rail = fastest(rates);
    const bool all_short = falls_short(record, found, best_of_rail.first, best_of_rail.second);
    if (all_short && some_rail_is_fine) {
      add_rail_below_expected(record, rail, best_of_rail.second, found);
      continue;
    }
    for (const auto& of : rates) {
      NodeVerdict& verdict = found.nodes[slot_of(of.first)];
      if (!falls_short(record, found, of.first, of.second) || verdict.bucket != Bucket::good) continue;
      // The reference is in all pairs, so that all are slow with it.
      if (all_short && reference >= 0 && of.first != reference)
        verdict = {
            of.first, Bucket::not_tested,
            fmt::format("this design cannot tell: measured only with {}, and no pair with it makes the "
                        "expected {:.4g} GB/s",
                        record.table.nodes[slot_of(reference)], record.expected / kGigabyte)};
      else
        verdict = {of.first, Bucket::suspect,
                   fmt::format("its fastest pair on rail {} {}", rail, makes_of_expected(record, of.second))};
    }
  }
}

/// The same of a rate of each node, once judge_groups() has said how much these scatter.
void judge_expected_of_nodes(const BurninRecord& record, Attribution& found) {
  for (const auto& [node, rate] : node_rates(record)) {
    NodeVerdict& verdict = found.nodes[slot_of(node)];
    if (verdict.bucket == Bucket::good && falls_short(record, found, node, rate))
      verdict = {node, Bucket::suspect, "it " + makes_of_expected(record, rate)};
  }
}

/// "BELOW: the fastest pair makes 20.2 of the expected 40 GB/s; ": of a fleet that is slow as a whole.
std::string below_expected(const BurninRecord& record) {
  double fastest = 0;
  for (const auto& [rail, rates] : best_rates(record))
    for (const auto& [node, rate] : rates) fastest = std::max(fastest, rate);
  const bool is_of_pairs = fastest > 0;
  if (!is_of_pairs)
    for (const auto& [node, rate] : node_rates(record)) fastest = std::max(fastest, rate);
  return fastest <= 0 || fastest >= kShareOfExpected * record.expected
             ? ""
             : fmt::format("BELOW: the fastest {} {}; ", is_of_pairs ? "pair" : "node",
                           makes_of_expected(record, fastest));
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
  judge_failures(record, found);
  judge_expected(record, found);
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

/// Who may have lost kMustBeSeen by what its pairs took, for the parts of nodes scatter by so much.
void hold_back_unseen(const BurninRecord& record, Attribution& found) {
  if (record.table.times.empty() || found.line_of_nodes <= kMatters ||
      found.effects.send.size() != found.nodes.size())
    return;
  for (NodeVerdict& verdict : found.nodes) {
    if (verdict.bucket != Bucket::good) continue;
    const double worst = worst_part(found.effects, verdict.node);
    if (worst <= unseen_below(found)) continue;
    verdict = {
        verdict.node, Bucket::not_tested,
        fmt::format(
            "this design cannot tell: its pairs take {}, and healthy nodes scatter so much that only {} "
            "or more would be named",
            percent_slower(worst), percent_slower(found.line_of_nodes))};
  }
}

}  // namespace

bool was_left_out(const BurninRecord& record, BurninPhase phase) {
  const std::string entry = name(phase) + " (";
  return std::any_of(record.phases_left_out.begin(), record.phases_left_out.end(),
                     [&entry](const std::string& left_out) { return left_out.starts_with(entry); });
}

bool works_somewhere(const BurninRecord& record, BurninPhase phase) {
  if (phase == BurninPhase::gpus) return !record.probes.empty();
  if (phase == BurninPhase::pairs) return !record.table.times.empty();
  return std::any_of(record.groups.begin(), record.groups.end(),
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
    words += fmt::format("; {} not reached", silent.size());
  if (!record.without_counters.empty())
    words += fmt::format("; error counters of {} not read", record.without_counters.size());
  for (const auto& [what, why] : record.launcher_errors)
    words += fmt::format("; {} ended by its launcher", what);
  for (const BurninPhase phase : burnin_phases()) {
    const bool failed = phase == BurninPhase::pairs
                            ? !record.failures.empty()
                            : std::any_of(record.group_failures.begin(), record.group_failures.end(),
                                          [phase](const auto& each) { return each.launch.phase == phase; });
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
  auto found = std::find(nodes.begin(), nodes.end(), host);
  if (found == nodes.end())
    found =
        std::find_if(nodes.begin(), nodes.end(), [&](const auto& node) { return is_same_host(node, host); });
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
    if (!blind.empty() && node.bucket == Bucket::good) node = {node.node, Bucket::suspect, blind, true};
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

std::vector<std::pair<PairRound, int>> retests_of(const BurninRecord& record) {
  const Attribution found = burnin_findings(record);  // scatter is no reason against a partner
  const std::vector<int> good = nodes_in(found, Bucket::good);
  std::vector<std::pair<PairRound, int>> rounds;
  std::set<std::pair<int, std::size_t>> compared;  // rail and class of the retests
  for (const Blame& blame : found.blames) {
    if (blame.confirmed || blame.nodes.empty() || blame.nodes.size() > 2 || blame.kind == BlameKind::leaf ||
        blame.kind == BlameKind::inside || blame.kind == BlameKind::busy || blame.kind == BlameKind::gpu)
      continue;
    const std::vector<int>& leaves = record.table.leaf_of_node;
    const auto planned = blame.nodes.size() == 2
                             ? retest_rounds({}, {std::pair(blame.nodes[0], blame.nodes[1])}, good, leaves)
                             : retest_rounds(blame.nodes, {}, good, leaves);
    for (const PairRound& round : planned) {
      for (int rail = 0; rail < record.table.rails; ++rail) {
        if (blame.rail && *blame.rail != rail) continue;
        rounds.emplace_back(round, rail);
        for (const auto& [a, b] : round) compared.insert({rail, slot_of(path_class(record.table, a, b))});
      }
    }
  }
  if (compared.empty()) return rounds;
  const std::array<PairRound, 2> references = reference_pairs(record.table, good);
  for (const auto& [rail, of] : compared) {
    for (const auto& pair : references.at(of)) rounds.push_back({{pair}, rail});
  }
  return rounds;
}

std::vector<std::pair<PairRound, int>> repeats_of(const BurninRecord& record) {
  const Attribution found = burnin_findings(record);
  return steadiness_rounds(record.table, found, nodes_in(found, Bucket::good));
}

std::string drain_lines(const BurninRecord& record) {
  std::string lines;
  for (const NodeVerdict& node : attribute(record).nodes) {
    if (node.bucket != Bucket::bad) continue;
    lines += fmt::format("scontrol update NodeName={} State=DRAIN Reason={}\n",
                         record.table.nodes[slot_of(node.node)],
                         shell_word("collbench burnin: " + one_line(node.why)));
  }
  return lines;
}

std::string good_nodes(const BurninRecord& record, std::string_view separator) {
  return fmt::format("{}\n", fmt::join(names_of(record, attribute(record), Bucket::good), separator));
}

}  // namespace collbench::analysis
