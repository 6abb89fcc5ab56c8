#include "src/run_command.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <set>

#include "analysis/calibration_fit.hpp"
#include "analysis/host_expectation.hpp"
#include "analysis/report.hpp"
#include "analysis/report_text.hpp"
#include "analysis/text_layout.hpp"
#include "base/units.hpp"
#include "collectives/mpi/calibration.hpp"
#include "collectives/mpi/mpi_backend.hpp"
#include "launch/agreement.hpp"
#include "launch/interruption.hpp"
#include "launch/real_machine.hpp"
#include "src/gather_cluster.hpp"
#include "src/print_all.hpp"
#include "src/progress.hpp"
#include "src/record_files.hpp"
#include "src/run_place.hpp"
#include "src/text_options.hpp"
#include "src/version.hpp"
#include "topology/gather_live.hpp"

namespace collbench {
namespace {

constexpr std::uint64_t kDefaultLargestBytes = 64 * kMiB;
constexpr double kCalibrationSeconds = 5;
constexpr double kCalibrationShare = 0.25;  // of --time

std::string utc_now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

std::string_view reduction_name(AcrossRanks how) {
  switch (how) {
    case AcrossRanks::rank0:
      return "rank 0";
    case AcrossRanks::average:
      return "avg";
    case AcrossRanks::minimum:
      return "min";
    case AcrossRanks::maximum:
      break;
  }
  return "max";
}

/// Buffers of the largest row, and what the library takes for itself: Open MPI's AllReduce up to another S,
/// the butterfly of its ReduceScatter two.
std::uint64_t memory_needed(const std::vector<RowKey>& rows, const Backend& backend) {
  std::uint64_t send = 0;
  std::uint64_t receive = 0;
  for (const RowKey& row : rows) {
    const BufferBytes bytes = backend.buffer_bytes(row);
    send = std::max(send, bytes.send);
    receive = std::max(receive, bytes.receive);
  }
  return send + receive + 2 * std::max(send, receive);
}

void require_memory(std::uint64_t needed, std::uint64_t available) {
  if (available == 0 || needed <= available) return;
  throw usage_error(
      "-e",
      fmt::format("the largest row needs about {} on every rank, and its host has {} for each",
                  format_bytes(needed), format_bytes(available)),
      fmt::format("give an -e of at most {}, or start fewer ranks there", format_bytes(available / 4)));
}

/// Throws when an algorithm that was asked for exists for none of the operations.
void require_known_algorithms(const PlanRequest& request, const Backend& backend) {
  std::set<std::string> known{std::string(kLibraryChoice)};
  for (const OperationId id : request.operations) {
    for (const std::string& name : backend.algorithms(id)) known.insert(name);
  }
  for (const std::string& asked : request.algorithms) {
    if (known.contains(asked)) continue;
    if (known.size() == 1) {
      RowKey any;
      any.operation = request.operations.front();
      any.algorithm = asked;
      throw Error(ExitStatus::not_here, "--algo " + asked,
                  backend.why_not(any).value_or("no algorithm can be chosen here"), "measure --algo auto");
    }
    throw usage_error("--algo",
                      fmt::format("'{}' is none of this library's algorithms for these operations", asked),
                      fmt::format("choose among {}", fmt::join(known, ", ")));
  }
}

std::vector<std::pair<DataType, Reduction>> reductions_in(const std::vector<RowKey>& rows) {
  std::set<std::pair<DataType, Reduction>> found;
  for (const RowKey& row : rows) {
    if (row.reduction) found.emplace(row.type, *row.reduction);
  }
  return {found.begin(), found.end()};
}

std::uint64_t largest_row_bytes(const std::vector<RowKey>& rows) {
  std::uint64_t largest = 0;
  for (const RowKey& row : rows) largest = std::max(largest, row.size_bytes);
  return largest;
}

Run empty_run(const RunOptions& options, const RunPlace& place, const Backend& backend) {
  Run run;
  run.versions = versions();
  run.started = utc_now();
  run.command_line = options.command_line;
  run.environment = options.environment;
  run.backend = backend.name();
  run.time_reduction = reduction_name(options.sweep.across_ranks);
  run.simulated = time_is_simulated();
  run.ranks = place.identities;
  run.cores_per_node = place.cores_per_node;
  run.place_notes = place.notes;
  return run;
}

std::string plan_text(const std::vector<RowKey>& rows, const RunOptions& options, const Backend& backend,
                      std::size_t ranks, std::uint64_t memory) {
  std::string text =
      fmt::format("# {} on {}, about {} of memory on each rank, at most about {} of measuring\n",
                  counted(rows.size(), "row"), counted(ranks, "rank"), format_bytes(memory),
                  format_seconds(options.seconds));
  text += options.sweep.fixed.iterations ? "# (with -n the first pass takes as long as it takes)\n" : "";
  for (const RowKey& row : rows) {
    text +=
        fmt::format("{:<14} {:>12} B {:>12} {:<9} {:<5} {:<4} {}{}\n", operation(row.operation).name,
                    row.size_bytes, row.count, traits(row.type).name,
                    row.reduction ? name(*row.reduction) : "–", row.in_place ? "in" : "out", row.algorithm,
                    backend.why_not(row) ? "  not available: " + *backend.why_not(row) : "");
  }
  return text;
}

/// What every row should take; worked out once, since only the calibration and the row's key go into it.
std::vector<Expectation> expectations(const std::vector<RowKey>& rows, const Backend& backend,
                                      const Run& run) {
  std::vector<Expectation> all;
  for (const RowKey& row : rows) {
    const bool known = run.calibration.has_value() && !backend.why_not(row);
    all.push_back(known ? expect_on_host_memory(row, backend.algorithm_ran(row), *run.calibration, run.ranks)
                        : Expectation{});
  }
  return all;
}

/// Measures the machine and fits it. A machine too noisy to be fitted is still measured: the note says what
/// is missing.
void calibrate(Run& run, const MpiSession& session, const MpiBackend& backend,
               const std::vector<RowKey>& rows, double seconds) {
  const CalibrationRequest request{.reductions = reductions_in(rows),
                                   // Simulated links have one rate: larger messages tell nothing new.
                                   .largest_bytes = run.simulated ? 0 : largest_row_bytes(rows),
                                   .seconds = std::min(kCalibrationSeconds, seconds * kCalibrationShare),
                                   .simulated = run.simulated};
  std::vector<CalibrationPoint> points =
      measure_calibration(session.ranks(), session.clock(), run.ranks, request);
  const EagerLimits eager = backend.eager_limits();
  try {
    run.calibration = fit_calibration(points, run.ranks, eager.within_host_bytes, eager.across_hosts_bytes);
  } catch (const Error& error) {
    run.calibration = Calibration{};
    run.calibration->points = std::move(points);
    run.place_notes.push_back(
        fmt::format("the calibration cannot be fitted ({}): nothing is expected of any row; run "
                    "again on a quieter machine",
                    error.what()));
  }
}

std::string progress_text(const SweepProgress& at, const std::vector<RowKey>& rows) {
  const RowKey& row = rows[at.row];
  const std::string left = at.seconds_left_at_most > 0
                               ? format_seconds(at.seconds_left_at_most) + " left at most"
                               : "time is up: finishing the first pass";
  return fmt::format("pass {}: {} {}, {} of {} rows done, {}", at.pass, operation(row.operation).name,
                     format_bytes(row.size_bytes), at.rows_done, at.rows, left);
}

Error interruption(const RunOptions& options) {
  const bool kept = !options.record_path.empty();
  return {ExitStatus::rank_lost, "interrupted", "the rows hold what they had until then",
          kept ? fmt::format("collbench report {} shows them again", options.record_path)
               : "next time, -J FILE keeps what was measured"};
}

ExitStatus outcome(const std::vector<Measurement>& rows) {
  const auto any_wrong = std::any_of(
      rows.begin(), rows.end(), [](const Measurement& row) { return row.wrong_elements.value_or(0) > 0; });
  if (any_wrong) return ExitStatus::wrong_data;
  const auto none_ran =
      std::all_of(rows.begin(), rows.end(), [](const Measurement& row) { return !row.unavailable.empty(); });
  return none_ran ? ExitStatus::not_here : ExitStatus::ok;
}

}  // namespace

ExitStatus run_command(const RunOptions& options, const MpiSession& session) {
  Ranks& ranks = session.ranks();
  const Clock& clock = session.clock();
  const double start = clock.seconds();
  if (options.backend == "nccl") {
    throw Error(ExitStatus::not_here, "--backend nccl", "this build has no NCCL backend",
                "use --backend mpi to measure host memory");
  }
  const RunPlace place = find_place(options, session);
  MpiBackend backend(clock);
  agreed(ranks, place.host, [&] { require_known_algorithms(options.request, backend); });

  PlanRequest request = options.request;
  std::uint64_t largest = kDefaultLargestBytes;
  if (place.memory_per_rank_bytes != 0) largest = std::min(largest, place.memory_per_rank_bytes / 4);
  request.sizes_bytes = sizes_bytes(options.sizes, largest);
  const std::vector<RowKey> rows = plan_rows(request, ranks.size());
  const std::uint64_t memory = memory_needed(rows, backend);
  require_memory(memory, place.memory_per_rank_bytes);
  if (options.dry_run) {
    agreed(ranks, place.host, [&] {
      if (ranks.is_root()) static_cast<void>(RecordFiles(options));
      if (ranks.is_root()) print_all(plan_text(rows, options, backend, place.identities.size(), memory));
    });
    return ExitStatus::ok;
  }

  std::optional<RecordFiles> files;
  agreed(ranks, place.host, [&] {
    if (ranks.is_root()) files.emplace(options);
  });
  Run run = empty_run(options, place, backend);
  notice_interruption();
  const TextOptions text = ranks.is_root() ? text_options(options.colour, options.launched) : TextOptions{};
  // In simulated time there is no machine to look at.
  if (!run.simulated) {
    const ClusterTopology cluster = gather_cluster(ranks, place.machines, [] { return gather_live(); });
    if (ranks.is_root()) run.cluster = cluster_record(cluster);
  }
  ProgressLine progress(ranks.is_root() &&
                        decide(options.progress, view_terminal(2, options.launched).is_terminal));
  if (ranks.size() > 1) {
    progress.show("calibrating", clock.seconds());
    const double before = clock.seconds();
    calibrate(run, session, backend, rows, options.seconds);
    run.calibration_seconds = clock.seconds() - before;
  }

  progress.clear();
  // What was found out so far need not wait for the rows.
  const bool as_text = options.format == "text" && !options.lab01.asked;
  agreed(ranks, place.host, [&] {
    if (ranks.is_root() && as_text) print_all(report_text_header(run, text));
  });
  const std::vector<Expectation> expected =
      ranks.is_root() ? expectations(rows, backend, run) : std::vector<Expectation>{};
  const auto save = [&](const std::vector<Measurement>& measurements, int passes) {
    run.rows.clear();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      run.rows.push_back({.measurement = measurements[i], .expectation = expected[i]});
    }
    run.passes = passes;
    run.wall_seconds = clock.seconds() - start;
    run.finished = utc_now();
    files->write(run);
  };
  SweepOptions sweep_options = options.sweep;
  sweep_options.seconds = broadcast_value(ranks, std::max(0.0, options.seconds - (clock.seconds() - start)));
  const SweepObserver observer{
      .before_block =
          [&](const SweepProgress& at) { progress.show(progress_text(at, rows), clock.seconds()); },
      .interrupted = interrupted,
      .checkpoint = save};
  const SweepResult result = sweep(ranks, backend, rows, place.hosts(), sweep_options, observer);

  std::optional<Error> failure;
  if (ranks.is_root()) {
    run.validation_seconds = result.validation_seconds;
    run.complete = !result.interrupted;
    save(result.rows, result.passes);
    progress.clear();
    failure = files->failure();
    try {
      print_all(as_text               ? report_text_results(run, text)
                : options.lab01.asked ? lab01(run, options.lab01)
                                      : report(run, options.format));
    } catch (const Error& error) {
      if (!failure) failure = error;
    }
  }
  agree(ranks, place.host, failure);
  if (result.interrupted) {
    if (ranks.is_root()) fmt::print(stderr, "{}\n", describe(interruption(options)));
    return ExitStatus::rank_lost;
  }
  return broadcast_value(ranks, outcome(result.rows));
}

}  // namespace collbench
