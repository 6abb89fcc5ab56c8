#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/host_name.hpp"
#include "base/rank_use.hpp"
#include "base/record/run.hpp"

namespace collbench::analysis {

/// What its rank says of one host of a pair (RailTime).
struct PairEnd {
  std::optional<double> resent{};
  std::optional<double> waited{};
};

/// What a launch of two ranks measured.
struct PairOutcome {
  double from_a = 0;  ///< seconds of a message a → b
  double from_b = 0;
  PairEnd a{};
  PairEnd b{};
  std::string why{};        ///< why there are none; empty: there are
  std::string misplaced{};  ///< as misplacement(); there are no times then
};

/// How the ranks of a run are not on exactly these hosts (names are compared up to the first dot, without
/// case): the launcher's error, and no host's. Empty: they are.
[[nodiscard]] std::string misplacement(const Run& run, const std::vector<std::string>& hosts);

/// The line of a failed launch's stderr that says why: collbench's own, else what srun or mpirun says of
/// a rank that died, else the first that has letters (mpirun frames its messages with dashes). Empty where
/// there is none.
[[nodiscard]] std::string first_words(std::string_view said);

/// Reads the record that a launch on `a` and `b` printed. Which host a rank ran on is the record's word,
/// never the order in which the launcher was asked; there are no times where the ranks ran elsewhere, and
/// none of what is no record. `uses`: by rank; empty where they are not known.
[[nodiscard]] PairOutcome pair_outcome(std::string_view record, const std::string& a, const std::string& b,
                                       const std::vector<RankUse>& uses = {});

}  // namespace collbench::analysis
