#pragma once
#include <string>
#include <vector>

#include "base/record/nccl_plan.hpp"

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

}  // namespace collbench::analysis
