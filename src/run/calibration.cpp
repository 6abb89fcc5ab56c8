#include "src/run/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "analysis/models/host/calibration_fit.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "collectives/engine/backend_probes.hpp"
#include "collectives/mpi/mpi_library.hpp"
#include "launch/agreement.hpp"

namespace collbench::program {
namespace {

constexpr std::uint64_t kMaxCalibratedBytes = 16 * kMiB;  // collectives/mpi/calibration.cpp

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

std::string point_text(const CalibrationPoint& point) {
  return fmt::format("{} of {} in {}", name(point.kind), format_bytes(point.bytes),
                     format_seconds(point.seconds));
}

/// Why nothing is expected by these points; empty where they tell something.
std::string obstacle(const collectives::MeasuredCalibration& measured, const Run& run) {
  // Where ranks take turns on cores the scheduler is in every point, and a note of the run says so.
  // (--node-map may give the ranks other nodes than the cores are counted by.)
  const auto cores = std::accumulate(run.cores_per_node.begin(), run.cores_per_node.end(), 0);
  const bool more_than_cores = cores > 0 && std::cmp_greater(run.ranks.size(), cores);
  if (run.simulated || more_than_cores || ranks_take_turns(run.ranks, run.cores_per_node)) return {};
  const std::vector<std::size_t> disturbed = disturbed_points(measured.points);
  if (disturbed.empty()) return {};
  return fmt::format(
      "measured again, {} of {} points still contradict the others by more than a factor of 2, such as "
      "{}: something else kept the ranks or their links busy",
      disturbed.size(), measured.points.size(), point_text(measured.points[disturbed.front()]));
}

Error other_calibration(const std::string& file, const std::string& what) {
  return usage_error(
      "--calibration", fmt::format("{} {}", file, what),
      "leave --calibration out to calibrate this run, or give a record of the same ranks, hosts and library");
}

void require_same_ranks(const Run& then, const Run& now, const std::string& file) {
  const auto described = [](const Run& run) {
    return fmt::format("{} on {}", counted(run.ranks.size(), "rank"), counted(node_count(run.ranks), "host"));
  };
  if (described(then) != described(now)) {
    throw other_calibration(
        file, fmt::format("was calibrated with {}, and this run has {}", described(then), described(now)));
  }
  for (std::size_t rank = 0; rank < now.ranks.size(); ++rank) {
    if (then.ranks[rank] == now.ranks[rank]) continue;
    throw other_calibration(
        file, fmt::format("was calibrated with rank {} on {} (the host's rank {}), which is now on "
                          "{} (its rank {})",
                          rank, then.ranks[rank].host, then.ranks[rank].local_rank, now.ranks[rank].host,
                          now.ranks[rank].local_rank));
  }
}

void require_same(std::string_view then, std::string_view now, const std::string& file) {
  if (then == now) return;
  throw other_calibration(file, fmt::format("was calibrated with {}, and this run uses {}", then, now));
}

std::uint64_t max_point_bytes(const Calibration& calibration) {
  std::uint64_t largest = 0;
  for (const CalibrationPoint& point : calibration.points) largest = std::max(largest, point.bytes);
  return largest;
}

}  // namespace

void calibrate(Run& run, const launch::Session& session, collectives::Backend& backend,
               const std::vector<RowKey>& rows, double seconds, launch::FlightRecorder& flight) {
  const launch::CountedCall waiting(flight.exchanges());
  collectives::BackendProbes probes(backend);
  std::vector<MachineProbe> seen;
  const auto before_point = [&, start = session.clock().seconds(), is_first = true]() mutable {
    flight.step("calibration");
    if (run.simulated) return;
    // Cores that have not just worked together answer as in another state.
    const bool due = !std::exchange(is_first, false) && probes.is_due(session.clock().seconds() - start);
    if (!launch::broadcast_value(session.ranks(), due)) return;
    if (const auto probe = probes.probe()) seen.push_back(*probe);
  };
  const collectives::CalibrationRequest request{
      .reductions = reductions_in(rows, backend),
      // Simulated links have one rate: larger messages tell nothing new.
      .max_bytes = run.simulated ? 0 : max_row_bytes(rows),
      .seconds = seconds,
      .simulated = run.simulated,
      .before_point = before_point};
  take_calibration(run,
                   collectives::mpi_library().functions->measure_calibration(session.ranks(), session.clock(),
                                                                             run.ranks, request),
                   backend.capabilities().eager);
  if (run.calibration) run.calibration->probes = std::move(seen);
}

void take_calibration(Run& run, collectives::MeasuredCalibration measured,
                      const collectives::EagerLimits& eager) {
  std::string why = obstacle(measured, run);
  if (why.empty()) {
    try {
      run.calibration = analysis::fit_calibration(measured.points, run.ranks, eager.within_host_bytes,
                                                  eager.across_hosts_bytes);
      if (measured.points.size() < measured.wanted) {
        run.environment_notes.push_back(
            fmt::format("calibrated at {} of {} points, as many as a quarter of --time allowed: expectations "
                        "are interpolated over wider gaps",
                        measured.points.size(), measured.wanted));
      }
      return;
    } catch (const Error& error) {
      why = fmt::format("it could not be fitted ({})", error.what());
    }
  }
  run.calibration = Calibration{};
  run.calibration->points = std::move(measured.points);
  run.environment_notes.push_back(
      fmt::format("the calibration cannot be used, so no row has an expectation: {}; run again on a quieter "
                  "machine, with a longer --time, or with --calibration and the record of a quieter run",
                  why));
}

void take_saved_calibration(Run& run, const Run& then, const std::vector<RowKey>& rows,
                            const std::string& file) {
  // First: a log that was imported was not calibrated with anything.
  if (!then.calibration || (!then.calibration->intra && !then.calibration->inter))
    throw other_calibration(file, "has no calibration that can be used");
  require_same(name(then.backend), name(run.backend), file);
  require_same(then.versions.mpi, run.versions.mpi, file);
  require_same(then.simulated ? "simulated time" : "real time",
               run.simulated ? "simulated time" : "real time", file);
  require_same_ranks(then, run, file);
  if (const std::string why = obstacle({.points = then.calibration->points, .wanted = 0}, run); !why.empty())
    throw other_calibration(file, "has a calibration that contradicts itself: " + why);
  for (const RowKey& row : rows) {
    if (!row.reduction) continue;
    const auto& gammas = then.calibration->gammas;
    const bool known = std::ranges::any_of(gammas, [&row](const auto& each) {
      return each.type == row.type && each.reduction == row.reduction;
    });
    if (!known) {
      throw other_calibration(file, fmt::format("was not calibrated for {} {}, which this run reduces",
                                                traits(row.type).name, name(*row.reduction)));
    }
  }
  const std::uint64_t needed = run.simulated ? 0 : std::min(max_row_bytes(rows), kMaxCalibratedBytes);
  if (const std::uint64_t largest = max_point_bytes(*then.calibration); largest < needed) {
    throw other_calibration(file, fmt::format("was calibrated up to {}, and this run has rows of {}",
                                              format_bytes(largest), format_bytes(max_row_bytes(rows))));
  }
  run.calibration = then.calibration;
  run.environment_notes.push_back(
      fmt::format("not calibrated: the calibration is that of {}, of {}", file, then.started));
}

}  // namespace collbench::program
