#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/document.hpp"
#include "tools/nccl_plan/plan/nccl_plan.hpp"

namespace collbench::analysis {

/// What NCCL does with one setting more.
struct NcclTrial {
  std::string setting;  ///< "NCCL_IB_HCA=^=mlx5_7 on the last node"
  NcclPlan plan;
};

/// Which of the trials loses least: by NCCL's own time, summed over the operations at their largest sizes; by
/// its rings' rate where it says no time.
struct NcclAdvice {
  bool by_time = true;
  std::vector<double> saved;  ///< by trial: the part of the time that it saves; below 0: it costs more
  int best = -1;              ///< the trial that saves most; -1: none saves a hundredth
};

[[nodiscard]] NcclAdvice nccl_advice(const NcclPlan& plan, const std::vector<NcclTrial>& trials);

/// What to set.
[[nodiscard]] std::string nccl_advice_answer(const NcclPlan& plan, const std::vector<NcclTrial>& trials);

/// A table of the trials, with the time of each operation.
[[nodiscard]] ReportSection nccl_advice_section(const NcclPlan& plan, const std::vector<NcclTrial>& trials);

/// {"by": "time" or "rings", "trials": [{"setting", "ring_channels", "ring_bytes_per_second",
/// "expected_seconds", "saved_percent"}], "best": a setting or null}
[[nodiscard]] Json nccl_advice_json(const NcclPlan& plan, const std::vector<NcclTrial>& trials);

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

/// "3 changes of choice or time; NCCL's time −1.0 to +4.0 %".
[[nodiscard]] std::string nccl_plan_diff_answer(const NcclPlanDiff& diff);

/// A line for each difference, the choices as a table.
[[nodiscard]] std::vector<ReportBlock> nccl_plan_diff_blocks(const NcclPlanDiff& diff);

/// The fields of NcclPlanDiff by their names; graphs and choices in the words of the text.
[[nodiscard]] Json nccl_plan_diff_json(const NcclPlanDiff& diff);

/// What `collbench nccl-plan` says: a plan, and the one that it is compared with by --versus.
struct NcclPlanReport {
  NcclPlan plan;
  std::optional<NcclPlan> versus;
  std::string versus_name;              ///< as the user gave it: a file, or NAME=VALUE
  std::vector<std::string> notes = {};  ///< what is not simulated, or was set in vain, a sentence each
  std::vector<NcclTrial> trials = {};   ///< of --advice
};

/// {"plan": …, "notes": […], "versus": …, "versus_name": …, "diff": …, "advice": …}; null is what was
/// not asked for.
[[nodiscard]] std::string nccl_plan_json(const NcclPlanReport& report);

/// The plan as a picture: nodes with their GPUs and NICs, the rails between them, and a lane for each ring
/// and tree. The plan alone, without `versus` and `trials`.
[[nodiscard]] std::string nccl_plan_svg(const NcclPlanReport& report);

/// The names of its formats, the usual one first.
[[nodiscard]] std::vector<std::string> nccl_plan_formats();

/// In the format of that name, of nccl_plan_formats(). Text: graphs, rings and trees with their NICs, the
/// tuning table, and a table of choices for each operation; with a second plan, what it does differently
/// instead of the tables; with trials, what to set.
[[nodiscard]] std::string nccl_plan_document(const NcclPlanReport& report, std::string_view format,
                                             int columns);

}  // namespace collbench::analysis
