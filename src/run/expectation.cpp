#include "src/run/expectation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "analysis/models/host/calibration_fit.hpp"
#include "analysis/models/host/host_expectation.hpp"
#include "analysis/verdict/verdict.hpp"
#include "base/error.hpp"
#include "collectives/mpi/calibration.hpp"

namespace collbench::program {
namespace {

/// Of the rows that can run: MPI does not have all types.
std::vector<std::pair<DataType, Reduction>> reductions_in(const std::vector<RowKey>& rows,
                                                          const collectives::Backend& backend) {
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

void calibrate(Run& run, const launch::MpiSession& session, const collectives::Backend& backend,
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
  const collectives::EagerLimits eager = backend.capabilities().eager;
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

std::optional<analysis::GpuCluster> gpu_cluster_here(const topology::ClusterTopology& machines,
                                                     const Identities& identities,
                                                     std::vector<std::string>& notes) {
  const std::vector<int> ranks = ranks_per_node(identities);
  const auto nothing = [&](const std::string& reason) {
    notes.push_back(fmt::format("no row has an expectation or a verdict: {}", reason));
    return std::nullopt;
  };
  if (machines.distinct_hosts.empty()) return nothing("no topology was gathered");
  if (std::any_of(ranks.begin(), ranks.end(), [&](int each) { return each != ranks.front(); })) {
    return nothing("the nodes have different numbers of ranks");
  }
  try {
    return analysis::gpu_cluster(machines.distinct_hosts.front(), static_cast<int>(ranks.size()),
                                 ranks.front(), "this machine");
  } catch (const Error& error) {
    return nothing(error.what());
  }
}

RowExpectations RowExpectations::from_calibration(const Run& run, const std::vector<RowKey>& rows,
                                                  const collectives::Backend& backend,
                                                  const TrafficMatrix& traffic) {
  RowExpectations expectations;
  for (const RowKey& row : rows) {
    const bool known = run.calibration.has_value() && !backend.unsupported_reason(row);
    expectations.by_row_.push_back(known
                                       ? analysis::expect_on_host_memory(row, backend.algorithm_ran(row),
                                                                         *run.calibration, run.ranks, traffic)
                                       : Expectation{});
  }
  return expectations;
}

RowExpectations RowExpectations::from_links(analysis::GpuCluster cluster) {
  RowExpectations expectations;
  expectations.cluster_ = std::move(cluster);
  return expectations;
}

void RowExpectations::apply(Run& run) const {
  if (cluster_) run = analysis::judged_on_gpus(std::move(run), *cluster_);
  for (std::size_t i = 0; i < by_row_.size(); ++i) run.rows[i].expectation = by_row_[i];
}

}  // namespace collbench::program
