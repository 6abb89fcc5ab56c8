#include "analysis/states/machine_states.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/units.hpp"

namespace collbench::analysis {
namespace {

constexpr double kMinMeasuredSeconds = 1e-3;

bool has_row_without_time(const Run& run) {
  return std::ranges::any_of(run.rows, [](const Row& row) { return had_no_time(row.measurement); });
}

std::string words_of(std::size_t count, std::size_t launches) {
  if (count == 0) return {};
  return fmt::format(
      "{} of {} had no time left for some rows, which are of the others only: use a longer --time", count,
      counted(launches, "launch"));
}

}  // namespace

bool had_no_time(const Measurement& measured) {
  return measured.stopped && measured.stopped->reason == StopReason::out_of_time &&
         static_cast<double>(measured.iterations) * measured.seconds < kMinMeasuredSeconds;
}

std::vector<const Row*> rows_with_time(const std::vector<const Row*>& rows) {
  std::vector<const Row*> kept;
  std::ranges::copy_if(rows, std::back_inserter(kept),
                       [](const Row* row) { return !had_no_time(row->measurement); });
  return kept.empty() ? rows : kept;
}

std::string short_launches(const std::vector<Run>& launches) {
  const auto count = std::ranges::count_if(launches, has_row_without_time);
  return words_of(static_cast<std::size_t>(count), launches.size());
}

std::string short_launches(const Run& merged) {
  const auto launches = static_cast<std::size_t>(std::max(merged.launches, 0));
  std::size_t most = 0;
  for (const Row& row : merged.rows) {
    const std::size_t measured = row.measurement.launch_passes.size();
    if (measured > 0 && measured < launches) most = std::max(most, launches - measured);
  }
  return words_of(most, launches);
}

}  // namespace collbench::analysis
