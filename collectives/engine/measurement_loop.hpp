#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/record/measured_block.hpp"
#include "base/record/measurement.hpp"
#include "base/record/states.hpp"
#include "base/state_boundaries.hpp"
#include "collectives/engine/backend.hpp"
#include "collectives/engine/block_plan.hpp"
#include "launch/ranks.hpp"

namespace collbench::collectives {

/// As soon as the precision is reached.
struct Precision {
  int min_passes = 8;  ///< with fewer the order statistics are the extremes, and the width is luck
  int max_passes = 64;
};
/// Whatever the precision.
struct FixedPasses {
  int passes = 1;
};
/// Not before somebody interrupts the run, or its time is over.
struct Endless {};

/// When a row is done, beside the time of the run.
struct StoppingRule {
  double precision = 0.05;  ///< wanted half-width of the 95 % interval, as a fraction of the median
  std::variant<Precision, FixedPasses, Endless> passes{};
};

/// Half the width of the interval over `pass_seconds`, as a fraction of their median; infinite for fewer than
/// 6 passes.
[[nodiscard]] double relative_half_width(const std::vector<double>& pass_seconds);

/// Why a row needs no further pass; none while it does. `pass_seconds` are the passes that its time is taken
/// from, which are to be tight; `all_passes` is how many it had in any state of the machine.
[[nodiscard]] std::optional<Stop> stop_reason(const StoppingRule& rule,
                                              const std::vector<double>& pass_seconds,
                                              std::size_t all_passes);

/// In which states the machine was while the passes so far ran, and which of a row's passes its time is taken
/// from: those in the commonest state of all rows in which it has any; all where there was one state.
class CountedPasses {
 public:
  void update(const std::vector<RowPasses>& rows);

  /// The times of the row's passes that count, by what the last update saw.
  [[nodiscard]] std::vector<double> of(const RowPasses& row) const;

 private:
  std::vector<double> boundaries_;
  std::vector<std::size_t> states_{0};  // the commonest first
};

struct MeasurementLoopOptions {
  StoppingRule stopping;
  FixedCounts fixed;
  /// The whole measurement. The first pass is finished, without rows that take long and do not fit.
  double seconds = 120;
  int checks = 1;  ///< iterations checked per row in the first pass; 0 switches checking off
  launch::RankAggregate across_ranks = launch::RankAggregate::maximum;
  bool enqueue_time = false;  ///< also take the host time of a call
  /// On rank 0: what earlier launches measured of the same rows. It counts as measured here.
  std::vector<LaunchBlocks> earlier;
  bool simulated = false;       ///< nothing varies: no pilot has to find out what an iteration takes
  bool gather_samples = false;  ///< after each block, for MeasurementObserver::samples; the same on all ranks
};

struct BlockSamples {
  std::size_t row = 0;
  int pass = 0;  ///< counted from 1
  std::uint64_t iterations = 0;
  std::uint64_t iterations_per_sample = 1;           ///< the last one may have fewer
  std::vector<std::vector<double>> seconds_by_rank;  ///< per iteration
};

struct MeasurementProgress {
  int pass = 0;  ///< counted from 1
  std::size_t rows_done = 0;
  std::size_t rows = 0;
  std::size_t row = 0;  ///< index of the row that comes next
  double max_seconds_left = 0;
};

/// What the loop reports while it runs, outside of every timed part.
struct MeasurementObserver {
  /// On every rank; only rank 0 knows which rows are done.
  std::function<void(const MeasurementProgress&)> before_block = [](const MeasurementProgress&) {};
  /// On every rank: the row whose block begins, by index, and none when it is over.
  std::function<void(std::optional<std::size_t>)> running = [](std::optional<std::size_t>) {};
  /// On rank 0: a row that is not run, by index, and why, before the others go on.
  std::function<void(std::size_t, const std::string&)> left_out = [](std::size_t, const std::string&) {};
  /// True ends the loop on all ranks with what there is. Asked on rank 0 before every block, and on every
  /// rank after it: a batch system may tell some ranks only.
  std::function<bool()> interrupted = [] { return false; };
  /// On rank 0: a block that has just ended.
  std::function<void(const MeasuredBlock&)> block = [](const MeasuredBlock&) {};
  /// On rank 0, after every block: what gather_samples asks for.
  std::function<void(const BlockSamples&)> samples = [](const BlockSamples&) {};
  /// On rank 0: the rows as they stand, at the end of every pass, in the first one after every row, and at
  /// least every five seconds; `passes` are finished. Where it takes long itself, after fewer passes: a
  /// twentieth of the time, but at least every five seconds.
  std::function<void(const std::vector<Measurement>&, int passes)> checkpoint = [](const auto&, int) {};
  /// On every rank, after every pass. Collective.
  std::function<void()> between_passes = [] {};
};

struct MeasurementResult {
  std::vector<Measurement> rows;  ///< complete on rank 0; on other ranks without the figures over ranks
  int passes = 0;
  bool interrupted = false;
  double validation_seconds = 0;  ///< of the rank that spent most
};

/// Measures every row in interleaved passes: each pass has fresh communicators, while making them costs under
/// a tenth of the time, and fresh buffers, unless older communicators hold them. It visits every row that is
/// not done with one block. Collective. `hosts` is the host of every rank, for naming who found wrong data.
/// Throws the same Error on all ranks.
[[nodiscard]] MeasurementResult run_measurement_loop(launch::Ranks& ranks, Backend& backend,
                                                     const std::vector<RowKey>& keys,
                                                     const std::vector<std::string>& hosts,
                                                     const MeasurementLoopOptions& options,
                                                     const MeasurementObserver& observer);

}  // namespace collbench::collectives
