#pragma once
#include <string>
#include <vector>

#include "analysis/history/history.hpp"
#include "base/document/document.hpp"
#include "base/record/run.hpp"

namespace collbench::analysis {

/// Records of one kind of machine on the same hosts, oldest first.
struct MachineHistory {
  std::string kind;  ///< machine_kind()
  std::vector<std::string> hosts;
  std::vector<Run> runs;  ///< at least one
};

/// All histories of a baseline, those of a kind one after the other: of each kind its nodes side by side, as
/// time over the median of all; of each machine its rows over time with their changes of level. `name`: of
/// the baseline. Without charts for what cannot show them.
[[nodiscard]] Document history_document(const std::vector<MachineHistory>& histories, const std::string& name,
                                        bool with_charts);

}  // namespace collbench::analysis
