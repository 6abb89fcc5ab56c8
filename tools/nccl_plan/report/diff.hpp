#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/nccl_plan/plan/nccl_plan.hpp"

namespace collbench::analysis {

/// A graph that the nodes agree on, where the two plans have another.
struct NcclGraphChange {
  NcclAlgorithm algorithm = NcclAlgorithm::ring;
  std::optional<NcclSearchGraph> before;  ///< without its channels; none: not there
  std::optional<NcclSearchGraph> after;

  bool operator==(const NcclGraphChange&) const = default;
};

/// Sizes of an operation for which both plans have one answer each, and not the same.
struct NcclChoiceChange {
  OperationId operation = OperationId::all_reduce;
  std::uint64_t from_bytes = 0;
  std::uint64_t to_bytes = 0;  ///< the last of them
  NcclSelection before;        ///< without expectations
  NcclSelection after;
  /// NCCL's own time after / before, the least and the greatest of the sizes; none where it does not say.
  std::optional<double> least_ratio;
  std::optional<double> greatest_ratio;

  bool operator==(const NcclChoiceChange&) const = default;
};

/// A figure of the whole communicator that differs.
struct NcclCountChange {
  std::string what;
  int before = 0;
  int after = 0;

  bool operator==(const NcclCountChange&) const = default;
};

/// What a second NCCL, or one with another setting, would do differently on the same machine.
struct NcclPlanDiff {
  std::vector<NcclGraphChange> graphs;
  std::vector<NcclCountChange> counts;
  int rings_that_differ = 0;  ///< channels whose ring is routed differently
  int trees_that_differ = 0;
  std::vector<NcclChoiceChange> choices;  ///< by operation and size
  std::vector<std::string> warnings;      ///< of NCCL, that only `after` has

  [[nodiscard]] bool empty() const;
};

/// Rows are compared where both have one. A time counts as another one when it differs by more than 0.1 %,
/// ten times the last digit that NCCL's tuning table is made of.
[[nodiscard]] NcclPlanDiff diff_nccl_plans(const NcclPlan& before, const NcclPlan& after);

/// A line for each difference, the choices as a table; wrapped at `width`.
[[nodiscard]] std::string nccl_plan_diff_text(const NcclPlanDiff& diff, int width);

/// The fields of NcclPlanDiff by their names; graphs and choices in the words of the text.
[[nodiscard]] Json nccl_plan_diff_json(const NcclPlanDiff& diff);

}  // namespace collbench::analysis
