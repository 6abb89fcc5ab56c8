// What was measured beside the rows over all, such as nodes alone: judge_beside_rows() and what follows from
// it.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "analysis/verdict/verdict.hpp"

namespace collbench::analysis {
namespace {

/// The ranks of so many nodes, among themselves.
GpuCluster part_of(GpuCluster cluster, std::size_t nodes) {
  cluster.nodes = static_cast<int>(nodes);
  cluster.planned.reset();
  cluster.max_channels = 0;
  return cluster;
}

/// The row as if it were the only one of its run.
Row judged_alone(const Run& run, Row row, const GpuCluster& cluster) {
  Run alone;
  alone.backend = run.backend;
  alone.gpus_simulated = run.gpus_simulated;
  alone.environment = run.environment;
  alone.versions = run.versions;
  alone.load_notes = run.load_notes;
  alone.rows.push_back(std::move(row));
  return std::move(judged_on_gpus(std::move(alone), cluster).rows.front());
}

/// What slows a row that was better before it was repeated is no link that is down.
void explain_load(Run& run) {
  Row& row = *run.sustained;
  const auto above =
      std::ranges::find(run.rows, row.measurement.key, [](const Row& each) { return each.measurement.key; });
  if (above == run.rows.end() || above->verdict.word == VerdictWord::none ||
      above->verdict.word >= row.verdict.word)
    return;
  row.verdict.explanation = fmt::format(
      "it was {} before it was repeated: look at the GPUs' clocks, throttling, temperature and errors, and "
      "at error counters",
      name(above->verdict.word));
}

constexpr std::size_t kPassesToAccuse = 3;  // one or two may be a hiccup's

}  // namespace

void judge_beside_rows(Run& run, const GpuCluster& cluster) {
  if (run.sustained) {
    run.sustained = judged_alone(run, *std::move(run.sustained), cluster);
    explain_load(run);
  }
  for (NodeGroup& each : run.node_groups) {
    // Two nodes may be of one rack or of two, which is not told here.
    if (each.hosts.size() > 1 && cluster.nodes_per_domain > 1) continue;
    each.row = judged_alone(run, std::move(each.row), part_of(cluster, each.hosts.size()));
    Verdict& verdict = each.row.verdict;
    const std::size_t passes = each.row.measurement.pass_seconds.size();
    if (!is_bad(verdict.word) || passes >= kPassesToAccuse) continue;
    verdict.word = VerdictWord::unclear;
    verdict.explanation =
        fmt::format("slow in {} pass{}, too few to accuse anybody: a longer --time makes more. {}", passes,
                    passes == 1 ? "" : "es", verdict.explanation);
  }
}

bool is_sound(const NodeGroup& group) {
  return group.row.verdict.word == VerdictWord::sound && !has_wrong_data(group.row.measurement);
}

bool all_nodes_are_sound_alone(const Run& run) {
  const auto sound = std::ranges::count_if(
      run.node_groups, [](const NodeGroup& group) { return group.hosts.size() == 1 && is_sound(group); });
  return sound > 0 && sound == node_count(run.ranks);
}

PairsSeen pairs_seen(const Run& run) {
  PairsSeen seen;
  std::set<std::string> cleared;  // by a pair that is SOUND
  std::map<std::string, std::vector<const NodeGroup*>> of_host;
  for (const NodeGroup& group : run.node_groups) {
    if (group.hosts.size() != 2) continue;
    seen.pairs += 1;
    seen.sound += is_sound(group) ? 1 : 0;
    if (is_bad(group.row.verdict.word)) seen.slow.push_back(&group);
    if (is_sound(group)) cleared.insert(group.hosts.begin(), group.hosts.end());
    for (const std::string& host : group.hosts) of_host[host].push_back(&group);
  }
  for (const auto& [host, pairs] : of_host) {
    const bool all_slow = pairs.size() > 1 && std::ranges::all_of(pairs, [](const auto* pair) {
                            return is_bad(pair->row.verdict.word);
                          });
    const bool a_partner_is_cleared = std::ranges::any_of(pairs, [&](const NodeGroup* pair) {
      return cleared.contains(pair->hosts[pair->hosts[0] == host ? 1 : 0]);
    });
    if (all_slow && a_partner_is_cleared) seen.slow_hosts.push_back(host);
  }
  return seen;
}

}  // namespace collbench::analysis
