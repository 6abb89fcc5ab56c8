#include "src/run_telemetry.hpp"

#include <utility>

#include "src/gather_telemetry.hpp"

namespace collbench {

void RunTelemetry::begin(const Ranks& ranks) {
  if (!wanted_) return;
  if (place_.machines[static_cast<std::size_t>(ranks.rank())].local_rank == 0) watch_.emplace();
}

void RunTelemetry::running(std::optional<std::size_t> row) {
  if (watch_) watch_->running(row);
}

void RunTelemetry::end(Ranks& ranks, Run& run) {
  if (!wanted_) return;
  const TelemetryLog* const log = watch_ ? &watch_->finish() : nullptr;
  GatheredTelemetry all = gather_telemetry(ranks, place_.machines, place_.gpus, log);
  if (!ranks.is_root()) return;
  run.telemetry = std::move(all.telemetry);
  marks_ = std::move(all.marks);
  mark_rows(run);
}

void RunTelemetry::mark_rows(Run& run) const {
  for (const auto& [row, marks] : marks_) {
    if (row < run.rows.size()) run.rows[row].measurement.marks = marks;
  }
}

}  // namespace collbench
