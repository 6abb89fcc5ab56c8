#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tools/plan/step/plan.hpp"

namespace collbench::analysis {

/// An added GPU pays while it brings at least this part of what a GPU brings at the fewest.
inline constexpr double kPaysFrom = 0.5;

struct ScalePoint {
  int gpus = 0;
  std::optional<TrainingPlan> plan;    ///< the fastest split that fits
  std::string refused;                 ///< where there is none
  std::optional<double> efficiency{};  ///< tokens/s per GPU, of that at the fewest GPUs with a plan
};

/// Up to which number of GPUs it pays.
struct ScaleVerdict {
  std::optional<ScalePoint> end;  ///< none: not known
  std::string words;              ///< a sentence
};

/// A model over numbers of GPUs, ascending.
struct ScaleSeries {
  std::string name;  ///< "strong", "weak"
  std::vector<ScalePoint> points;
  ScaleVerdict verdict;
};

/// Strong scaling: the request's global batch at every number of GPUs. Weak: as many samples per GPU at every
/// number as that batch gives at the largest, at least one. What the request does not give of the split is
/// searched anew at each number (fastest_splits). `gpus` ascends and is not empty.
[[nodiscard]] std::vector<ScaleSeries> scaling(const PlanRequest& request, const GpuCluster& node,
                                               const std::vector<int>& gpus);

/// Up to which number it pays: to go from one number to the next pays where an added GPU brings at least
/// kPaysFrom of the tokens/s that one brings at the fewest.
[[nodiscard]] ScaleVerdict where_it_stops_paying(const std::vector<ScalePoint>& points);

}  // namespace collbench::analysis
