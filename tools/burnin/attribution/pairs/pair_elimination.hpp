#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tools/burnin/attribution/pairs/pair_effects.hpp"

// Who is slow where most nodes met one or two others: a star, a chain, a ring.

namespace collbench::analysis {

/// The loss from which on a node is said to be slow: 5 % of a rate, as operators accept a link at 95 % of its
/// nominal rate (docs/burnin.md). As logarithm of time.
inline constexpr double kMatters = 0.0513;
/// The loss with which nobody may pass for sound: 10 % of a rate.
inline constexpr double kMustBeSeen = 0.1054;

/// What pairs between two leaves may take more: a fifth less of a rate, and some scatter. As logarithm of
/// time.
inline constexpr double kMaxLeafCost = 0.25;

/// What tells hosts that are slow from hosts below a leaf switch of their own.
inline constexpr std::string_view kMeasureAmongThem =
    "Measure those that are as slow with each other: fast pairs are of one leaf, slow ones of slow hosts";

/// The levels of values that scatter about one or several: where one normal distribution or several of one
/// width are likelier, each value by the cost of saying which (classification likelihood with a BIC penalty:
/// Biernacki, Celeux & Govaert, IEEE PAMI 22, 2000). Levels nearer than kMatters are one, and what has fewer
/// than four values or a tenth of them is none; but below the fastest a few that chance does not explain are
/// one, however near, for what is as fast may be what all should be. `sigma` is robust, about the nearest
/// level.
struct Levels {
  std::vector<double> centers;  ///< ascending, one at least
  double sigma = 0;
};
[[nodiscard]] Levels levels_of(std::vector<double> values);

/// From how much above the fastest level on a loss of kMustBeSeen might be hidden: one of 1,000 that lost as
/// much is below with any of its `tries` values. `count` values are known.
[[nodiscard]] double clear_below(const Levels& levels, std::size_t count, double tries = 1);

/// How many robust standard deviations values of a healthy kind are seldom beyond (`beyond`: that share of
/// them), where `count` of them are known: Student's t, whose degrees of freedom are those of a median
/// absolute deviation (37 % of the values').
[[nodiscard]] double healthy_deviations(std::size_t count, double beyond = 2e-4);

/// Where a node stands on a rail after elimination.
enum class Standing {
  cleared,  ///< in a pair that is as fast as they come
  slow,     ///< all of its pairs are slow, and their other nodes are cleared
  unclear,  ///< this design cannot tell
};

struct NodeStanding {
  Standing standing = Standing::unclear;
  double more = 0;  ///< log of time, of its pairs over those of the others: the median
  int pairs = 0;
  int slow = 0;     ///< of these
  std::string why;  ///< of whom is not cleared
};

/// Elimination by pairs, as "definite defectives" in group testing (Aldridge, Baldassini & Johnson, IEEE
/// Trans. Inf. Theory 60, 2014): a pair that is as fast as they come clears both of its nodes; whose pairs
/// are all slow is named by two with nodes that are cleared, or by one that is slower than any path between
/// such nodes, by the line: between two leaves a path is slow by itself; but not one of several that are as
/// slow, by no more than kMaxLeafCost: they may be a leaf. A pair is slow beyond the slowest
/// level by kMatters and healthy_deviations, and clears where one of 1,000 that lost kMustBeSeen would be as
/// fast. Fewer than eight pairs clear and name nobody.
struct PairElimination {
  std::vector<NodeStanding> nodes;  ///< by node; of whom was not measured: no pairs
  std::vector<PairTime> paths;      ///< slow pairs of nodes that are both cleared
  Levels levels;
  double line = 0;
};
[[nodiscard]] PairElimination pair_elimination(const PairTable& table, int rail);

}  // namespace collbench::analysis
