#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "analysis/report/sections.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

constexpr double kMinReportedShare = 0.05;  // of a row's time; a quiet machine's is below 0.01

/// What one rank waited for a core, over the rows in which that is worth a word.
struct CoreWait {
  double max_share = 0;
  const Row* worst = nullptr;
  std::size_t rows = 0;
};

std::map<int, CoreWait> core_waits(const Run& run) {
  std::map<int, CoreWait> by_rank;
  for (const Row& row : run.rows) {
    for (const RankTimes& times : row.measurement.ranks) {
      const double share = times.core_wait_share.value_or(0);
      if (share < kMinReportedShare) continue;
      CoreWait& wait = by_rank[times.rank];
      ++wait.rows;
      if (share > wait.max_share) wait = {share, &row, wait.rows};
    }
  }
  return by_rank;
}

}  // namespace

ReportLines core_wait_lines(const Run& run) {
  const std::map<int, CoreWait> waits = core_waits(run);
  if (waits.empty()) return {};
  const auto worst = std::ranges::max_element(
      waits, [](const auto& a, const auto& b) { return a.second.max_share < b.second.max_share; });
  const CoreWait& wait = worst->second;
  const std::string host = std::cmp_less(worst->first, run.ranks.size())
                               ? " (" + run.ranks[static_cast<std::size_t>(worst->first)].host + ")"
                               : std::string();
  const std::string more =
      waits.size() == 1 ? "" : fmt::format("; {} as well", counted(waits.size() - 1, "other rank"));
  return {
      {fmt::format(
           "warning: rank {}{} was ready to run and had no core for {:.0f} % of the time of {} ({:.0f} % or "
           "more in {}{}): other threads ran there, or a CPU quota held it back; the times include that",
           worst->first, host, 100 * wait.max_share, format_row(wait.worst->measurement.key),
           100 * kMinReportedShare, counted(wait.rows, "row"), more),
       Tone::warning}};
}

std::string core_wait_of(const Run& run, int rank) {
  const std::map<int, CoreWait> waits = core_waits(run);
  const auto found = waits.find(rank);
  if (found == waits.end()) return {};
  return fmt::format("; it had no core for {:.0f} % of the time of {}", 100 * found->second.max_share,
                     format_row(found->second.worst->measurement.key));
}

}  // namespace collbench::analysis
