#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/record/measured_block.hpp"
#include "base/record/measurement.hpp"
#include "base/statistics.hpp"
#include "collectives/data/data_pattern.hpp"
#include "collectives/engine/backend.hpp"
#include "collectives/engine/block_plan.hpp"
#include "collectives/engine/block_timer.hpp"
#include "launch/ranks.hpp"

namespace collbench::collectives {

/// What is known of the first visit of a row; 0: nothing.
struct FirstVisit {
  std::uint64_t size_bytes = 0;
  double call_seconds = 0;
  double check_seconds = 0;  ///< making data, calls of their own, looking at every element

  /// With as few calls as there can be, one to warm up and one that is timed.
  [[nodiscard]] double shortest() const { return check_seconds + 2 * call_seconds; }
  /// With those that tell how long a call takes, too, where a call fills a block.
  [[nodiscard]] double usual() const { return check_seconds + 5 * call_seconds; }
};

/// What a visit of `size_bytes` takes, by those of smaller sizes, in ascending order: on the line through the
/// last two of them; with one, what that took, since a larger size takes no less; with none nothing is known.
[[nodiscard]] FirstVisit expected_visit(std::span<const FirstVisit> smaller, std::uint64_t size_bytes);

/// Whether a row whose visit takes `needed` seconds is left out of a run of `run_seconds` with `left` of them
/// left. Not where it takes less than a twentieth of the run, or a second: a first pass is finished.
[[nodiscard]] bool is_left_out(double needed, double left, double run_seconds);

/// "1 GiB left out: it takes about 50 s, and 12 s of the run's time was left".
[[nodiscard]] std::string left_out_reason(std::uint64_t size_bytes, double needed, double left);

/// A row while the measurement loop runs.
struct RowState {
  Measurement measurement;
  RowLayout layout;  ///< of a row that can run
  RowSamples samples;
  double iteration_seconds = 0;             ///< estimate, for planning the next block
  double check_seconds = 0;                 ///< of the first pass
  std::uint64_t iterations_per_sample = 0;  ///< of the longest sample so far
  double visit_seconds = 0;                 ///< that the last block took with all that belongs to it
  bool warm_up_was_cut = false;             ///< in some pass
  bool done = false;  ///< known on rank 0, which plans the blocks; the same elsewhere for unavailable rows
};

enum class VisitStep { run, skip, leave_out, stop };

struct VisitOrder {
  VisitStep step = VisitStep::skip;
  bool pilot = false;         ///< before the plan can be made
  bool probe = false;         ///< the machine, behind the block
  double needed_seconds = 0;  ///< of what is left out
  double left_seconds = 0;    ///< of the run, then
  BlockPlan plan{};
};

/// The rows of these keys, of which none has run. What one rank cannot do nobody does, since libraries may be
/// set up differently from host to host. Collective.
[[nodiscard]] std::vector<RowState> planned_rows(launch::Ranks& ranks, const Backend& backend,
                                                 const std::vector<RowKey>& keys);

/// What the first visit of a row takes, as far as that is known, or told by the smaller rows of its kind.
[[nodiscard]] FirstVisit expected_visit(const std::vector<RowState>& rows, const RowState& row);

/// What the largest rows of those that can run send and receive, in bytes.
[[nodiscard]] std::array<double, 2> largest_buffers(const std::vector<RowState>& rows);

/// A row that could run and is not done stops for this reason.
void stop_unfinished(RowState& row, StopReason reason);

/// On every rank: the row is not run, and says why.
void leave_out(RowState& row, const VisitOrder& order);

/// On every rank: that of so many iterations of warm-up that the user asked for, `done` had time.
void note_cut_warm_up(RowState& row, std::uint64_t done, std::uint64_t asked);

/// What one rank found in the checks of a visit, as it travels.
class CheckResult {
 public:
  /// What one more check found.
  void add(const std::optional<Mismatch>& found);

  /// A block that holds what all ranks found, on all ranks, and nothing else yet. `hosts` is the host of
  /// every rank. Collective.
  [[nodiscard]] MeasuredBlock gathered(launch::Ranks& ranks, const std::vector<std::string>& hosts) const;

 private:
  /// A number as text: at most the 20 digits of a uint64, or 9 of a float with its sign, point and exponent.
  using Number = std::array<char, 32>;

  std::uint64_t wrong_elements_ = 0;
  std::uint64_t first_index_ = 0;  // of the first check that found any, as are the next two
  Number expected_{};
  Number got_{};
};

/// What a rank tells rank 0 after a block, as it travels.
struct RankReport {
  RankTimes times;
  bool interrupted = false;  ///< somebody asked this rank to end
};

/// Of a block of `iterations` iterations on `rank`.
[[nodiscard]] inline RankReport rank_report(int rank, const Block& own, std::uint64_t iterations,
                                            bool interrupted) {
  RankReport report{.times = {.rank = rank,
                              .median_seconds = median(own.samples),
                              .p99_seconds = quantile(own.samples, 0.99)},
                    .interrupted = interrupted};
  if (own.page_faults)
    report.times.page_faults = static_cast<double>(*own.page_faults) / static_cast<double>(iterations);
  if (own.core_wait_seconds && own.elapsed_seconds > 0)
    report.times.core_wait_share = std::min(1.0, *own.core_wait_seconds / own.elapsed_seconds);
  report.times.step = own.step;
  return report;
}

}  // namespace collbench::collectives
