#pragma once
#include "analysis/host_algorithm.hpp"

namespace collbench {

/// AllReduce by trees as NCCL builds them, in seconds, for comparison: no MPI runs it. The ranks of a node
/// are a chain; the nodes form two complementary binary trees, each for half of the data; reduction and
/// broadcast are pipelined. So
///   latency    2((g−1)·α_intra + ⌊log2 N⌋·α_inter),
///   bandwidth  of the fullest link, in one direction: out of a rank S for g = 2 and 2S for g ≥ 3 (a rank in
///              mid-chain sends partial results up and final ones down); out of a node S for N = 2, and 2S
///              for N ≥ 3 (a node with two children in one tree is a leaf of the other),
///   reducing   S for g ≥ 2, and S/2 for N = 2 or S for N ≥ 3 more (children of the node in either tree),
/// and one copy of S out of place. g is the largest number of ranks on a node.
/// Source: P. Sanders, J. Speck, J. L. Träff, "Two-tree algorithms for full bandwidth broadcast, reduction
/// and scan", Parallel Computing 35(12), 2009; the link loads are derived in docs/model.md.
[[nodiscard]] double host_tree_all_reduce(const HostCall& call);

}  // namespace collbench
