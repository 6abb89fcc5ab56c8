#include "src/run/expectation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "analysis/models/host/calibration_fit.hpp"
#include "analysis/models/host/host_expectation.hpp"
#include "base/error.hpp"
#include "collectives/mpi/calibration.hpp"

namespace collbench::program {
namespace {

/// Of the rows that can run: MPI does not have all types.
std::vector<std::pair<DataType, Reduction>> reductions_in(const std::vector<RowKey>& rows,
                                                          const collectives::MpiBackend& backend) {
  std::set<std::pair<DataType, Reduction>> found;
  for (const RowKey& row : rows) {
    if (row.reduction && !backend.unsupported_type_reason(row.type)) found.emplace(row.type, *row.reduction);
  }
  return {found.begin(), found.end()};
}

std::uint64_t max_row_bytes(const std::vector<RowKey>& rows) {
  std::uint64_t largest = 0;
  for (const RowKey& row : rows) largest = std::max(largest, row.size_bytes);
  return largest;
}

}  // namespace

void calibrate(Run& run, const launch::MpiSession& session, const collectives::MpiBackend& backend,
               const std::vector<RowKey>& rows, double seconds, const std::function<void()>& before_point) {
  const collectives::CalibrationRequest request{
      .reductions = reductions_in(rows, backend),
      // Simulated links have one rate: larger messages tell nothing new.
      .max_bytes = run.simulated ? 0 : max_row_bytes(rows),
      .seconds = seconds,
      .simulated = run.simulated,
      .before_point = before_point};
  std::vector<CalibrationPoint> points =
      collectives::measure_calibration(session.ranks(), session.clock(), run.ranks, request);
  const collectives::EagerLimits eager = backend.eager_limits();
  try {
    run.calibration =
        analysis::fit_calibration(points, run.ranks, eager.within_host_bytes, eager.across_hosts_bytes);
  } catch (const Error& error) {
    run.calibration = Calibration{};
    run.calibration->points = std::move(points);
    run.environment_notes.push_back(
        fmt::format("the calibration could not be fitted ({}), so no row has an expectation; run "
                    "again on a quieter machine",
                    error.what()));
  }
}

std::vector<Expectation> expectations(const std::vector<RowKey>& rows, const collectives::Backend& backend,
                                      const Run& run, const TrafficMatrix& traffic) {
  std::vector<Expectation> all;
  for (const RowKey& row : rows) {
    const bool known = run.calibration.has_value() && !backend.unsupported_reason(row);
    all.push_back(known ? analysis::expect_on_host_memory(row, backend.algorithm_ran(row), *run.calibration,
                                                          run.ranks, traffic)
                        : Expectation{});
  }
  return all;
}

}  // namespace collbench::program
