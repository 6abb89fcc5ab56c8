#include "collectives/engine/measurement_loop.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <variant>

#include "collectives/engine/backend_probes.hpp"
#include "collectives/engine/block_plan.hpp"
#include "collectives/engine/row_state.hpp"
#include "launch/agreement.hpp"

namespace collbench::collectives {
namespace {

constexpr double kValidationShare = 0.1;    // of the wall time, after the first pass
constexpr double kCommunicatorShare = 0.1;  // of the wall time
constexpr double kCheckpointSeconds = 5;
constexpr double kCheckpointShare = 0.05;     // of the wall time
constexpr double kTargetPasses = 12;          // a row's time is spread over about as many blocks
constexpr double kWantedBlockSeconds = 0.1;   // more passes tell more than longer blocks
constexpr double kOtherTimes = 4;             // as long as ever before
constexpr std::uint64_t kEnqueuedCalls = 32;  // few enough not to wait for room in a stream's queue

/// One sweep in progress. A class because every step needs the same eight things.
class MeasurementLoop {
 public:
  MeasurementLoop(launch::Ranks& ranks, Backend& backend, const std::vector<RowKey>& keys,
                  const std::vector<std::string>& hosts, const MeasurementLoopOptions& options,
                  const MeasurementObserver& observer)
      : ranks_(ranks),
        backend_(backend),
        hosts_(hosts),
        options_(options),
        observer_(observer),
        rows_(planned_rows(ranks, backend, keys)),
        start_(backend.clock().seconds()),
        last_checkpoint_(start_) {
    take_earlier();
    std::array<double, 1> clock_read{backend.clock_read_seconds()};
    ranks.reduce(clock_read, launch::RankAggregate::maximum);
    sample_seconds_ = std::max(kMinSampleSeconds, kClockReadsPerSample * clock_read[0]);
    const auto rows = static_cast<double>(std::max<std::size_t>(1, rows_.size()));
    block_seconds_ = std::clamp(options.seconds * 0.8 / rows / kTargetPasses, 1e-4, kWantedBlockSeconds);
  }

  MeasurementResult run() {
    bool more = std::ranges::any_of(rows_, [](const RowState& row) { return !row.done; });
    for (pass_ = 0; launch::broadcast_value(ranks_, more); ++pass_) {
      ran_ = false;
      or_checkpoint(pass_, [this] {
        begin_pass();
        for (RowState& row : rows_) visit(row);
      });
      if (interrupted_ || !ran_) break;  // no row fits into the time that is left
      look_for_states();
      if (checkpoint_is_due()) checkpoint(pass_ + 1);
      or_checkpoint(pass_ + 1, observer_.between_passes);
      more = elapsed() < options_.seconds &&
             std::ranges::any_of(rows_, [](const RowState& row) { return !row.done; });
    }
    std::array<double, 1> validation{validation_seconds_};
    ranks_.reduce(validation, launch::RankAggregate::maximum);
    if (std::holds_alternative<Endless>(options_.stopping.passes)) look_once_more();
    for (RowState& row : rows_)
      stop_unfinished(row, interrupted_ ? StopReason::interrupted : StopReason::out_of_time);
    return {.rows = measurements(),
            .passes = pass_,
            .interrupted = interrupted_,
            .validation_seconds = validation[0]};
  }

 private:
  [[nodiscard]] double elapsed() const { return backend_.clock().seconds() - start_; }

  /// Does `step`. When it fails, what was measured until then, in so many whole passes, is kept first.
  void or_checkpoint(int passes, const std::function<void()>& step) {
    try {
      step();
    } catch (const Error&) {
      checkpoint(passes);
      throw;
    }
  }

  void begin_pass() {
    std::array<double, 2> most = largest_buffers(rows_);
    // A root needs more than the others.
    if (backend_.capabilities().equal_buffers) ranks_.reduce(most, launch::RankAggregate::maximum);
    const BufferBytes bytes{static_cast<std::uint64_t>(most[0]), static_cast<std::uint64_t>(most[1])};
    // In this order: NCCL keeps what it registered of a captured graph's buffers until its communicator ends,
    // and would find it again for other memory at the same address.
    const bool fresh =
        launch::broadcast_value(ranks_, communicator_seconds_ < kCommunicatorShare * elapsed());
    if (fresh) backend_.renew_communicators();
    if (pass_ > 0 && !fresh && backend_.capabilities().communicators_hold_buffers) {
      backend_.keep_buffers();
      return;
    }
    launch::agreed(ranks_, hosts_[static_cast<std::size_t>(ranks_.rank())],
                   [&] { backend_.allocate(bytes); });
  }

  void visit(RowState& row) {
    if (interrupted_ || !row.measurement.unavailable.empty()) return;
    observer_.before_block(progress(row));
    VisitOrder order = launch::broadcast_value(ranks_, order_for(row));
    interrupted_ = order.step == VisitStep::stop;
    if (order.step == VisitStep::leave_out) leave_out_at(row, order);
    if (order.step != VisitStep::run) return;
    ran_ = true;
    observer_.running(index_of(row));
    const double before = backend_.clock().seconds();
    const auto prepared = backend_.prepare(row.measurement.key, row.layout);
    communicator_seconds_ += backend_.clock().seconds() - before;
    if (order.pilot) {
      first_call(row, *prepared);
      order = launch::broadcast_value(ranks_, order_after_first_call(row, order));
    }
    if (order.step == VisitStep::leave_out) {
      leave_out_at(row, order);
      observer_.running(std::nullopt);
      return;
    }
    if (order.pilot) {
      row.iteration_seconds = pilot(ranks_, *prepared, block_seconds_, options_.fixed);
      order.plan = launch::broadcast_value(ranks_, plan_for(row, block_seconds_));
    }
    MeasuredBlock block = order.plan.check ? validate(row, *prepared) : MeasuredBlock{};
    prepared->fill_to_repeat();
    BlockPlan plan =
        warm_up(ranks_, backend_.clock(), *prepared, order.plan,
                {.block_seconds = block_seconds_, .sample_seconds = sample_seconds_, .left_seconds = left()},
                options_.fixed);
    if (options_.fixed.warmup) note_cut_warm_up(row, plan.warmup, order.plan.warmup);
    if (pass_ == 0) block.nccl = prepared->library_choice();
    ranks_.barrier();
    const Block own = prepared->time(plan.iterations, plan.iterations_per_sample, block_bound());
    block.probe = order.probe ? probes_.probe() : probes_.last();
    if (options_.enqueue_time) block.enqueue_seconds = enqueue_seconds(*prepared);
    plan.iterations = own.iterations;  // fewer than planned where the calls became much slower
    record(row, own, plan, std::move(block));
    observer_.running(std::nullopt);
    row.visit_seconds = backend_.clock().seconds() - before;
    if (ranks_.is_root() && &row != &rows_.back() && is_due_within_pass()) checkpoint(pass_);
  }

  /// What rank 0 orders for a visit: one message to all, and one more where a pilot has to run first.
  [[nodiscard]] VisitOrder order_for(RowState& row) {
    const bool run = !row.done && (pass_ == 0 || elapsed() + row.visit_seconds < options_.seconds);
    const bool is_end = std::ranges::all_of(rows_, &RowState::done);
    const bool stop = ranks_.is_root() && !is_end && (a_rank_is_interrupted_ || observer_.interrupted());
    VisitOrder order{.step = stop  ? VisitStep::stop
                             : run ? VisitStep::run
                                   : VisitStep::skip,
                     .probe = probes_.is_due(elapsed())};
    if (!ranks_.is_root() || order.step != VisitStep::run) return order;
    // Late already in the first pass: every row still runs, once, unless it takes long.
    const FirstVisit visit = pass_ == 0 && is_bounded() ? expected_visit(rows_, row) : FirstVisit{};
    if (is_left_out(visit.shortest(), left(), options_.seconds)) return left_out(order, visit.shortest());
    const bool hurried = left() < 0 || visit.usual() > left();
    const bool is_known = row.iteration_seconds > 0 || (options_.simulated && options_.fixed.iterations);
    order.pilot = !is_known && !hurried;
    if (!order.pilot) order.plan = plan_for(row, hurried ? 0 : block_seconds_);
    return order;
  }

  /// Of a row of which nothing was known. On rank 0.
  [[nodiscard]] VisitOrder order_after_first_call(RowState& row, VisitOrder order) {
    if (!is_bounded()) return order;
    const double call = row.iteration_seconds;
    const FirstVisit visit{.call_seconds = call, .check_seconds = options_.checks * call};
    if (is_left_out(visit.shortest(), left(), options_.seconds)) return left_out(order, visit.shortest());
    order.pilot = visit.usual() <= left();
    if (!order.pilot) order.plan = plan_for(row, 0);
    return order;
  }

  [[nodiscard]] VisitOrder left_out(VisitOrder order, double needed_seconds) const {
    order.step = VisitStep::leave_out;
    order.needed_seconds = needed_seconds;
    order.left_seconds = left();
    return order;
  }

  void leave_out_at(RowState& row, const VisitOrder& order) {
    leave_out(row, order);
    if (ranks_.is_root()) observer_.left_out(index_of(row), row.measurement.unavailable);
  }

  /// Neither does everything take the same, nor did the user fix how often.
  [[nodiscard]] bool is_bounded() const { return !options_.simulated && !options_.fixed.iterations; }

  [[nodiscard]] double left() const { return options_.seconds - elapsed(); }

  /// On rank 0.
  [[nodiscard]] BlockPlan plan_for(RowState& row, double block_seconds) const {
    BlockPlan plan = plan_block(row.iteration_seconds, block_seconds, sample_seconds_, options_.fixed);
    // A first estimate may have been disturbed; of fixed iterations the first one stands, so that no pass's
    // samples are dropped.
    if (row.iterations_per_sample == 0 || !options_.fixed.iterations)
      row.iterations_per_sample = std::max(row.iterations_per_sample, plan.iterations_per_sample);
    plan.iterations_per_sample = std::min(plan.iterations, row.iterations_per_sample);
    plan.check = options_.checks > 0 && (pass_ == 0 || validation_seconds_ < kValidationShare * elapsed());
    return plan;
  }

  /// Sets up connections; how long it took is the first estimate.
  void first_call(RowState& row, PreparedRow& prepared) {
    prepared.fill_to_repeat();
    prepared.run(0);  // on a GPU the data are still being made
    const double begin = backend_.clock().seconds();
    prepared.run(1);
    row.iteration_seconds = slowest_since(ranks_, backend_.clock(), begin);
  }

  /// Of the block that begins now; none where the user fixed its iterations.
  [[nodiscard]] GoesOn block_bound() {
    if (options_.fixed.iterations) return {};
    return [this, begin = backend_.clock().seconds()] {
      return slowest_since(ranks_, backend_.clock(), begin) < kMaxBlockSeconds;
    };
  }

  /// A block that holds what the checks of this visit found, and nothing else yet.
  [[nodiscard]] MeasuredBlock validate(RowState& row, PreparedRow& prepared) {
    const double before = backend_.clock().seconds();
    CheckResult mine;
    for (int i = 0; i < (pass_ == 0 ? options_.checks : 1); ++i) {
      const auto iteration = static_cast<std::uint64_t>(++checks_done_);
      prepared.fill(iteration);
      ranks_.barrier();
      prepared.run(1);
      mine.add(prepared.check(iteration));
    }
    MeasuredBlock block = mine.gathered(ranks_, hosts_);
    const double seconds = backend_.clock().seconds() - before;
    if (pass_ == 0) row.check_seconds = seconds;
    validation_seconds_ += seconds;
    return block;
  }

  /// Completes the block on all ranks and keeps it.
  void record(RowState& row, const Block& own, const BlockPlan& plan, MeasuredBlock block) {
    std::vector<double> figures = own.samples;
    figures.push_back(own.elapsed_seconds / static_cast<double>(plan.iterations));
    ranks_.reduce(figures, options_.across_ranks);
    block.row = index_of(row);
    block.pass = pass_;
    block.seconds = figures.back();
    figures.pop_back();
    block.samples.assign(figures.begin(), figures.end());
    block.iterations = plan.iterations;
    block.iterations_per_sample = plan.iterations_per_sample;
    block.warmup_iterations = plan.warmup;
    gather_rank_times(block, own, plan.iterations);
    keep(row, block, static_cast<int>(options_.earlier.size()));
    if (ranks_.is_root()) observer_.block(block);
    if (options_.gather_samples) gather_samples_of(row, own, plan);
  }

  void keep(RowState& row, const MeasuredBlock& block, int launch) {
    row.samples.add(block, launch);
    // The shortest is what the row takes undisturbed, unless something else came to stay: ranks on one core.
    const bool is_other = row.iteration_seconds == 0 || block.seconds > kOtherTimes * row.iteration_seconds;
    row.iteration_seconds = is_other ? block.seconds : std::min(row.iteration_seconds, block.seconds);
    decide(row);
  }

  void decide(RowState& row) {
    const RowPasses passes = row.samples.passes();
    row.measurement.stopped = stop_reason(options_.stopping, counted_.of(passes), passes.seconds.size());
    row.done = row.measurement.stopped.has_value();
  }

  /// A row whose passes turn out not to be of the commonest state is measured on while there is time.
  void look_for_states() {
    std::vector<RowPasses> all;
    for (const RowState& row : rows_) all.push_back(row.samples.passes());
    counted_.update(all);
    for (RowState& row : rows_)
      if (row.measurement.unavailable.empty()) decide(row);
  }

  /// Rows that went on whatever their precision may have it.
  void look_once_more() {
    const StoppingRule rule{options_.stopping.precision,
                            Precision{.max_passes = std::numeric_limits<int>::max()}};
    for (RowState& row : rows_) {
      const RowPasses passes = row.samples.passes();
      if (row.measurement.unavailable.empty())
        row.measurement.stopped = stop_reason(rule, counted_.of(passes), passes.seconds.size());
    }
  }

  /// Between blocks, so that no sample waits for it.
  void gather_samples_of(const RowState& row, const Block& own, const BlockPlan& plan) {
    BlockSamples block{.row = index_of(row),
                       .pass = pass_ + 1,
                       .iterations = plan.iterations,
                       .iterations_per_sample = plan.iterations_per_sample,
                       .seconds_by_rank = {}};
    block.seconds_by_rank = launch::gather_spans(ranks_, own.samples);
    if (ranks_.is_root()) observer_.samples(block);
  }

  [[nodiscard]] std::optional<double> enqueue_seconds(PreparedRow& prepared) {
    const auto own = prepared.enqueue_seconds(kEnqueuedCalls);
    if (!own) return std::nullopt;
    std::array<double, 1> seconds{*own};
    ranks_.reduce(seconds, options_.across_ranks);
    return seconds[0];
  }

  void take_earlier() {
    for (std::size_t launch = 0; launch < options_.earlier.size(); ++launch) {
      for (const MeasuredBlock& block : options_.earlier[launch])
        keep(rows_[block.row], block, static_cast<int>(launch));
    }
    if (!options_.earlier.empty()) look_for_states();
  }

  /// Of this block's calls, by rank, on rank 0. Whether a rank is to end travels with them.
  void gather_rank_times(MeasuredBlock& block, const Block& own, std::uint64_t iterations) {
    const RankReport mine = rank_report(ranks_.rank(), own, iterations, observer_.interrupted());
    for (const RankReport& each : launch::gather_values(ranks_, mine)) {
      block.ranks.push_back(each.times);
      a_rank_is_interrupted_ = a_rank_is_interrupted_ || each.interrupted;
    }
  }

  [[nodiscard]] std::size_t index_of(const RowState& row) const {
    return static_cast<std::size_t>(&row - rows_.data());
  }

  [[nodiscard]] MeasurementProgress progress(const RowState& row) const {
    return {.pass = pass_ + 1,
            .rows_done = static_cast<std::size_t>(std::ranges::count_if(rows_, &RowState::done)),
            .rows = rows_.size(),
            .row = index_of(row),
            .max_seconds_left = std::max(0.0, left())};
  }

  [[nodiscard]] std::vector<Measurement> measurements() const {
    std::vector<Measurement> all;
    for (const RowState& row : rows_) {
      Measurement measurement = row.measurement;
      row.samples.summarize(measurement);
      all.push_back(std::move(measurement));
    }
    return all;
  }

  [[nodiscard]] double since_checkpoint() const { return backend_.clock().seconds() - last_checkpoint_; }

  /// At the end of every pass, unless that has become dear: with very many passes behind it, a record takes
  /// longer to write than a pass to measure.
  [[nodiscard]] bool checkpoint_is_due() const {
    return since_checkpoint() >= std::min(kCheckpointSeconds, checkpoint_seconds_ / kCheckpointShare);
  }

  /// Whoever is killed in the first pass keeps the rows that it had; later ones only add to what is kept.
  [[nodiscard]] bool is_due_within_pass() const {
    return pass_ == 0 && !options_.simulated ? checkpoint_is_due() : since_checkpoint() > kCheckpointSeconds;
  }

  void checkpoint(int passes) {
    const double before = backend_.clock().seconds();
    if (ranks_.is_root()) observer_.checkpoint(measurements(), passes);
    last_checkpoint_ = backend_.clock().seconds();
    checkpoint_seconds_ = last_checkpoint_ - before;
  }

  launch::Ranks& ranks_;
  Backend& backend_;
  BackendProbes probes_{backend_};
  const std::vector<std::string>& hosts_;
  const MeasurementLoopOptions& options_;
  const MeasurementObserver& observer_;
  std::vector<RowState> rows_;
  CountedPasses counted_;
  double sample_seconds_ = 0;  ///< that a sample takes at least
  double block_seconds_ = 0;
  double start_;
  double last_checkpoint_;
  double checkpoint_seconds_ = 0;  // that the last one took
  double validation_seconds_ = 0;
  double communicator_seconds_ = 0;
  int checks_done_ = 0;
  int pass_ = 0;
  bool ran_ = false;  ///< some row, in this pass
  bool interrupted_ = false;
  bool a_rank_is_interrupted_ = false;  ///< known on rank 0
};

}  // namespace

MeasurementResult run_measurement_loop(launch::Ranks& ranks, Backend& backend,
                                       const std::vector<RowKey>& keys, const std::vector<std::string>& hosts,
                                       const MeasurementLoopOptions& options,
                                       const MeasurementObserver& observer) {
  return MeasurementLoop(ranks, backend, keys, hosts, options, observer).run();
}

}  // namespace collbench::collectives
