#pragma once
#include <string>
#include <vector>

#include "analysis/history/history.hpp"
#include "base/record/run.hpp"

namespace collbench::analysis {

/// Records of one kind of machine on the same hosts, oldest first.
struct MachineHistory {
  std::string kind;  ///< machine_kind()
  std::vector<std::string> hosts;
  std::vector<Run> runs;  ///< at least one
};

/// A table of rows (how many records, the median time, the newest, when the level changed), then every change
/// of level in a line. Every line fits `columns`, 80 and more.
[[nodiscard]] std::string history_text(const MachineHistory& history, int columns);

/// Node × row as time over the median of all nodes; in as many tables as the page needs, all nodes in each.
/// Empty for fewer than two nodes.
[[nodiscard]] std::string fleet_text(const FleetTable& fleet, int columns);

}  // namespace collbench::analysis
