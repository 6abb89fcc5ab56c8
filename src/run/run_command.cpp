#include "src/run/start.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/report/cluster_findings.hpp"
#include "analysis/report/report.hpp"
#include "analysis/states/machine_states.hpp"
#include "analysis/verdict/verdict.hpp"
#include "base/files.hpp"
#include "base/record/run_stream.hpp"
#include "base/units.hpp"
#include "launch/agreement.hpp"
#include "launch/collective_wait.hpp"
#include "launch/flight/flight_recorder.hpp"
#include "launch/rank_use.hpp"
#include "launch/real_machine.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/run/calibration.hpp"
#include "src/run/cluster.hpp"
#include "src/run/context.hpp"
#include "src/run/expectation.hpp"
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
}

/// One run from the first look at the machine to the last word. All methods are collective, in this order.
class RunDriver {
 public:
  RunDriver(const RunOptions& options, const launch::Session& session, const RunContext& context,
            const RunBackend& measured, const launch::CollectiveWait& waiter, const RunPlan& plan,
            const TrafficMatrix& traffic, double start, launch::FlightRecorder& flight, RunWatch& watch,
            IncidentLog& incidents)
      : options_(options),
        session_(session),
        context_(context),
        measured_(measured),
        backend_(*measured.backend),
        waiter_(waiter),
        gpus_(measured.gpus),
        plan_(plan),
        traffic_(traffic),
        start_(start),
        run_(empty_run(options, context, *measured.backend)),
        text_(ranks().is_root() ? text_options(options.color, options.launched) : analysis::TextOptions{}),
        progress_(ranks().is_root() && !options.quiet &&
                  is_shown(options.progress, launch::view_terminal(2, options.launched).is_terminal)),
        flight_(flight),
        watch_(watch),
        incidents_(incidents),
        telemetry_(context, measured.gpus, options.telemetry),
        end_(ranks(), clock(), start, run_seconds(options, context.memory), run_.environment_notes) {
    if (!plan.left_out.empty()) {
      if (ranks().is_root()) print_message("collbench: " + plan.left_out);
      run_.environment_notes.push_back(plan.left_out);
    }
    text_.brief = !options.verbose;
    text_.quiet = options.quiet;
    text_.percentiles = options.percentiles;  // criteria are for JUnit, which is no text
    run_.rows.resize(plan.rows.size());
    for (std::size_t i = 0; i < plan.rows.size(); ++i) run_.rows[i].measurement.key = plan.rows[i];
    launch::agree_on_root(ranks(), context.host, [&](launch::OnRoot root) {
      files_.emplace(root, options, run_);
      run_.launches = static_cast<int>(files_->stream.earlier().size()) + 1;
    });
    const auto is_v = [](const RowKey& row) { return row.operation == OperationId::all_to_all_v; };
    if (std::ranges::any_of(plan.rows, is_v)) run_.traffic = traffic;
  }

  /// What the machine is and how fast its parts are; shown at once, since it need not wait for the rows.
  void prepare() {
    examine_machine();
    const collectives::BackendCapabilities capabilities = backend_.capabilities();
    const bool only_rows = options_.calibration_path == kNoCalibration;
    if (!only_rows && !options_.calibration_path.empty()) {
      read_calibration(capabilities.calibrates);
    } else if (!only_rows && ranks().size() > 1 && capabilities.calibrates && needs_calibration(plan_)) {
      progress_.show("calibrating", clock().seconds());
      const double before = clock().seconds();
      calibrate(run_, session_, backend_, plan_.rows,
                std::min(kCalibrationSeconds, end_.seconds() * kCalibrationShare), flight_);
      run_.calibration_seconds = clock().seconds() - before;
      spdlog::debug("calibrated in {}", format_seconds(run_.calibration_seconds));
    }
    if (ranks().size() > 1 && !run_.simulated) {
      if (const std::string obstacle =
              straggler_probe_obstacle(session_.has_mpi(), gpus_.are_shared,
                                       ranks_take_turns(context_.machines, context_.cores_per_node));
          !obstacle.empty()) {
        run_.environment_notes.push_back(not_probed_note(obstacle));
      } else if (!only_rows) {
        probe_.emplace(ranks(), clock(), context_.machines, end_.seconds() - elapsed(),
                       capabilities.has_links_to_probe, flight_.exchanges());
      }
    }
    progress_.clear();
    launch::agree_on_root(ranks(), context_.host, [&](launch::OnRoot) {
      if (as_text()) print_header();
      if (capabilities.calibrates)
        expectations_ = RowExpectations::from_calibration(run_, plan_.rows, backend_, traffic_);
      if (expectations_.need_no_measurement()) expectations_.apply(run_);
    });
    launch::agree_on_root(ranks(), context_.host, [&](launch::OnRoot) { write_record(); });
    const std::string& root_host = context_.machines.front().host;
    const bool is_kept =
        launch::broadcast_value(ranks(), ranks().is_root() && files_->could_write(kept_file(options_)));
    incidents_.begin(launch::broadcast_text(ranks(), run_.started),
                     root_host == context_.host ? "" : root_host, is_kept);
    for (const GroupStep& step : wanted_group_steps(options_, context_, measured_, plan_))
      measure_groups(step);
    launch::agree_on_root(ranks(), context_.host, [&](launch::OnRoot) {
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
    flight_.step("start of the measurement");
    collectives::MeasurementLoopOptions loop_options = options_.loop;
    loop_options.gather_samples = !options_.samples_path.empty();
    if (run_.simulated) measure_once(loop_options);
    telemetry_.begin(ranks());
    loop_options.seconds = launch::broadcast_value(ranks(), std::max(0.0, end_.seconds() - elapsed()));
    if (ranks().is_root()) loop_options.earlier = files_->stream.earlier();
    const collectives::MeasurementObserver observer{
        .before_block = [this](const collectives::MeasurementProgress& at) { begin_block(at); },
        .running = [this](std::optional<std::size_t> row) { telemetry_.running(row); },
        .left_out =
            [this](std::size_t row, const std::string& why) {
              progress_.clear();
              print_message(left_out_line(plan_.rows[row], why));
            },
        .interrupted = [this] { return end_.has_come(); },
        .block = [this](const MeasuredBlock& block) { files_->stream.append(block); },
        .samples =
            [this](const collectives::BlockSamples& block) {
              if (files_->samples) files_->samples->write(plan_.rows, block);
            },
        .checkpoint =
            [this](const auto& rows, int passes) {
              root_errors_.attempt([&](launch::OnRoot root) { save(root, rows, passes); });
              report_failures(kGoesOn);
            },
        .between_passes =
            [this] {
              flight_.step("between passes");
              if (probe_) probe_->between_passes();
            }};
    try {
      return collectives::run_measurement_loop(ranks(), backend_, plan_.rows, context_.hosts(), loop_options,
                                               observer);
    } catch (const launch::AgreedError& error) {
      telemetry_.end(ranks(), run_);
      end_on(error);
    }
  }

  /// The last record and the tables.
  [[nodiscard]] ExitStatus finish(const collectives::MeasurementResult& result) {
    flight_.step(kEndOfRun);
    if (probe_ && !result.interrupted) run_.rank_probe = probe_->finish();
    telemetry_.end(ranks(), run_);
    run_.pauses = gather_pauses(ranks(), watch_.pauses());
    run_.load_notes = launch::external_cpu_load(ranks(), context_.machines, cpu_before_,
                                                launch::view_cpu_times(), clock().seconds() - cpu_since_);
    const std::vector<RankUse> uses = launch::gather_rank_use(ranks(), use_before_);
    run_.network_notes = launch::lost_packets(uses, context_.machines);
    CounterNotes rises = gather_counter_rises(ranks(), counters_before_, view_counters());
    std::move(rises.network.begin(), rises.network.end(), std::back_inserter(run_.network_notes));
    std::move(rises.machine.begin(), rises.machine.end(), std::back_inserter(run_.environment_notes));
    if (options_.rank_use && ranks().is_root()) print_message(rank_use_line(uses));
    const bool is_complete = !result.interrupted || options_.endless;
    if (ranks().is_root()) show(result);
    if (is_complete && ranks().is_root() && !root_errors_.first()) incidents_.complete();
    root_errors_.agree(ranks(), context_.host);
    if (is_complete) incidents_.complete();
    ExitStatus status = outcome(result.rows);
    if (ranks().is_root() && status == ExitStatus::ok)
      status = worse(criteria_status(run_, options_.criteria), has_fault_ ? ExitStatus::low : ExitStatus::ok);
    if (status == ExitStatus::not_here && ranks().is_root())
      print_message(describe(nothing_ran(result.rows)));
    if (is_complete) return launch::broadcast_value(ranks(), status);
    const std::string cause = end_.cause(ranks());
    if (ranks().is_root()) {
      const Error error = interruption(options_, cause);
      incidents_.write(
          incident_of(IncidentKind::interrupted, error.where(), error.status(), {}, flight_.activity()));
      print_message(describe(error));
    }
    return ExitStatus::rank_lost;
  }

 private:
  [[nodiscard]] launch::Ranks& ranks() const { return session_.ranks(); }
  [[nodiscard]] const Clock& clock() const { return session_.clock(); }
  [[nodiscard]] topology::ErrorCounters view_counters() const {
    return view_error_counters(context_.machines.at(static_cast<std::size_t>(ranks().rank())), clock());
  }
  [[nodiscard]] double elapsed() const { return clock().seconds() - start_; }
  [[nodiscard]] bool as_text() const { return prints_text(options_.documents); }

  /// What a library's failure leaves behind: the record as it is, with what happened.
  [[noreturn]] void end_on(const launch::AgreedError& error) {
    progress_.clear();
    if (ranks().is_root()) {
      write_record();
      incidents_.write(incident_of(IncidentKind::error, fmt::format("{}: {}", error.where(), error.what()),
                                   error.status(), {}, flight_.activity()));
    }
    if (record_file(options_.documents).empty() && options_.stream_path.empty()) throw error;
    throw launch::AgreedError(error.status(), error.where(), error.what(),
                              fmt::format("{}; {}", error.next_step(), kept_results(options_, true)));
  }

  void read_calibration(bool calibrates) {
    launch::agree_on_root(ranks(), context_.host, [&](launch::OnRoot) {
      if (!calibrates) {
        throw usage_error("--calibration", "what GPUs should do is not calibrated but known from their links",
                          "leave --calibration out");
      }
      const std::string& path = options_.calibration_path;
      std::vector<RowKey> rows;
      std::ranges::copy_if(plan_.rows, std::back_inserter(rows),
                           [this](const RowKey& row) { return !backend_.unsupported_type_reason(row.type); });
      take_saved_calibration(run_, run_from_text(read_file(path), path), rows, path);
    });
  }

  void measure_groups(const GroupStep& groups) {
    const std::string step = fmt::format("{} {} {}", operation(groups.row.operation).name,
                                         format_bytes(groups.row.size_bytes), groups.where);
    progress_.show(step, clock().seconds());
    collectives::MeasurementLoopOptions options = options_.loop;
    options.seconds = groups.seconds;
    const collectives::MeasurementObserver observer{
        .before_block =
            [&](const collectives::MeasurementProgress&) {
              blocks_are_limited() ? flight_.step(step) : flight_.step_without_limit(step);
            },
        .interrupted = [this] { return end_.has_come(); }};
    const GroupRanks& ranks = group_ranks_.emplace_back(waiter_, context_, session_, groups);
    if (ranks.waits()) flight_.step_without_limit(step);
    try {
      std::vector<NodeGroup> measured = ranks.measure(measured_, groups.row, options, observer);
      run_.node_groups.insert(run_.node_groups.end(), std::make_move_iterator(measured.begin()),
                              std::make_move_iterator(measured.end()));
    } catch (const launch::AgreedError& error) {
      end_on(error);
    }
    progress_.clear();
  }

  void examine_machine() {
    if (run_.simulated) return;  // in simulated time there is no machine to look at
    flight_.step("gathering the topology");
    progress_.show("gathering the topology", clock().seconds());
    const auto [cluster, findings] = examine_cluster(ranks(), context_.machines, !gpus_.by_rank.empty());
    also_seen_ = note_findings(findings, run_.environment_notes);
    const std::vector<PlacedRank> placement =
        gather_placement(ranks(), context_.machines, cluster,
                         gpus_.by_rank.empty() ? std::getenv("CUDA_VISIBLE_DEVICES") : own_gpu());
    launch::agree_on_root(ranks(), context_.host, [&](launch::OnRoot root) {
      run_.cluster = topology::cluster_record(cluster);
      if (!gpus_.by_rank.empty() && !gpus_.are_shared) {
        if (const auto by = judged_by(cluster, run_.ranks, options_.expect, run_.environment_notes))
          judge_by(*by, cluster);
      }
      run_.cluster->placement = placement.empty() ? placement_by_cuda(gpus_.by_rank) : placement;
      const std::string far = gpus_.by_rank.empty() ? ""
                                                    : far_ranks_note(cluster, context_.machines, placement,
                                                                     context_.allowed_cores);
      if (!far.empty()) run_.environment_notes.push_back(far);
      compare_nodes(root, cluster);
    });
    flight_.device(own_device(ranks(), run_.cluster ? run_.cluster->placement : std::vector<PlacedRank>{}));
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
    const ClusterCheck check = check_cluster(root, cluster, options_.expect);
    has_fault_ = check.has_fault;
    std::ranges::copy(check.lines, std::back_inserter(run_.cluster->summary));
  }

  /// What CUDA calls this rank's GPU. A CUDA_VISIBLE_DEVICES of it alone shows just this one.
  [[nodiscard]] const char* own_gpu() const {
    return gpus_.by_rank[static_cast<std::size_t>(ranks().rank())].uuid.c_str();
  }

  /// On host memory every call is progress, however many were asked for.
  bool blocks_are_limited() const {
    return options_.blocks_have_timeout || backend_.capabilities().memory == collectives::MemoryKind::host;
  }

  void begin_block(const collectives::MeasurementProgress& at) {
    const RowKey& row = plan_.rows[at.row];
    flight_.pass(at.pass);
    const auto name = fmt::format("{} {}", operation(row.operation).name, format_bytes(row.size_bytes));
    blocks_are_limited() ? flight_.step(name) : flight_.step_without_limit(name);
    progress_.show(progress_text(at, plan_.rows), clock().seconds());
  }

  void save(launch::OnRoot /*root*/, const std::vector<Measurement>& rows, int passes) {
    for (std::size_t i = 0; i < rows.size(); ++i) run_.rows[i].measurement = rows[i];
    analysis::tell_states(run_);
    telemetry_.mark_rows(run_);
    backend_.describe(run_);  // NCCL's version decides what is expected
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
    const auto lock = incidents_.lock_files();
    do {
      run_.incident = run_.complete ? std::nullopt : incidents_.known();
      files_->records.write(run_);
    } while (!run_.complete && run_.incident != incidents_.known());
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
    run_.complete = !result.interrupted || options_.endless;
    if (!run_.simulated)
      if (std::string note =
              clock_note(context_.host, std::difftime(std::time(nullptr), shown_since_),
                         clock().seconds() - cpu_since_, suspended_seconds() - suspended_before_);
          !note.empty()) {
        print_message("collbench: " + note);
        run_.environment_notes.push_back(std::move(note));
      }
    if (run_.complete) files_->stream.end();
    root_errors_.attempt([&](launch::OnRoot root) { save(root, result.rows, result.passes); });
    progress_.clear();
    for (const Error& failure : files_->failures()) root_errors_.keep(failure);
    if (root_errors_.first()) reported_failures_.insert(root_errors_.first()->where());  // main says it
    report_failures("");
    write_last_documents();
    if (prints(options_.documents, "nccl-tests"))
      print_message("collbench: " + analysis::verdict_summary(run_));
  }

  /// On rank 0: those that are no record files, each for itself: what one lacks must not cost another. What
  /// no file took is shown, where nothing else is.
  void write_last_documents() {
    bool is_lost = false;
    bool is_shown = false;
    for (const OutputDocument& each : options_.documents) {
      is_shown = is_shown || each.path.empty();
      if (RecordFiles::rewrites(each)) continue;
      launch::RootErrors failure;
      failure.attempt([&](launch::OnRoot) {
        const std::string printed = write_documents(
            {each}, [this](const OutputDocument& to) { return last_document(run_, to, options_, text_); });
        if (each.path.empty()) as_text() ? print_text(printed) : print_all(printed);
      });
      if (!failure.first()) continue;
      is_lost = true;
      const bool is_first = !root_errors_.first();  // which main says
      root_errors_.keep(failure.first());
      if (reported_failures_.insert(failure.first()->where()).second && !is_first)
        print_message(describe(*failure.first()));
    }
    if (is_lost && !is_shown)
      root_errors_.attempt([this](launch::OnRoot) { print_text(analysis::report_text(run_, text_)); });
  }

  const RunOptions& options_;
  const launch::Session& session_;
  const RunContext& context_;
  const RunBackend& measured_;
  collectives::Backend& backend_;
  const launch::CollectiveWait& waiter_;
  const RunGpus& gpus_;
  const RunPlan& plan_;
  const TrafficMatrix& traffic_;
  double start_;
  launch::CpuTimes cpu_before_ = launch::view_cpu_times();
  double cpu_since_ = clock().seconds();
  std::time_t shown_since_ = std::time(nullptr);  // of the time of day
  double suspended_before_ = suspended_seconds();
  RankUse use_before_ = launch::view_rank_use();
  topology::ErrorCounters counters_before_ = view_counters();
  Run run_;
  analysis::TextOptions text_;
  ProgressLine progress_;
  launch::FlightRecorder& flight_;
  RunWatch& watch_;
  IncidentLog& incidents_;
  std::deque<GroupRanks> group_ranks_;   // as long as the backend's communicators may know them
  std::optional<StragglerProbe> probe_;  // where ranks can be probed one by one
  std::optional<RunFiles> files_;        // on rank 0, as is all that follows but telemetry_
  RowExpectations expectations_;
  launch::RootErrors root_errors_;
  std::set<std::string> reported_failures_;  ///< where they were
  bool has_fault_ = false;                   ///< a node is not what --expect names
  std::string also_seen_;                    ///< by the doctor, for rows that are BELOW
  RunTelemetry telemetry_;
  RunEnd end_;
};

}  // namespace

ExitStatus run_command(const RunOptions& options, const launch::Session& session,
                       launch::FlightRecorder& flight, RunWatch& watch, IncidentLog& incidents) {
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
  const RunBackend measured = make_backend(options, session, waiter, context, traffic, flight.counters());
  backend_starts = false;
  flight.step("planning the rows");
  launch::agreed(ranks, context.host, [&] { require_something_to_accept(options, context, measured); });
  const RunPlan plan = plan_run(options, context.host, measured, ranks, traffic);
  if (options.dry_run) {
    launch::agree_on_root(ranks, context.host, [&](launch::OnRoot root) {
      static_cast<void>(RecordFiles(root, options));
      print_text(plan_text(plan, wanted_group_steps(options, context, measured, plan), options,
                           *measured.backend, context.identities.size()));
    });
    return ExitStatus::ok;
  }
  RunDriver driver(options, session, context, measured, waiter, plan, traffic, start, flight, watch,
                   incidents);
  driver.prepare();
  return driver.finish(driver.measure());
}

}  // namespace collbench::program
