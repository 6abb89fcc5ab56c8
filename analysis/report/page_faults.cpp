#include "analysis/report/sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace collbench::analysis {
namespace {

/// Settings that keep malloc from giving memory back (mallopt(3)), as users set them.
constexpr const char* kKeepMemory = "mpirun -x MALLOC_MMAP_MAX_=0 -x MALLOC_TRIM_THRESHOLD_=4294967296 makes";
constexpr const char* kKeepMemoryElsewhere =  // -x is Open MPI's
    "MALLOC_MMAP_MAX_=0 and MALLOC_TRIM_THRESHOLD_=4294967296 in the ranks' environment make";
constexpr std::array<const char*, 3> kMallocSettings{"MALLOC_MMAP_MAX_", "MALLOC_TRIM_THRESHOLD_",
                                                     "GLIBC_TUNABLES"};

/// The rows of one operation and algorithm.
struct Faulting {
  std::set<std::uint64_t> sizes_bytes;
  double min_share = INFINITY;
  double max_share = 0;
  double min_faults = INFINITY;  ///< in a call
  double max_faults = 0;
};

double max_page_faults(const Measurement& measured) {
  double most = 0;
  for (const RankTimes& rank : measured.ranks) most = std::max(most, rank.page_faults.value_or(0));
  return most;
}

void add(Faulting& all, const Row& row, double share) {
  const double faults = max_page_faults(row.measurement);
  all.sizes_bytes.insert(row.measurement.key.size_bytes);
  all.min_share = std::min(all.min_share, share);
  all.max_share = std::max(all.max_share, share);
  all.min_faults = std::min(all.min_faults, faults);
  all.max_faults = std::max(all.max_faults, faults);
}

bool malloc_is_set(const Run& run) {
  return std::ranges::any_of(kMallocSettings,
                             [&](const char* name) { return run.environment.contains(name); });
}

}  // namespace

const CalibrationPoint* page_fault_point(const Run& run) {
  // One that cannot be used keeps its points: they contradict each other, and this one may be as wrong.
  if (!run.calibration || (!run.calibration->intra && !run.calibration->inter)) return nullptr;
  const auto& points = run.calibration->points;
  const auto found = std::ranges::find(points, CalibrationKind::page_fault, &CalibrationPoint::kind);
  return found == points.end() ? nullptr : &*found;
}

double page_fault_share(const Run& run, const Row& row) {
  const CalibrationPoint* const point = page_fault_point(run);
  if (point == nullptr) return 0;
  double most = 0;
  for (const RankTimes& rank : row.measurement.ranks) {
    if (rank.median_seconds <= 0) continue;
    most = std::max(most, rank.page_faults.value_or(0) * point->seconds / rank.median_seconds);
  }
  return std::min(most, 1.0);  // both are measured, one in another minute
}

ReportLines page_fault_lines(const Run& run) {
  std::map<std::pair<OperationId, std::string>, Faulting> all;
  for (const Row& row : run.rows) {
    const double share = page_fault_share(run, row);
    if (share < kMinReportedPageFaultShare) continue;
    add(all[{row.measurement.key.operation, row.measurement.algorithm_ran}], row, share);
  }
  ReportLines facts;
  for (const auto& [what, rows] : all) {
    const std::string algorithm = what.second == kLibraryChoice ? "" : " by " + what.second;
    const std::string part =
        rows.max_share < 1
            ? fmt::format("about {} of the time", format_span(fmt::format("{:.2f}", rows.min_share),
                                                              fmt::format("{:.2f}", rows.max_share)))
            : "a part of the time that is not known, since one took longer in the calibration than here";
    add(facts, "{}{}, {}: page faults take {} ({} in each call), which the expectation does not include",
        operation(what.first).name, algorithm, format_sizes(rows.sizes_bytes), part,
        format_span(fmt::format("{:.0f}", rows.min_faults), fmt::format("{:.0f}", rows.max_faults)));
  }
  if (facts.empty() || malloc_is_set(run)) return facts;
  add(facts,
      "page faults in each call come mostly from buffers that the library reallocates on every call: {} "
      "malloc keep them",
      run.versions.mpi.starts_with("Open MPI") ? kKeepMemory : kKeepMemoryElsewhere);
  return facts;
}

}  // namespace collbench::analysis
