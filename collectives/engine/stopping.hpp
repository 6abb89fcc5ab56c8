#pragma once
#include <cstddef>
#include <optional>
#include <variant>
#include <vector>

#include "base/record/states.hpp"
#include "base/state_boundaries.hpp"

namespace collbench::collectives {

/// As soon as the precision is reached.
struct Precision {
  int min_passes = 8;  ///< with fewer the order statistics are the extremes, and the width is luck
  int max_passes = 64;
};
/// Whatever the precision.
struct FixedPasses {
  int passes = 1;
};
/// Not before somebody interrupts the run, or its time is over.
struct Endless {};

/// When a row is done, beside the time of the run.
struct StoppingRule {
  double precision = 0.05;  ///< wanted half-width of the 95 % interval, as a fraction of the median
  std::variant<Precision, FixedPasses, Endless> passes{};
};

/// Half the width of the interval over `pass_seconds`, as a fraction of their median; infinite for fewer than
/// 6 passes.
[[nodiscard]] double relative_half_width(const std::vector<double>& pass_seconds);

/// Why a row needs no further pass; none while it does. `pass_seconds` are the passes that its time is taken
/// from, which are to be tight; `all_passes` is how many it had in any state of the machine.
[[nodiscard]] std::optional<Stop> stop_reason(const StoppingRule& rule,
                                              const std::vector<double>& pass_seconds,
                                              std::size_t all_passes);

/// In which states the machine was while the passes so far ran, and which of a row's passes its time is taken
/// from: those in the commonest state of all rows in which it has any; all where there was one state.
class CountedPasses {
 public:
  void update(const std::vector<RowPasses>& rows);

  /// The times of the row's passes that count, by what the last update saw.
  [[nodiscard]] std::vector<double> of(const RowPasses& row) const;

 private:
  std::vector<double> boundaries_;
  std::vector<std::size_t> states_{0};  // the commonest first
};

}  // namespace collbench::collectives
