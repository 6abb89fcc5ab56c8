#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/report/report.hpp"
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

/// A table of the trials, with the time of each operation where `width` allows, and a sentence that says what
/// to set.
[[nodiscard]] std::string nccl_advice_text(const NcclPlan& plan, const std::vector<NcclTrial>& trials,
                                           int width);

/// {"by": "time" or "rings", "trials": [{"setting", "ring_channels", "ring_bytes_per_second",
/// "expected_seconds", "saved_percent"}], "best": a setting or null}
[[nodiscard]] Json nccl_advice_json(const NcclPlan& plan, const std::vector<NcclTrial>& trials);

/// What `collbench nccl-plan` says: a plan, and the one that it is compared with by --versus.
struct NcclPlanReport {
  NcclPlan plan;
  std::optional<NcclPlan> versus;
  std::string versus_name;              ///< as the user gave it: a file, or NAME=VALUE
  std::vector<std::string> notes = {};  ///< what is not simulated, or was set in vain, a sentence each
  std::vector<NcclTrial> trials = {};   ///< of --advice
};

/// Graphs, rings and trees with their NICs, the tuning table, and a table of choices for each operation; with
/// a second plan, what it does differently instead of the tables; with trials, what to set. Every line of a
/// table fits options.columns.
[[nodiscard]] std::string nccl_plan_text(const NcclPlanReport& report, const TextOptions& options);

/// {"plan": …, "notes": […], "versus": …, "versus_name": …, "diff": …, "advice": …}; null is what was
/// not asked for.
[[nodiscard]] std::string nccl_plan_json(const NcclPlanReport& report);

/// The plan as a picture: nodes with their GPUs and NICs, the rails between them, and a lane for each ring
/// and tree. The plan alone, without `versus` and `trials`.
[[nodiscard]] std::string nccl_plan_svg(const NcclPlanReport& report);

/// The names of its formats, the usual one first.
[[nodiscard]] std::vector<std::string> nccl_plan_formats();

/// In the format of that name, of nccl_plan_formats().
[[nodiscard]] std::string nccl_plan_document(const NcclPlanReport& report, std::string_view format,
                                             const TextOptions& options);

}  // namespace collbench::analysis
