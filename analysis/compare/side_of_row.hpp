#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "base/record/run.hpp"

namespace collbench::analysis {

struct SideOfRow {
  std::vector<const Measurement*> runs;
  std::vector<double> log_seconds;   ///< of each launch
  std::vector<std::size_t> states;   ///< that it ran in, as many
  std::vector<std::size_t> records;  ///< that it is of, as many
  bool had_time = true;              ///< for a block of calls; if not, the times are of a few first calls
  bool has_no_times = false;  ///< launches were left out whose time is none: 0, or below what a double holds
};

/// Whether a time of a record can be divided by: above 0, finite, and not denormal. A record from elsewhere
/// may hold anything.
[[nodiscard]] bool is_time(double seconds);

/// Whether a row was run and has a time.
[[nodiscard]] bool was_measured(const Measurement& measured);

/// The rows of a run that were measured; of several with one key the first. Refers to the run.
using MeasuredRows = std::map<RowKey, const Row*>;
[[nodiscard]] std::vector<MeasuredRows> measured_rows(const std::vector<Run>& runs);

/// The row of this key; null where there is none.
[[nodiscard]] const Measurement* measured_row(const MeasuredRows& rows, const RowKey& key);

[[nodiscard]] bool has_probes(const Measurement& measured);

/// One row of all runs of a side, without the runs that had no time for it where others had. `boundaries` are
/// those of the machine's states; without any all launches are alike. Refers to the runs.
[[nodiscard]] SideOfRow side_of(const std::vector<MeasuredRows>& runs, const RowKey& key,
                                const std::vector<double>& boundaries);

/// Of `states` states the one in which the side with fewer launches has most; none when they share no state.
[[nodiscard]] std::optional<std::size_t> shared_state(const SideOfRow& a, const SideOfRow& b,
                                                      std::size_t states);

/// Leaves out the launches of other states.
void keep_state(SideOfRow& side, std::size_t state);

/// One value for each record: the median of its launches, which share the night's conditions and are not as
/// many independent values (pseudo-replication: Hurlbert, Ecological Monographs 54 (1984) 187-211).
void keep_value_per_record(SideOfRow& side);

}  // namespace collbench::analysis
