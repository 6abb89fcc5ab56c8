#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "analysis/history/history.hpp"
#include "base/document/text_layout.hpp"
#include "base/record/run.hpp"

namespace collbench::analysis {

/// Records of one kind of machine on the same hosts, oldest first.
struct MachineHistory {
  std::string kind;  ///< machine_kind()
  std::vector<std::string> hosts;
  std::vector<Run> runs;  ///< at least one
};

/// All histories of a baseline, those of a kind one after the other, as a page of HTML: of each kind its
/// nodes side by side, of each machine its rows over time with their changes of level. `name`: of the
/// baseline.
[[nodiscard]] std::string history_page(const std::vector<MachineHistory>& histories, const std::string& name);

/// Beside the first history of each kind of machine a table of its nodes, by the newest record of each; empty
/// ones beside the others, and where the kind has one node.
[[nodiscard]] std::vector<FleetTable> fleets_of(const std::vector<MachineHistory>& histories);

[[nodiscard]] std::string histories_text(const std::vector<MachineHistory>& histories, int columns);

/// What text and page say alike of a machine's rows over its records.
struct HistoryRows {
  std::vector<RowTrend> trends;
  TextTable cells;                   ///< below their headings, a line for each trend
  std::vector<std::string> changes;  ///< of level, by time
  std::string too_few;  ///< from how many records on a change can be seen; empty: all rows have as many
};
[[nodiscard]] HistoryRows history_rows(const MachineHistory& history);

/// Which machine, of how many records.
[[nodiscard]] std::string history_title(const MachineHistory& history);

/// "2026-10-01 12:00", or "–" of a record that does not say.
[[nodiscard]] std::string day_of(const Run& run);

/// Of a fleet: what its cells are, which row a number means, and a cell, with "!" where the node is odd.
[[nodiscard]] std::string fleet_title(const FleetTable& fleet);
[[nodiscard]] std::string fleet_row_title(const FleetTable& fleet, std::size_t row);
[[nodiscard]] std::string fleet_cell(const FleetNode& node, std::size_t row, double median_seconds);

/// A table of rows (how many records, the median time, the newest, when the level changed), then every change
/// of level in a line. Every line fits `columns`, 80 and more.
[[nodiscard]] std::string history_text(const MachineHistory& history, int columns);

/// Node × row as time over the median of all nodes; in as many tables as the page needs, all nodes in each.
/// Empty for fewer than two nodes.
[[nodiscard]] std::string fleet_text(const FleetTable& fleet, int columns);

}  // namespace collbench::analysis
