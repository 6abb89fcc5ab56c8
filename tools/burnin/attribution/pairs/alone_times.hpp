#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "tools/burnin/attribution/pairs/pair_effects.hpp"

namespace collbench::analysis {

/// Whether a node has no part of its own on a rail.
using IsFine = std::function<bool(int node, int rail)>;

/// The times of a table that were measured with nothing beside them, which are few of many, and their
/// classes.
struct AloneTimes {
  PairTable table;
  PairEffects effects;  ///< classes only
};
[[nodiscard]] AloneTimes alone_times(const PairTable& table, const PairEffects& effects);

/// By how much more (log of time) a node took on a rail, as sender or as receiver, with nothing beside it.
/// Times alone are compared with times alone only: with those between nodes that are fine, of the same class.
/// None where there are no such times, or fewer than two fine partners: not comparable.
[[nodiscard]] std::optional<double> alone_part(const PairTable& table, const PairEffects& effects, int node,
                                               int rail, bool sends, const IsFine& is_fine);

/// The same of the slower direction of a pair, of each launch in which the pair ran alone, against what each
/// of the two took with others, alone. Empty: not comparable.
[[nodiscard]] std::vector<double> alone_path(const PairTable& table, const PairEffects& effects, int a, int b,
                                             int rail, const IsFine& is_fine);

}  // namespace collbench::analysis
