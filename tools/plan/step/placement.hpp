#pragma once
#include <string_view>
#include <vector>

#include "analysis/models/fabric/fabric.hpp"
#include "tools/plan/job/job.hpp"

namespace collbench::analysis {

/// Groups of ranks that run a step's collectives together.
enum class GroupKind {
  tensor,
  context,
  expert,    ///< that exchange tokens
  stages,    ///< of one pipeline, first to last
  data,      ///< data-parallel ranks and those of their contexts, which hold the same parameters
  shard,     ///< of them, those that share one copy (FSDP)
  replicas,  ///< ranks of the same part in all copies
  same_experts,
};

[[nodiscard]] std::string_view name(GroupKind kind);

/// `count` ranks, `stride` apart.
struct RankRun {
  int count = 1;
  int stride = 1;

  bool operator==(const RankRun&) const = default;
};

/// The ranks of the group that rank 0 is in: all sums of one element of each run. Ascending strides; runs
/// that follow each other without a gap are one; none for a group of one. Experts are numbered as
/// Megatron-Core numbers them, without tensor and context parallelism (parallel_state.py,
/// expert_decoder_rank_generator).
[[nodiscard]] std::vector<RankRun> group_runs(const TrainingJob& job, GroupKind kind);

[[nodiscard]] int group_size(const std::vector<RankRun>& runs);

/// The group that rank 0 is in, ascending.
[[nodiscard]] std::vector<int> first_ranks(const std::vector<RankRun>& runs, std::size_t maximum);

/// The same in domains (nodes, or what NVLink connects) of `gpus` GPUs each. Groups are taken to begin where
/// domains do; where a group does not divide a domain the last domain has fewer of its ranks.
struct DomainRuns {
  int ranks_in_domain = 1;
  std::vector<RankRun> runs;  ///< of domains

  [[nodiscard]] int domains() const { return group_size(runs); }
};
[[nodiscard]] DomainRuns domain_runs(const std::vector<RankRun>& runs, int gpus);

/// What all groups of one kind send out of leaf switches when they run at once, of `domains` domains, `leaf`
/// of them below a switch. A group's ring goes through its domains in ascending order and back to the first;
/// each domain is in one group as far as its NICs go, for the groups of one domain go the same way.
struct LeafCrossings {
  int hops = 0;          ///< between domains, of the group that has most of them out of a leaf
  int hops_outside = 0;  ///< of them, those to a domain below another leaf
  int leaves = 0;        ///< that group's
  LeafLoad load;         ///< of the fullest leaf; `exchange` where that is asked for
};
[[nodiscard]] LeafCrossings leaf_crossings(const DomainRuns& group, int domains, int leaf, bool exchanges);

}  // namespace collbench::analysis
