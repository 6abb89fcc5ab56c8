#include "analysis/compare/side_of_row.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/states/machine_states.hpp"
#include "base/statistics.hpp"

namespace collbench::analysis {

bool is_time(double seconds) { return seconds > 0 && std::isnormal(seconds); }

bool was_measured(const Measurement& measured) {
  return measured.unavailable.empty() && is_time(measured.seconds);
}

std::vector<MeasuredRows> measured_rows(const std::vector<Run>& runs) {
  std::vector<MeasuredRows> of_runs;
  for (const Run& run : runs) {
    MeasuredRows& rows = of_runs.emplace_back();
    for (const Row& row : run.rows)
      if (was_measured(row.measurement)) rows.emplace(row.measurement.key, &row);
  }
  return of_runs;
}

const Measurement* measured_row(const MeasuredRows& rows, const RowKey& key) {
  const auto row = rows.find(key);
  return row == rows.end() ? nullptr : &row->second->measurement;
}

bool has_probes(const Measurement& measured) {
  return !measured.pass_seconds.empty() && measured.pass_probes.size() == measured.pass_seconds.size();
}

SideOfRow side_of(const std::vector<MeasuredRows>& runs, const RowKey& key,
                  const std::vector<double>& boundaries) {
  SideOfRow side;
  std::vector<const Row*> rows;
  for (const MeasuredRows& run : runs) {
    if (const auto row = run.find(key); row != run.end()) rows.push_back(row->second);
  }
  rows = rows_with_time(rows);
  side.had_time = rows.empty() || !had_no_time(rows.front()->measurement);  // of all or of none
  const auto add_launch = [&side](double seconds, std::size_t state) {
    if (!is_time(seconds)) {
      side.has_no_times = true;
      return;
    }
    side.log_seconds.push_back(std::log(seconds));
    side.states.push_back(state);
  };
  for (const Row* const row : rows) {
    const Measurement& measured = row->measurement;
    const std::size_t record = side.runs.size();
    side.runs.push_back(&measured);
    if (!boundaries.empty() && has_probes(measured)) {
      for (const LaunchInState& launch : launches_by_state(measured, boundaries))
        add_launch(median(launch.pass_seconds), launch.state);
    } else {
      for (const double seconds : times_of_launches(measured)) add_launch(seconds, 0);
    }
    side.records.resize(side.log_seconds.size(), record);
  }
  return side;
}

std::optional<std::size_t> shared_state(const SideOfRow& a, const SideOfRow& b, std::size_t states) {
  std::optional<std::size_t> best;
  std::ptrdiff_t most = 0;
  for (std::size_t state = 0; state < states; ++state) {
    const std::ptrdiff_t fewer =
        std::min(std::ranges::count(a.states, state), std::ranges::count(b.states, state));
    if (fewer <= most) continue;
    most = fewer;
    best = state;
  }
  return best;
}

void keep_state(SideOfRow& side, std::size_t state) {
  SideOfRow kept = side;
  kept.log_seconds.clear();
  kept.states.clear();
  kept.records.clear();
  for (std::size_t i = 0; i < side.states.size(); ++i) {
    if (side.states[i] != state) continue;
    kept.log_seconds.push_back(side.log_seconds[i]);
    kept.states.push_back(state);
    kept.records.push_back(side.records[i]);
  }
  side = std::move(kept);
}

void keep_value_per_record(SideOfRow& side) {
  std::map<std::size_t, std::vector<double>> by_record;
  for (std::size_t i = 0; i < side.records.size(); ++i)
    by_record[side.records[i]].push_back(side.log_seconds[i]);
  side.log_seconds.clear();
  for (const auto& [_, launches] : by_record) side.log_seconds.push_back(median(launches));
}

}  // namespace collbench::analysis
