#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "base/record/run.hpp"
#include "base/units.hpp"

namespace collbench::analysis {

/// From here on a row is judged by its links; below it, waiting takes a share that no topology tells.
inline constexpr std::uint64_t kLargeSize = 64 * kMiB;

/// The rows of one operation, type, reduction, place and algorithm, by size: what a verdict is about.
using SizeSeries = std::vector<const Row*>;

/// The measured rows of a run as sweeps, in the order of their first rows.
[[nodiscard]] std::vector<SizeSeries> series_of(const std::vector<Row>& rows);

/// The same without rows of wrong data, which have no verdict: their times are of something else than was
/// asked for.
[[nodiscard]] std::vector<SizeSeries> judged_series_of(const std::vector<Row>& rows);

/// Measured over expected busbw, as medians over the three largest sizes of at least 64 MiB.
struct SeriesRatios {
  double to_ring = 0;        ///< the floor: the ring, or the operation's only algorithm
  double to_best = 0;        ///< the best algorithm
  double to_lower_edge = 0;  ///< of the band
  double to_low = 0;         ///< below 1 the rows are LOW
  double to_upper_edge = 0;
  std::size_t rows = 0;  ///< that the medians are of, 1 to 3
};

/// How much longer than the band's slowest time a row may take before its run is LOW: 1 and more.
using LowMargin = std::function<double(const Row& row)>;

/// Of the row's class (bands.hpp): what is below the band of nine in ten healthy runs need not be slow.
[[nodiscard]] double low_margin(const Row& row, const GpuCluster& cluster);

/// None when no row of at least 64 MiB has a band.
[[nodiscard]] std::optional<SeriesRatios> series_ratios(const SizeSeries& series,
                                                        const LowMargin& margin = {});

/// FAULT: below half of the ring and below the band. Model or rank count wrong: above the band and more than
/// 5 % above the best algorithm. LOW: with intervals, the whole interval below the band by more than `margin`
/// (empty: at all) on two neighbouring sizes, or on one of at least 64 MiB; without (an imported log), the
/// median of the three largest sizes, and no verdict instead where that is a single row: those of healthy
/// logs dip. None below the band by less, and without a band.
[[nodiscard]] VerdictWord verdict_of(const SizeSeries& series, const LowMargin& margin = {});

/// Why a row may lie below its band: what the log tells of NVLinks, channels and network, else what is left.
/// `row` has an expectation.
[[nodiscard]] std::string loss_cause(const Row& row, const GpuCluster& cluster);

/// What the run itself shows that slows its rows: what held GPUs of `series` back, and other work on the
/// hosts.
[[nodiscard]] std::vector<std::string> slowdowns_seen(const Run& run, const SizeSeries& series);

/// Why a sweep is as it is, in one or two sentences of facts: what it reached of which link, what the log
/// tells of transport and channels, and what the topology cannot tell. Of a slow one `seen` comes before what
/// else may be. Empty without a band.
[[nodiscard]] std::string explain_series(const SizeSeries& series, VerdictWord verdict,
                                         const GpuCluster& cluster,
                                         const std::vector<std::string>& seen = {});

/// The most bus bandwidth of a sweep, GB/s; what it should come to where it ends below 64 MiB.
[[nodiscard]] double peak_busbw(const SizeSeries& series, const GpuCluster& cluster);

/// One sentence about a row of a sweep that reaches `peak_busbw`: latency-bound (below half of it,
/// and below half of the plateau by the model) or bandwidth-bound, by which link, and its ratio; or why there
/// is none.
[[nodiscard]] std::string explain_row(const Row& row, double peak_busbw, const GpuCluster& cluster);

/// NCCL's algorithm whose time is nearest to the measured one; empty where there is only one.
[[nodiscard]] std::string explaining_algorithm(const Row& row, const GpuCluster& cluster);

/// What may be lost although `row` took as long as it did and lies within its band, by the model itself; only
/// a baseline of the same machine shows it. What the row is too quick for is not named. For each kind of link
/// the largest of these: half of all (one at half its rate that the others wait for), some, one, half of one.
/// "losing up to half of the 8 NICs", "losing one of the 18 NVLinks (6 %)", "running ring instead of tree
/// (1.5 × the time; ...)". `row` has an expectation by `cluster`.
[[nodiscard]] std::vector<std::string> undetectable_losses(const Row& row, const GpuCluster& cluster);

/// `run` with an expectation, a verdict and an explanation in every row, by the cluster's links. Rows of one
/// sweep share their verdict; a row's explanation is about itself, the largest one's about the sweep. A row
/// of wrong data has no verdict. A log that names another GPU than the cluster's gets a note; of another
/// maker's GPUs no row has an expectation.
[[nodiscard]] Run judged_on_gpus(Run run, const GpuCluster& cluster);

/// Adds a sentence to the explanation of every sweep that is LOW or a FAULT; an empty one adds nothing.
void explain_low(Run& run, const std::string& sentence);

/// Whether any row is part of a sweep that is LOW or a FAULT.
[[nodiscard]] bool is_low(const Run& run);

/// Whether any row has a verdict.
[[nodiscard]] bool is_judged(const Run& run);

}  // namespace collbench::analysis
