#include "tools/plan/step/placement.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

namespace collbench::analysis {
namespace {

/// Of each dimension its size and how far its ranks are apart.
using Strides = std::array<RankRun, 5>;

RankRun& of(Strides& strides, Dimension dimension) { return strides.at(static_cast<std::size_t>(dimension)); }

Strides strides_of(const TrainingJob& job, bool of_experts) {
  Strides strides;
  of(strides, Dimension::pp).count = job.pp;
  if (of_experts) {
    of(strides, Dimension::ep).count = job.ep;
    of(strides, Dimension::dp).count = std::max(1, job.tp * job.cp * job.dp / job.ep);
  } else {
    of(strides, Dimension::tp).count = job.tp;
    of(strides, Dimension::cp).count = job.cp;
    of(strides, Dimension::dp).count = job.dp;
  }
  int stride = 1;
  for (const Dimension each : job.order) {
    of(strides, each).stride = stride;
    stride *= of(strides, each).count;
  }
  return strides;
}

std::vector<RankRun> joined(std::vector<RankRun> runs) {
  std::ranges::sort(runs, {}, &RankRun::stride);
  std::vector<RankRun> result;
  for (const RankRun& run : runs) {
    if (run.count < 2) continue;
    if (!result.empty() && result.back().stride * result.back().count == run.stride) {
      result.back().count *= run.count;
    } else {
      result.push_back(run);
    }
  }
  return result;
}

/// The next domain of the group that `domain` is in: the last one is followed by the first.
int next_domain(const std::vector<RankRun>& runs, int domain) {
  for (const RankRun& run : runs) {
    const int at = domain / run.stride % run.count;
    if (at + 1 < run.count) return domain + run.stride;
    domain -= at * run.stride;
  }
  return domain;
}

int first_domain(const std::vector<RankRun>& runs, int domain) {
  for (const RankRun& run : runs) domain -= domain / run.stride % run.count * run.stride;
  return domain;
}

/// Leaf switches above the group of `first`.
int leaves_of(const std::vector<RankRun>& runs, int first, int leaf) {
  std::set<int> leaves;
  int domain = first;
  // Counted, for where a run was rounded to whole domains the walk may not come back to its first one.
  for (int left = group_size(runs); left > 0; --left) {
    leaves.insert(domain / leaf);
    domain = next_domain(runs, domain);
  }
  return static_cast<int>(leaves.size());
}

/// Of each domain, the part of its exchange with its group that goes to other leaves.
std::vector<double> exchange_outside(const std::vector<RankRun>& runs, int domains, int leaf) {
  std::map<std::pair<int, int>, int> of_leaf;
  for (int domain = 0; domain < domains; ++domain) ++of_leaf[{first_domain(runs, domain), domain / leaf}];
  const int size = group_size(runs);
  std::vector<double> outside;
  for (int domain = 0; domain < domains; ++domain) {
    const int near = of_leaf.at({first_domain(runs, domain), domain / leaf});
    outside.push_back(static_cast<double>(std::max(0, size - near)) / (size - 1));
  }
  return outside;
}

}  // namespace

std::string_view name(GroupKind kind) {
  constexpr std::array<std::string_view, 8> kNames{
      "TP", "CP", "EP", "PP", "DP × CP", "FSDP × CP", "copies of FSDP", "DP of experts"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::vector<RankRun> group_runs(const TrainingJob& job, GroupKind kind) {
  Strides dense = strides_of(job, false);
  Strides mixture = strides_of(job, true);
  const RankRun tp = of(dense, Dimension::tp);
  const RankRun cp = of(dense, Dimension::cp);
  const RankRun dp = of(dense, Dimension::dp);
  const int sharded = job.shard_group > 0 ? job.shard_group : job.dp;
  switch (kind) {
    case GroupKind::tensor:
      return joined({tp});
    case GroupKind::context:
      return joined({cp});
    case GroupKind::expert:
      return joined({of(mixture, Dimension::ep)});
    case GroupKind::stages:
      return joined({of(dense, Dimension::pp)});
    case GroupKind::data:
      return joined({cp, dp});
    case GroupKind::shard:
      return joined({cp, {sharded, dp.stride}});
    case GroupKind::replicas:
      return joined({{job.dp / sharded, dp.stride * sharded}});
    case GroupKind::same_experts:
      return joined({of(mixture, Dimension::dp)});
  }
  return {};
}

int group_size(const std::vector<RankRun>& runs) {
  int size = 1;
  for (const RankRun& run : runs) size *= run.count;
  return size;
}

std::vector<int> first_ranks(const std::vector<RankRun>& runs, std::size_t maximum) {
  std::vector<int> ranks;
  int rank = 0;
  do {
    ranks.push_back(rank);
    rank = next_domain(runs, rank);
  } while (rank != 0 && ranks.size() < maximum);
  return ranks;
}

DomainRuns domain_runs(const std::vector<RankRun>& runs, int gpus) {
  DomainRuns result;
  for (const RankRun& run : runs) {
    const int inside = std::clamp(gpus / run.stride, 1, run.count);
    result.ranks_in_domain *= inside;
    const int count = (run.count + inside - 1) / inside;
    if (count > 1) result.runs.push_back({count, std::max(1, run.stride * inside / gpus)});
  }
  return result;
}

LeafCrossings leaf_crossings(const DomainRuns& group, int domains, int leaf, bool exchanges) {
  LeafCrossings crossings;
  if (group.domains() < 2 || domains < 2) return crossings;
  const auto size = [](int count) { return static_cast<std::size_t>(count); };
  std::vector<int> outside(size(domains));  // of the group that begins there
  std::vector<LeafLoad> loads(size((domains + leaf - 1) / leaf));
  const std::vector<double> exchanged =
      exchanges ? exchange_outside(group.runs, domains, leaf) : std::vector<double>(size(domains));
  for (int domain = 0; domain < domains; ++domain) {
    const int leaves = next_domain(group.runs, domain) / leaf != domain / leaf ? 1 : 0;
    outside[size(first_domain(group.runs, domain))] += leaves;
    LeafLoad& load = loads[size(domain / leaf)];
    load.ring += leaves;
    load.exchange += exchanged[size(domain)];
    load.domains += 1;
  }
  for (const LeafLoad& load : loads) {
    crossings.load.ring = std::max(crossings.load.ring, load.ring);
    crossings.load.exchange = std::max(crossings.load.exchange, load.exchange);
    crossings.load.domains = std::max(crossings.load.domains, load.domains);
  }
  const auto most = std::ranges::max_element(outside);
  crossings.hops = group.domains();
  crossings.hops_outside = *most;
  crossings.leaves = leaves_of(group.runs, static_cast<int>(most - outside.begin()), leaf);
  return crossings;
}

}  // namespace collbench::analysis
