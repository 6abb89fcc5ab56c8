#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "base/record/run.hpp"

namespace collbench::analysis {

struct Step;
struct StepCollective;

/// A measured ratio speaks for sizes up to this many times smaller or larger: a step of nccl-tests' usual
/// series (factor 2) four times over.
inline constexpr double kRatioReach = 16;

/// What a measured record says of the collectives of groups like its own: how much longer they took than the
/// model says, so that a slow fabric shows in a plan also for groups of other sizes.
struct MeasuredCollectives {
  struct Ratio {
    double bytes = 0;  ///< of the size column
    double ratio = 1;  ///< measured over expected seconds
  };
  std::string record;         ///< what the user calls it
  bool across_nodes = false;  ///< its ranks crossed nodes: so must the groups that it speaks for
  std::map<OperationId, std::vector<Ratio>> ratios{};  ///< by ascending bytes

  /// Interpolated by the logarithm of the size; up to kRatioReach times beyond the sizes that were measured
  /// as at the nearest. None farther away (what is latency there may be bandwidth here), and for an operation
  /// that was not measured: the model alone speaks.
  [[nodiscard]] std::optional<double> ratio(OperationId operation, double bytes) const;
};

/// `judged`: a run with its expectations, by `cluster`. Rows of the library's own choice count, in place or
/// not. Throws Error (usage) for a record without any, with wrong data, or with a time that no collective
/// takes.
[[nodiscard]] MeasuredCollectives measured_collectives(const Run& judged, const GpuCluster& cluster,
                                                       const std::string& record);

/// Collectives of the step whose groups lie as the record's ranks, but whose sizes are out of its reach: each
/// operation and size once, ascending.
[[nodiscard]] std::vector<StepCollective> out_of_reach(const Step& step, const MeasuredCollectives& measured);

/// Throws Error (usage) that names the operations which the step runs and the record lacks.
void require_measured(const MeasuredCollectives& measured, const Step& step);

}  // namespace collbench::analysis
