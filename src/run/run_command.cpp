#include "src/run/start.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/report/diff_report.hpp"
#include "analysis/report/report.hpp"
#include "analysis/report/sections.hpp"
#include "analysis/states/machine_states.hpp"
#include "analysis/stragglers/step_verdict.hpp"
#include "analysis/verdict/verdict.hpp"
#include "base/files.hpp"
#include "base/record/run_stream.hpp"
#include "base/units.hpp"
#include "launch/agreement.hpp"
#include "launch/collective_wait.hpp"
#include "launch/flight/flight_recorder.hpp"
#include "launch/interruption.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/run/calibration.hpp"
#include "src/run/cluster.hpp"
#include "src/run/context.hpp"
#include "src/run/evidence.hpp"
#include "src/run/expectation.hpp"
#include "src/run/gpus_alone.hpp"
#include "src/run/host_findings.hpp"
#include "src/run/make_backend.hpp"
#include "src/run/node_groups.hpp"
#include "src/run/outcome.hpp"
#include "src/run/output_files.hpp"
#include "src/run/plan.hpp"
#include "src/run/run_end.hpp"
#include "src/run/straggler_probe.hpp"
#include "src/run/telemetry.hpp"

namespace collbench::program {
namespace {

constexpr double kCalibrationSeconds = 5;
constexpr double kCalibrationShare = 0.25;  // of --time
constexpr std::string_view kGoesOn = " (the measurement goes on)";
constexpr double kLibraryPatience = 0.8;  // of -T: who waits for a GPU tells more than the watchdog can

/// What nodes and pairs of them measure before the rows; none where that says nothing or is not wanted.
std::vector<GroupStep> wanted_group_steps(const RunOptions& options, const RunContext& context,
                                          const RunBackend& measured, const RunPlan& plan) {
  if (!options.nodes_alone || !measured.measure_among || measured.gpus.are_shared) return {};
  return group_steps(plan.rows, context.identities, options.request,
                     run_seconds(options, collectives::MemoryKind::device));
}

/// How long GPUs are loaded before the rows and after them; simulated ones know no load.
std::optional<double> wanted_stress(const RunOptions& options, const collectives::Backend& backend) {
  Run run;
  backend.describe(run);
  return run.gpus_simulated ? std::nullopt : stress_seconds(options, backend.capabilities().memory);
}

/// Throws, before minutes are spent, where `--accept` would have nothing to judge at the end.
void require_something_to_accept(const RunOptions& options, const RunContext& context,
                                 const RunBackend& measured) {
  if (!options.criteria.criteria.accept) return;
  const auto refuse = [](const char* why) {
    throw usage_error("--accept", fmt::format("there would be nothing to judge: {}", why),
                      "start one rank for each GPU (-g N on one host; collbench launch writes the line for "
                      "several)");
  };
  if (context.memory == collectives::MemoryKind::host)
    refuse("host memory is measured, and a verdict is by the links of GPUs");
  if (context.identities.size() == 1) refuse("one rank communicates with nobody");
  if (measured.gpus.are_shared) refuse("ranks that share a GPU take turns");
  if (options.hot)
    throw usage_error("--accept", "what is expected is of data from memory, and --hot keeps them in the L2",
                      "leave --hot out");
}

/// What a run measures with, and where, once its rows are planned.
struct RunSetup {
  const RunOptions& options;
  const launch::Session& session;
  const RunContext& context;
  const RunBackend& measured;
  const launch::CollectiveWait& waiter;
  const RunPlan& plan;
  const TrafficMatrix& traffic;
  double start;  ///< by the session's clock
  launch::FlightRecorder& flight;
  RunWatch& watch;
  IncidentLog& incidents;
};

/// The row that the machine's word is from; without verdicts the largest that was measured, if any.
std::optional<std::size_t> row_to_sustain(const Run& run) {
  if (const Row* worst = analysis::worst_row(run)) return worst - run.rows.data();
  const auto bytes = [](const Row& row) {
    return row.measurement.unavailable.empty() ? row.measurement.key.size_bytes : 0;
  };
  const auto largest = std::ranges::max_element(run.rows, {}, bytes);
  return bytes(*largest) > 0 ? std::optional(largest - run.rows.begin()) : std::nullopt;
}

/// One run from the first look at the machine to the last word. All methods are collective, in this order.
class RunDriver {
 public:
  explicit RunDriver(const RunSetup& at)
      : at_(at),
        text_(ranks().is_root() ? text_options(at.options.color, at.options.launched)
                                : analysis::TextOptions{}),
        progress_(ranks().is_root() && !at.options.quiet &&
                  is_shown(at.options.progress, launch::view_terminal(2, at.options.launched).is_terminal)) {
    if (!at.plan.left_out.empty()) {
      if (ranks().is_root()) print_message("collbench: " + at.plan.left_out);
      run_.environment_notes.push_back(at.plan.left_out);
    }
    text_.brief = !at.options.verbose;
    text_.quiet = at.options.quiet;
    text_.percentiles = at.options.percentiles;  // criteria are for JUnit, which is no text
    for (const RowKey& row : at.plan.rows) run_.rows.emplace_back().measurement.key = row;
    launch::agree_on_root(ranks(), at.context.host, [&](launch::OnRoot root) {
      files_.emplace(root, at.options, run_);
      run_.launches = static_cast<int>(files_->stream.earlier().size()) + 1;
    });
    const auto is_v = [](const RowKey& row) { return row.operation == OperationId::all_to_all_v; };
    if (std::ranges::any_of(at.plan.rows, is_v)) run_.traffic = at.traffic;
  }

  /// What the machine is and how fast its parts are; shown at once, since it need not wait for the rows.
  void prepare() {
    examine_machine();
    const collectives::BackendCapabilities capabilities = backend().capabilities();
    const bool only_rows = at_.options.calibration_path == kNoCalibration;
    if (!only_rows && !at_.options.calibration_path.empty()) {
      read_calibration(capabilities.calibrates);
    } else if (!only_rows && ranks().size() > 1 && capabilities.calibrates && needs_calibration(at_.plan)) {
      progress_.show("calibrating", clock().seconds());
      const double before = clock().seconds();
      calibrate(run_, at_.session, backend(), at_.plan.rows,
                std::min(kCalibrationSeconds, end_.seconds() * kCalibrationShare), at_.flight);
      run_.calibration_seconds = clock().seconds() - before;
      spdlog::debug("calibrated in {}", format_seconds(run_.calibration_seconds));
    }
    if (ranks().size() > 1 && !run_.simulated) {
      if (const std::string obstacle =
              straggler_probe_obstacle(at_.session.has_mpi(), gpus().are_shared,
                                       ranks_take_turns(at_.context.machines, at_.context.cores_per_node));
          !obstacle.empty()) {
        run_.environment_notes.push_back(fmt::format("{}{}", analysis::kNotProbed, obstacle));
      } else if (!only_rows) {
        probe_.emplace(ranks(), clock(), at_.context.machines, end_.seconds() - elapsed(),
                       capabilities.has_links_to_probe, at_.flight.exchanges());
      }
    }
    progress_.clear();
    launch::agree_on_root(ranks(), at_.context.host, [&](launch::OnRoot) {
      if (as_text()) print_header();
      if (capabilities.calibrates)
        expectations_ = RowExpectations::from_calibration(run_, at_.plan.rows, backend(), at_.traffic);
      if (expectations_.need_no_measurement()) expectations_.apply(run_);
    });
    launch::agree_on_root(ranks(), at_.context.host, [&](launch::OnRoot) { write_record(); });
    const std::string& root_host = at_.context.machines.front().host;
    const bool is_kept =
        launch::broadcast_value(ranks(), ranks().is_root() && files_->could_write(kept_file(at_.options)));
    at_.incidents.begin(launch::broadcast_text(ranks(), run_.started),
                        root_host == at_.context.host ? "" : root_host, is_kept);
    if (stress_seconds_) probe_each_gpu();
    for (const GroupStep& step : wanted_group_steps(at_.options, at_.context, at_.measured, at_.plan))
      measure_groups(step);
    launch::agree_on_root(ranks(), at_.context.host, [&](launch::OnRoot) {
      files_->stream.begin(run_);
      write_record();  // what ends the first pass early refers to it
    });
  }

  /// On rank 0. A stdout that takes nothing ends a run whose results would be nowhere else, and no other.
  void print_header() {
    root_errors_.attempt([this](launch::OnRoot) { print_text(analysis::report_text_header(run_, text_)); });
    if (root_errors_.first() && !files_->keep_results()) throw Error(*root_errors_.first());
    report_failures(kGoesOn);
  }

  /// Throws the same Error on all ranks when a library fails; the record then has what was measured.
  [[nodiscard]] collectives::MeasurementResult measure() {
    at_.flight.step("start of the measurement");
    collectives::MeasurementLoopOptions loop_options = at_.options.loop;
    loop_options.gather_samples = !at_.options.samples_path.empty();
    if (run_.simulated) measure_once(loop_options);
    if (!stress_seconds_) telemetry_.begin(ranks());
    loop_options.seconds = launch::broadcast_value(ranks(), std::max(0.0, end_.seconds() - elapsed()));
    if (ranks().is_root()) loop_options.earlier = files_->stream.earlier();
    const collectives::MeasurementObserver observer{
        .before_block = [this](const collectives::MeasurementProgress& at) { begin_block(at); },
        .running = [this](std::optional<std::size_t> row) { telemetry_.running(row); },
        .left_out =
            [this](std::size_t row, const std::string& why) {
              progress_.clear();
              print_message(left_out_line(at_.plan.rows[row], why));
            },
        .interrupted = [this] { return end_.has_come(); },
        .block = [this](const MeasuredBlock& block) { files_->stream.append(block); },
        .samples =
            [this](const collectives::BlockSamples& block) {
              if (files_->samples) files_->samples->append(sample_lines(at_.plan.rows, block));
            },
        .checkpoint =
            [this](const auto& rows, int passes) {
              root_errors_.attempt([&](launch::OnRoot root) { save(root, rows, passes); });
              report_failures(kGoesOn);
            },
        .between_passes =
            [this] {
              at_.flight.step("between passes");
              if (probe_) probe_->between_passes();
            }};
    try {
      collectives::MeasurementResult result = collectives::run_measurement_loop(
          ranks(), backend(), at_.plan.rows, at_.context.hosts(), loop_options, observer);
      if (stress_seconds_ && !result.interrupted) result.interrupted = sustain_worst(result);
      return result;
    } catch (const launch::AgreedError& error) {
      telemetry_.end(ranks(), run_);
      end_on(error);
    }
  }

  /// The last record and the tables.
  [[nodiscard]] ExitStatus finish(const collectives::MeasurementResult& result) {
    at_.flight.step(kEndOfRun);
    if (probe_ && !result.interrupted) run_.rank_probe = probe_->finish();
    telemetry_.end(ranks(), run_);
    if (at_.measured.memory_use) run_.gpu_memory = at_.measured.memory_use();
    run_.pauses = gather_pauses(ranks(), at_.watch.pauses());
    note_changes(at_.session, at_.context, at_.options.rank_use, before_, run_);
    const bool is_complete = !result.interrupted || at_.options.ends_by_interrupt();
    if (ranks().is_root()) show(result);
    if (is_complete && ranks().is_root() && !root_errors_.first()) at_.incidents.complete();
    root_errors_.agree(ranks(), at_.context.host);
    if (is_complete) at_.incidents.complete();
    ExitStatus status = outcome(result.rows);
    if (ranks().is_root() && status == ExitStatus::ok)
      status =
          worse(criteria_status(run_, at_.options.criteria), has_fault_ ? ExitStatus::low : ExitStatus::ok);
    if (status == ExitStatus::not_here && ranks().is_root())
      print_message(describe(nothing_ran(result.rows)));
    if (is_complete) return launch::broadcast_value(ranks(), status);
    const std::string cause = end_.cause(ranks());
    if (ranks().is_root()) {
      const Error error = interruption(at_.options, cause);
      at_.incidents.write(
          incident_of(IncidentKind::interrupted, error.where(), error.status(), {}, at_.flight.activity()));
      print_message(describe(error));
    }
    return ExitStatus::rank_lost;
  }

 private:
  [[nodiscard]] launch::Ranks& ranks() const { return at_.session.ranks(); }
  [[nodiscard]] collectives::Backend& backend() const { return *at_.measured.backend; }
  [[nodiscard]] const RunGpus& gpus() const { return at_.measured.gpus; }
  [[nodiscard]] const Clock& clock() const { return at_.session.clock(); }
  [[nodiscard]] double elapsed() const { return clock().seconds() - at_.start; }
  [[nodiscard]] bool as_text() const { return prints_text(at_.options.documents); }

  /// What a library's failure leaves behind: the record as it is, with what happened.
  [[noreturn]] void end_on(const launch::AgreedError& error) {
    progress_.clear();
    if (ranks().is_root()) {
      has_ended_ = true;
      write_record();
      at_.incidents.write(agreed_incident(error, at_.flight.activity()));
    }
    if (record_file(at_.options.documents).empty() && at_.options.stream_path.empty()) throw error;
    throw launch::AgreedError(error.status(), error.where(), error.what(),
                              fmt::format("{}; {}", error.next_step(), kept_results(at_.options, true)));
  }

  void read_calibration(bool calibrates) {
    launch::agree_on_root(ranks(), at_.context.host, [&](launch::OnRoot) {
      if (!calibrates) {
        throw usage_error("--calibration", "what GPUs should do is not calibrated but known from their links",
                          "leave --calibration out");
      }
      const std::string& path = at_.options.calibration_path;
      std::vector<RowKey> rows;
      std::ranges::copy_if(at_.plan.rows, std::back_inserter(rows), [this](const RowKey& row) {
        return !backend().unsupported_type_reason(row.type);
      });
      take_saved_calibration(run_, run_from_text(read_file(path), path), rows, path);
    });
  }

  void probe_each_gpu() {
    stress_seconds_ = end_.quarter_at_most(ranks(), *stress_seconds_);
    telemetry_.begin(ranks());
    at_.flight.step_without_limit("the probe of each GPU alone");
    progress_.show(fmt::format("each GPU alone, about {}", format_seconds(*stress_seconds_)),
                   clock().seconds());
    const double before = clock().seconds();
    run_.gpu_probes = probe_gpus(at_.waiter, at_.context.machines, gpus().by_rank, *stress_seconds_);
    end_.extend(ranks(), clock().seconds() - before, *stress_seconds_);
    progress_.clear();
  }

  /// The worst of the rows again and again: heat, throttling and errors show late. Whether a signal ended it.
  bool sustain_worst(const collectives::MeasurementResult& rows) {
    std::optional<std::size_t> worst;
    if (ranks().is_root())
      root_errors_.attempt([&](launch::OnRoot root) {
        save(root, rows.rows, rows.passes);
        worst = row_to_sustain(run_);
      });
    const std::size_t index = launch::broadcast_value(ranks(), worst.value_or(at_.plan.rows.size()));
    if (index == at_.plan.rows.size()) return false;
    const RowKey& row = at_.plan.rows[index];
    const std::string step =
        fmt::format("{} {}, sustained", operation(row.operation).name, format_bytes(row.size_bytes));
    progress_.clear();
    collectives::MeasurementLoopOptions options = at_.options.loop;
    options.seconds = *stress_seconds_;
    options.stopping.passes = collectives::Endless{};
    const collectives::MeasurementObserver observer{
        .before_block =
            [&](const collectives::MeasurementProgress& at) {
              blocks_are_limited() ? at_.flight.step(step) : at_.flight.step_without_limit(step);
              progress_.show(fmt::format("{}: at most {} left", step, format_seconds(at.max_seconds_left)),
                             clock().seconds());
            },
        .running =
            [&](std::optional<std::size_t> each) {
              telemetry_.running(each ? std::optional(at_.plan.rows.size()) : std::nullopt);
            },
        .interrupted = launch::interrupted};
    collectives::MeasurementResult result =
        collectives::run_measurement_loop(ranks(), backend(), {row}, at_.context.hosts(), options, observer);
    if (!result.rows.front().pass_seconds.empty())
      run_.sustained.emplace().measurement = std::move(result.rows.front());
    return result.interrupted;
  }

  void measure_groups(const GroupStep& groups) {
    const std::string step = fmt::format("{} {} {}", operation(groups.row.operation).name,
                                         format_bytes(groups.row.size_bytes), groups.where);
    progress_.show(step, clock().seconds());
    collectives::MeasurementLoopOptions options = at_.options.loop;
    options.seconds = groups.seconds;
    const collectives::MeasurementObserver observer{
        .before_block =
            [&](const collectives::MeasurementProgress&) {
              blocks_are_limited() ? at_.flight.step(step) : at_.flight.step_without_limit(step);
            },
        .interrupted = [this] { return end_.has_come(); }};
    const GroupRanks& ranks = group_ranks_.emplace_back(at_.waiter, at_.context, at_.session, groups);
    if (ranks.waits()) at_.flight.step_without_limit(step);
    try {
      std::vector<NodeGroup> measured = ranks.measure(at_.measured, groups.row, options, observer);
      run_.node_groups.insert(run_.node_groups.end(), std::make_move_iterator(measured.begin()),
                              std::make_move_iterator(measured.end()));
    } catch (const launch::AgreedError& error) {
      end_on(error);
    }
    progress_.clear();
  }

  void examine_machine() {
    if (run_.simulated) return;  // in simulated time there is no machine to look at
    at_.flight.step("gathering the topology");
    progress_.show("gathering the topology", clock().seconds());
    const auto [cluster, findings] = examine_cluster(ranks(), at_.context.machines, !gpus().by_rank.empty());
    also_seen_ = note_findings(findings, run_.environment_notes);
    const std::vector<PlacedRank> placement =
        gather_placement(ranks(), at_.context.machines, cluster,
                         gpus().by_rank.empty() ? std::getenv("CUDA_VISIBLE_DEVICES") : own_gpu());
    launch::agree_on_root(ranks(), at_.context.host, [&](launch::OnRoot root) {
      run_.cluster = topology::cluster_record(cluster);
      if (!gpus().by_rank.empty() && !gpus().are_shared) {
        if (const auto by = judged_by(cluster, run_.ranks, at_.options.expect, run_.environment_notes))
          judge_by(*by, cluster);
      }
      run_.cluster->placement = placement.empty() ? placement_by_cuda(gpus().by_rank) : placement;
      const std::string far = gpus().by_rank.empty() ? ""
                                                     : far_ranks_note(cluster, at_.context.machines,
                                                                      placement, at_.context.allowed_cores);
      if (!far.empty()) run_.environment_notes.push_back(far);
      compare_nodes(root, cluster);
    });
    at_.flight.device(
        own_device(ranks(), run_.cluster ? run_.cluster->placement : std::vector<PlacedRank>{}));
  }

  /// A slow row's explanation gets what is wrong on the nodes, too.
  void judge_by(const JudgedBy& by, const topology::ClusterTopology& cluster) {
    run_.yardstick = by.sound.yardstick;
    const std::string found = analysis::findings_on_the_path(
        analysis::cluster_groups(cluster), node_count(run_.ranks),
        {by.sound.machine.first_host(), {by.sound.yardstick.machine}}, by.sound.machine.reference != nullptr);
    if (!found.empty()) also_seen_ += (also_seen_.empty() ? "" : " ") + found;
    expectations_ = RowExpectations::from_links(by.cluster);
  }

  /// The nodes with each other, and with what --expect names.
  void compare_nodes(launch::OnRoot root, const topology::ClusterTopology& cluster) {
    const ClusterCheck check = check_cluster(root, cluster, at_.options.expect);
    has_fault_ = check.has_fault;
    std::ranges::copy(check.lines, std::back_inserter(run_.cluster->summary));
  }

  /// What CUDA calls this rank's GPU. A CUDA_VISIBLE_DEVICES of it alone shows just this one.
  [[nodiscard]] const char* own_gpu() const {
    return gpus().by_rank[static_cast<std::size_t>(ranks().rank())].uuid.c_str();
  }

  /// On host memory every call is progress, however many were asked for.
  [[nodiscard]] bool blocks_are_limited() const {
    return at_.options.blocks_have_timeout ||
           backend().capabilities().memory == collectives::MemoryKind::host;
  }

  void begin_block(const collectives::MeasurementProgress& at) {
    const RowKey& row = at_.plan.rows[at.row];
    at_.flight.pass(at.pass);
    const auto name = fmt::format("{} {}", operation(row.operation).name, format_bytes(row.size_bytes));
    blocks_are_limited() ? at_.flight.step(name) : at_.flight.step_without_limit(name);
    progress_.show(progress_text(at, at_.plan.rows), clock().seconds());
  }

  void save(launch::OnRoot /*root*/, const std::vector<Measurement>& rows, int passes) {
    for (std::size_t i = 0; i < rows.size(); ++i) run_.rows[i].measurement = rows[i];
    analysis::tell_states(run_);
    telemetry_.mark_rows(run_);
    backend().describe(run_);  // NCCL's version decides what is expected
    expectations_.apply(run_);
    analysis::explain_bad(run_, also_seen_);
    run_.passes = passes;
    run_.wall_seconds = elapsed();
    run_.finished = utc_now();
    write_record();
    files_->sync();
    spdlog::debug("saved the results of passes up to {}, after {}", passes, format_seconds(elapsed()));
  }

  /// On rank 0. Another rank of this host may tell meanwhile what happened: then it stands in the record,
  /// too.
  void write_record() {
    const auto lock = at_.incidents.lock_files();
    do {
      run_.incident = run_.complete ? std::nullopt : at_.incidents.known();
      files_->records.write(run_, has_ended_ ? WithOthers::yes : WithOthers::no);
    } while (!run_.complete && run_.incident != at_.incidents.known());
  }

  /// On rank 0: says of each file that fails, and of stdout, once and at once: the end may be hours away.
  void report_failures(std::string_view what_now) {
    std::vector<Error> failures = files_->failures();
    if (root_errors_.first()) failures.insert(failures.begin(), *root_errors_.first());
    progress_.clear();
    for (const Error& each : failures)
      if (reported_failures_.insert(each.where()).second) print_message(describe(each).append(what_now));
  }

  /// On rank 0: the last record and the tables. What could not be written or printed is kept for all ranks.
  void show(const collectives::MeasurementResult& result) {
    run_.validation_seconds = result.validation_seconds;
    run_.complete = !result.interrupted || at_.options.ends_by_interrupt();
    has_ended_ = true;
    if (run_.complete) files_->stream.end();
    root_errors_.attempt([&](launch::OnRoot root) { save(root, result.rows, result.passes); });
    progress_.clear();
    for (const Error& failure : files_->failures()) root_errors_.keep(failure);
    if (root_errors_.first()) reported_failures_.insert(root_errors_.first()->where());  // main says it
    report_failures("");
    write_last_documents();
    for (const OutputDocument& each : at_.options.documents)
      if (each.format == kEvidence && files_->could_write(each.path))
        print_message("collbench: " + evidence_note(each));
    if (prints(at_.options.documents, "nccl-tests"))
      print_message("collbench: " + analysis::verdict_summary(run_));
  }

  /// On rank 0: those that are no record files, each for itself: what one lacks must not cost another. What
  /// no file took is shown, where nothing else is.
  void write_last_documents() {
    bool is_lost = false;
    bool is_shown = false;
    for (const OutputDocument& each : at_.options.documents) {
      if (RecordFiles::rewrites(each)) continue;
      launch::RootErrors failure;
      failure.attempt([&](launch::OnRoot) {
        const std::string printed = write_documents(
            {each}, [this](const OutputDocument& to) { return last_document(run_, to, at_.options, text_); });
        if (each.path.empty()) as_text() ? print_text(printed) : print_all(printed);
      });
      if (!failure.first()) {
        is_shown = is_shown || each.path.empty();
        continue;
      }
      is_lost = true;
      const bool is_first = !root_errors_.first();  // which main says
      root_errors_.keep(failure.first());
      if (reported_failures_.insert(failure.first()->where()).second && !is_first)
        print_message(describe(*failure.first()));
    }
    if (is_lost && !is_shown)
      root_errors_.attempt([this](launch::OnRoot) { print_text(analysis::report_text(run_, text_)); });
  }

  RunSetup at_;
  MachineLook before_ = look_at_machine(at_.session, at_.context);
  Run run_ = empty_run(at_.options, at_.context, backend());
  analysis::TextOptions text_;
  ProgressLine progress_;
  std::deque<GroupRanks> group_ranks_;   // as long as the backend's communicators may know them
  std::optional<StragglerProbe> probe_;  // where ranks can be probed one by one
  std::optional<RunFiles> files_;        // on rank 0, as is all that follows but telemetry_
  RowExpectations expectations_;
  launch::RootErrors root_errors_;
  std::set<std::string> reported_failures_;  ///< where they were
  bool has_ended_ = false;                   ///< what is written now is the last of it
  bool has_fault_ = false;                   ///< a node is not what --expect names
  std::string also_seen_;                    ///< by the doctor, for rows that are BELOW
  std::optional<double> stress_seconds_ = wanted_stress(at_.options, backend());
  RunTelemetry telemetry_{at_.context, gpus(), at_.options.telemetry};
  RunEnd end_{ranks(), clock(), at_.start, run_seconds(at_.options, at_.context.memory),
              run_.environment_notes};
};

}  // namespace

ExitStatus run_command(const RunOptions& options, const launch::Session& session,
                       launch::FlightRecorder& flight, RunWatch& watch, IncidentLog& incidents,
                       collectives::NcclProcess& process) {
  flight.step("gathering the ranks");
  launch::Ranks& ranks = session.ranks();
  const double start = session.clock().seconds();
  RunContext context = make_run_context(options, session);
  watch.join_hosts(ranks, context.machines, context.notes);
  bool backend_starts = true;
  const auto wait_begins = [&](const std::string& what) {
    if (backend_starts && options.blocks_have_timeout) flight.step(what);  // later the rows are steps
  };
  const launch::CollectiveWait waiter(
      ranks, context.host, session.clock(),
      options.blocks_have_timeout ? options.timeout_seconds * kLibraryPatience : 0, flight.exchanges(),
      wait_begins, [&] { flight.begin_again(); });
  const TrafficMatrix traffic = find_traffic(options, context.host, ranks);
  constexpr const char* kStart = "start of the backend";
  // On GPUs it takes as long as drivers and NCCL do, until it waits for the first time.
  context.memory == collectives::MemoryKind::host ? flight.step(kStart) : flight.step_without_limit(kStart);
  const RunBackend measured =
      make_backend(options, session, waiter, context, traffic, flight.counters(), process);
  backend_starts = false;
  flight.step("planning the rows");
  launch::agreed(ranks, context.host, [&] { require_something_to_accept(options, context, measured); });
  const RunPlan plan = plan_run(options, context.host, measured, ranks, traffic);
  if (options.dry_run) {
    launch::agree_on_root(ranks, context.host, [&](launch::OnRoot root) {
      static_cast<void>(RecordFiles(root, options));
      print_text(plan_text(plan, wanted_group_steps(options, context, measured, plan),
                           wanted_stress(options, *measured.backend), options, *measured.backend,
                           context.identities.size()));
    });
    return ExitStatus::ok;
  }
  RunDriver driver({.options = options,
                    .session = session,
                    .context = context,
                    .measured = measured,
                    .waiter = waiter,
                    .plan = plan,
                    .traffic = traffic,
                    .start = start,
                    .flight = flight,
                    .watch = watch,
                    .incidents = incidents});
  driver.prepare();
  return driver.finish(driver.measure());
}

}  // namespace collbench::program
