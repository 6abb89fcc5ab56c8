#pragma once
#include <cstddef>
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

/// All histories of a baseline, those of a kind one after the other, as a page of HTML: of each kind its
/// nodes side by side, of each machine its rows over time with their changes of level. `name`: of the
/// baseline.
[[nodiscard]] std::string history_page(const std::vector<MachineHistory>& histories, const std::string& name);

/// A table for each kind of machine of several nodes, by the newest record of each; empty ones for the
/// others.
[[nodiscard]] std::vector<FleetTable> fleets_of(const std::vector<MachineHistory>& histories);

/// The same as text.
[[nodiscard]] std::string histories_text(const std::vector<MachineHistory>& histories, int columns);

/// What text and page say alike. Of a machine: which, of how many records; the cells of a row's line, where
/// `needed` records are what a change can be seen from; the row's changes of level.
[[nodiscard]] std::string history_title(const MachineHistory& history);
[[nodiscard]] std::vector<std::string> history_headings();
[[nodiscard]] std::vector<std::string> history_cells(const RowTrend& trend, std::size_t needed);
[[nodiscard]] std::vector<std::string> change_lines(const MachineHistory& history, const RowTrend& trend);
[[nodiscard]] std::size_t records_to_see_a_change(std::size_t rows);
[[nodiscard]] std::string too_few_records(std::size_t rows);

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
