#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tools/burnin/attribution/burnin_record.hpp"

namespace collbench::analysis {

/// What is known of one direction of a pair on a rail.
struct DirectionRate {
  int from = 0;
  int to = 0;
  int rail = 0;
  double bytes_per_second = 0;  ///< as it counts, repeats taken in; 0: it gave no time
  double share = 0;             ///< of the usual rate of its rail, class and kind of GPUs
};

struct DirectionRates {
  std::vector<DirectionRate> all;  ///< each direction once: beside others where it was measured so
  PairEffects effects;             ///< of each kind of GPUs by itself
  double covered = 0;              ///< directions that gave a rate, of those of all pairs on all rails
};
[[nodiscard]] DirectionRates direction_rates(const BurninRecord& record);

/// Those of one rail by from × hosts + to; none: not measured.
[[nodiscard]] std::vector<std::optional<DirectionRate>> rate_matrix(const DirectionRates& rates, int hosts,
                                                                    int rail);

/// The median rate of a rail, bytes per second; 0: nothing was measured.
[[nodiscard]] double median_rate(const DirectionRates& rates, int rail);

/// How a share of the usual rate is shown.
enum class Shade { unmeasured, failed, below_50, below_75, below_90, below_95, below_99, usual, faster };
inline constexpr int kShades = 9;

/// NaN is unmeasured.
[[nodiscard]] Shade shade_of(double share);
[[nodiscard]] Shade shade_of(const std::optional<DirectionRate>& rate);

/// "50 to 75 %", for the legend.
[[nodiscard]] std::string name(Shade shade);

}  // namespace collbench::analysis
