#pragma once
#include <optional>
#include <string>
#include <vector>

#include "analysis/report/nccl_plan/advice.hpp"
#include "analysis/report/report.hpp"
#include "base/record/nccl_plan.hpp"

namespace collbench::analysis {

/// What `predict --by-nccl` says: a plan, and the one that it is compared with by --versus.
struct NcclPlanReport {
  NcclPlan plan;
  std::optional<NcclPlan> versus;
  std::string versus_name;              ///< as the user gave it: a file, or NAME=VALUE
  std::vector<std::string> notes = {};  ///< what is not simulated, or was set in vain, a sentence each
  std::vector<NcclTrial> trials = {};   ///< of --advice
};

}  // namespace collbench::analysis
