// What each node measured by itself, before the rows over all of them: judge_nodes_alone() and
// all_nodes_are_sound_alone() of verdict.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/verdict/verdict.hpp"

namespace collbench::analysis {
namespace {

/// The ranks of one node, among themselves.
GpuCluster node_of(GpuCluster cluster) {
  cluster.nodes = 1;
  cluster.planned.reset();
  cluster.max_channels = 0;
  return cluster;
}

constexpr std::size_t kPassesToAccuse = 3;  // one or two may be a hiccup's

}  // namespace

void judge_nodes_alone(Run& run, const GpuCluster& cluster) {
  const GpuCluster node = node_of(cluster);
  for (NodeAlone& each : run.nodes_alone) {
    Run alone;
    alone.backend = run.backend;
    alone.environment = run.environment;
    alone.versions = run.versions;
    alone.load_notes = run.load_notes;
    alone.rows.push_back(std::move(each.row));
    each.row = std::move(judged_on_gpus(std::move(alone), node).rows.front());
    Verdict& verdict = each.row.verdict;
    const std::size_t passes = each.row.measurement.pass_seconds.size();
    if (!is_bad(verdict.word) || passes >= kPassesToAccuse) continue;
    verdict.word = VerdictWord::unclear;
    verdict.explanation =
        fmt::format("slow in {} pass{}, too few to accuse a node: a longer --time makes more. {}", passes,
                    passes == 1 ? "" : "es", verdict.explanation);
  }
}

bool all_nodes_are_sound_alone(const Run& run) {
  return !run.nodes_alone.empty() && std::cmp_equal(run.nodes_alone.size(), node_count(run.ranks)) &&
         std::all_of(run.nodes_alone.begin(), run.nodes_alone.end(), [](const NodeAlone& node) {
           return node.row.verdict.word == VerdictWord::sound && !has_wrong_data(node.row.measurement);
         });
}

}  // namespace collbench::analysis
