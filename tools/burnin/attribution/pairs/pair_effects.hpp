#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace collbench::analysis {

/// Nodes and rails are numbers from 0, and places in vectors.
[[nodiscard]] constexpr std::size_t slot_of(int number) { return static_cast<std::size_t>(number); }

/// One measured direction between two nodes over one rail.
struct RailTime {
  int from = 0;
  int to = 0;
  int rail = 0;
  double seconds = 0;  ///< of the same bytes for every pair of a table
  bool alone = false;  ///< nothing else ran; a pair of a round in parallel may have been disturbed
  std::optional<double> resent{};  ///< of the bytes that `from` sent over TCP, the share that it sent again
  std::optional<double>
      waited{};    ///< of the time that the rank of `from` could run, the share without a core
  int repeat = 0;  ///< from 1: of this batch of repeats, beside others (pair_repeats.hpp); 0: of none

  bool operator==(const RailTime&) const = default;
};

/// Who was measured. Nodes are numbered from 0.
struct PairTable {
  std::vector<std::string> nodes;
  int rails = 1;
  std::vector<int> leaf_of_node;  ///< empty: not known
  bool adaptive_routing = true;   ///< a path is no fixed set of links
  std::vector<RailTime> times;

  /// " rail 3", behind `before`; empty where there is one rail only, which nobody told from others.
  [[nodiscard]] std::string of_rail(int rail, const std::string& before = "") const {
    return rails > 1 ? before + " rail " + std::to_string(rail) : "";
  }
};

/// The additive model: log seconds(i → j, rail r) = common(class, r) + send(i, r) + receive(j, r) + residual.
/// A class is the pairs below one leaf switch, or those across; one where no leaves are known.
struct PairEffects {
  /// By class, then rail; NaN where nothing was measured.
  std::vector<std::vector<double>> common;
  std::vector<std::vector<double>> send;     ///< by node, then rail; NaN with fewer than kMinPartners
  std::vector<std::vector<double>> receive;  ///< the same
  std::vector<double> residuals;             ///< one for each of `times`
  std::vector<int> classes;                  ///< the same
};

inline constexpr double kTooWide = 6.9078;  // log of a thousand, beyond which a number says nothing

/// "+94.5 %": what a logarithm of time adds; "not known" for none (too few pairs), "too wide" beyond
/// kTooWide.
[[nodiscard]] std::string percent_slower(double log_time);

/// The same behind "takes": "94.5 % longer than the median", "0.3 % less time"; `than` may be empty.
[[nodiscard]] std::string time_words(double log_time, std::string_view than = "");

/// 0 below one leaf switch, or where no leaves are known; 1 across.
[[nodiscard]] int path_class(const PairTable& table, int from, int to);

/// A normal distribution's standard deviation over its median absolute deviation.
inline constexpr double kToSigma = 1.4826;
/// As logarithm of time: no rate repeats better.
inline constexpr double kMinScatter = 1e-3;

/// Two nodes, and what is said of the time between them.
struct PairTime {
  int a = 0;
  int b = 0;
  double log_time = 0;
};

/// With fewer partners a node's own part cannot be told from its partners'.
inline constexpr int kMinPartners = 3;

/// Median polish (Tukey, Exploratory Data Analysis, 1977): medians are taken out of classes, senders and
/// receivers in turn until nothing moves. It starts from the lower quartile of each class: a slow node is
/// slow in all its pairs, so that most pairs are slow from three slow nodes of ten on, and three of four
/// where half of the nodes are. Right while fewer than half of a node's partners are bad. Times that are not
/// positive are ignored, and those alone of a pair that was measured in company too: they are no part of what
/// company costs. Repeats are not counted as such: settled_pairs() has taken them in.
[[nodiscard]] PairEffects pair_effects(const PairTable& table);

/// By how much a node's pairs with each group take more than pairs of that kind do: the median, without its
/// partners' parts. By the group in leaf_of_node, its own without one; of those with kMinPartners there.
[[nodiscard]] std::map<std::optional<int>, double> parts_by_group(const PairTable& table,
                                                                  const PairEffects& effects, int node,
                                                                  int rail, bool sends);

/// The line of pairs' residuals: that of their scatter, wider where few of them are free of the fit, and
/// infinite where none is.
[[nodiscard]] double line_of_pairs(const PairTable& table, const PairEffects& effects);

/// The line of a rail's nodes, as senders and receivers: collbench::population_line of both together, and
/// none finer than half of line_of_pairs of the rail, which is what its pairs scatter by.
[[nodiscard]] double line_of_rail(const PairTable& table, const PairEffects& effects, int rail);

/// Why the median is a poor reference, and who may be slow then.
struct MedianDoubt {
  std::string why{};          ///< empty: nothing speaks against it
  std::set<int> slower_half;  ///< nodes in none of the pairs that are faster than the median
};

/// Where pairs are faster than the median by as much as makes others slow, and many nodes are in none of
/// them, the median may be what is slow. `explains` says of a node and a rail whether a fault of its own, or
/// a disturbance that times alone have shown, is why its pairs differ: those say nothing of the median.
[[nodiscard]] MedianDoubt median_doubt(const PairTable& table, const PairEffects& effects,
                                       const std::function<bool(int node, int rail)>& explains);

}  // namespace collbench::analysis
