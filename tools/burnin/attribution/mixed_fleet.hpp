#pragma once
#include <string>
#include <vector>

#include "tools/burnin/attribution/burnin_record.hpp"
#include "tools/burnin/attribution/pairs/pair_repeats.hpp"

// Hosts that differ in GPUs: what one kind makes of a link says nothing of the other's links.

namespace collbench::analysis {

/// The GPUs of a node, "8 × NVIDIA H100 80GB HBM3", by its probe or its error counters; empty: none, or not
/// known.
[[nodiscard]] std::string gpus_of(const BurninRecord& record, int node);

/// The kinds of GPUs that `nodes` have, each once, with a plus between them: what groups need to be alike.
[[nodiscard]] std::string gpus_of(const BurninRecord& record, const std::vector<int>& nodes);

/// Fewer nodes than these cannot be told apart by pairs.
inline constexpr int kMinNodesOfPairs = kMinPartners + 1;

/// The nodes among which pairs are measured and compared: those whose GPUs are of the same models (however
/// many), in the order of their first nodes. Nodes without GPUs, or with unknown ones, are a kind, too. All
/// of them where nothing differs.
[[nodiscard]] std::vector<std::vector<int>> nodes_alike(const BurninRecord& record);

/// Of a mixed fleet the nodes of kinds with fewer than kMinNodesOfPairs: not tested by pairs, and why.
[[nodiscard]] std::vector<NodeVerdict> nodes_without_like(const BurninRecord& record);

/// The pairs between `nodes`, which are in order, numbered by their slots there, without anything else that
/// was measured.
[[nodiscard]] BurninRecord part_of(const BurninRecord& record, const std::vector<int>& nodes);

/// attribute() of the pairs of each kind of nodes by themselves, put together (of several kinds without
/// effects). Nodes of a kind with fewer than kMinNodesOfPairs are not tested.
[[nodiscard]] Attribution attribute_alike(const BurninRecord& record, double expected_seconds);

/// How many directions settled_pairs() took again, and of how many that was the end: of each kind by itself.
[[nodiscard]] SettledPairs settled_counts(const BurninRecord& record);

/// Where hosts differ in GPUs: which have which, and what is compared with whom. Empty where they do not.
[[nodiscard]] std::string gpu_difference(const BurninRecord& record);

}  // namespace collbench::analysis
