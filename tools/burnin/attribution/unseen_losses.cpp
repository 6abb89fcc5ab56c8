#include "tools/burnin/attribution/burnin_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tools/burnin/attribution/group_verdicts.hpp"
#include "tools/burnin/attribution/pairs/pair_elimination.hpp"

namespace collbench::analysis {
namespace {

/// Who may have lost kMustBeSeen by what its pairs took, for the parts of nodes scatter by so much.
void hold_back_by_pairs(const BurninRecord& record, Attribution& found) {
  if (record.table.times.empty() || found.line_of_nodes <= kMatters ||
      found.effects.send.size() != found.nodes.size())
    return;
  for (NodeVerdict& verdict : found.nodes) {
    if (verdict.bucket != Bucket::good) continue;
    const double worst = worst_part(found.effects, verdict.node);
    if (worst <= unseen_below(found)) continue;
    verdict = {verdict.node, Bucket::not_tested,
               fmt::format("this design cannot tell: its pairs take {}, and healthy nodes scatter so much "
                           "that only {} or more would be named",
                           time_words(worst), percent_slower(found.line_of_nodes)),
               true};
  }
}

/// The same of a rate of each node, or of groups: one that is as fast as they come clears its nodes.
void hold_back_by_rates(const BurninRecord& record, Attribution& found) {
  if (record.expected > 0) return;  // who makes that has lost nothing, and the others are not good
  std::set<int> cleared;
  std::map<int, std::string> why;
  for (const GroupPopulation& population : group_populations(record)) {
    if (std::isnan(population.line)) continue;  // too few to tell a scatter
    std::vector<double> log_times;
    for (const GroupRate* const rate : population.members)
      log_times.push_back(-std::log(rate->bus_bandwidth));
    const double fastest = levels_of(log_times).centers.front();
    // The line is six deviations or more, and of 1,000 who lost as much one is three below.
    const double clears_below = kMustBeSeen - population.line / 2;
    const double line = std::max(kMatters, population.line);
    for (std::size_t i = 0; i < log_times.size(); ++i) {
      const double more = log_times[i] - fastest;
      const std::string reason =
          more < line ? fmt::format("healthy ones scatter so much that only {} or more would be named",
                                    percent_slower(line))
                      : "that may be another level, such as a leaf's";
      for (const int node : population.members[i]->launch.nodes) {
        if (more <= clears_below) cleared.insert(node);
        why[node] = fmt::format("this design cannot tell: {} takes {}, and {}",
                                population.size == 1 ? "it" : "its group",
                                time_words(more, "the fastest level"), reason);
      }
    }
  }
  for (NodeVerdict& verdict : found.nodes) {
    const auto reason = why.find(verdict.node);
    if (verdict.bucket == Bucket::good && reason != why.end() && !cleared.contains(verdict.node))
      verdict = {verdict.node, Bucket::not_tested, reason->second, true};
  }
}

}  // namespace

void hold_back_unseen(const BurninRecord& record, Attribution& found) {
  hold_back_by_pairs(record, found);
  if (record.table.times.empty()) hold_back_by_rates(record, found);
}

}  // namespace collbench::analysis
