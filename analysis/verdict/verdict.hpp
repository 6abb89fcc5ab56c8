#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/models/nccl/links.hpp"
#include "base/record/run.hpp"
#include "base/units.hpp"

namespace collbench::analysis {

/// From here on a row is judged by its links; below it, waiting takes a share that no topology tells. 64 MiB,
/// and what is asked for as that and rounded down to parts of 16 bytes of up to 4,096 ranks.
inline constexpr std::uint64_t kLargeSize = 64 * kMiB - 64 * kKiB;
/// What no L2 holds a part of that counts: 4 times the largest of today (B200: 126 MB).
inline constexpr std::uint64_t kBeyondL2 = 512 * kMiB;

/// Timed calls repeated on one address of the GPUs (--hot, and each record from before it): data that fit may
/// come from the L2. No log says that.
[[nodiscard]] inline bool is_hot(const Run& run) {
  return measures_gpus(run.backend) && !run.log && !run.gpus_simulated && run.buffers.walk_bytes == 0U;
}

/// The rows of one operation, type, reduction, place and algorithm, by size: what a verdict is about.
using SizeSeries = std::vector<const Row*>;

/// The measured rows of a run as sweeps, in the order of their first rows.
[[nodiscard]] std::vector<SizeSeries> series_of(const std::vector<Row>& rows);

/// The same without rows of wrong data, which have no verdict: their times are of something else than was
/// asked for.
[[nodiscard]] std::vector<SizeSeries> judged_series_of(const std::vector<Row>& rows);

/// The same for a verdict, which is about the slower of in and out of place: of each size that row.
[[nodiscard]] std::vector<SizeSeries> verdict_series_of(const std::vector<Row>& rows);

/// Whether a row is of the operation, type, reduction and algorithm of a series, in or out of place.
[[nodiscard]] bool in_series(const Row& row, const SizeSeries& series);

/// What a row of at least 64 MiB is held against.
using RangeOfRow = std::function<HealthyRange(const Row& row)>;

/// What made a word that is not SOUND.
enum class VerdictReason {
  none,
  no_large_row,  ///< UNCLEAR: nothing of 64 MiB or more
  between,       ///< UNCLEAR: slower than sound machines, and quicker than a bad one need be
  above,  ///< UNCLEAR: quicker than any sound machine: the machine or the rank count is not what was said
  other_algorithm,  ///< UNCLEAR: another algorithm's rate, and nobody told which ran
  no_nvls,          ///< BELOW: the rate of the ring or the tree where this NCCL takes NVLS
  slow,             ///< BELOW or FAULT
  collapsed,        ///< BELOW: one size far below its neighbors and the model
  uneven,           ///< UNCLEAR: one of its largest sizes is below every sound machine's, the others are not
  copy,  ///< UNCLEAR: an AllGather that is slow out of place and SOUND in place, over the same links
};

struct SeriesJudgement {
  VerdictWord word = VerdictWord::none;
  VerdictReason reason = VerdictReason::none;
  std::optional<double> ratio;        ///< measured over expected
  std::optional<HealthyRange> range;  ///< of the middle one of its largest rows
  std::string other_algorithm;        ///< whose rate it is
  const Row* decided_by = nullptr;    ///< where one row did
  std::vector<HiddenLoss> hidden;     ///< of a SOUND series (hidden_losses)
};

/// SOUND inside the range of sound machines; BELOW where the whole interval (without one, the median) lies
/// under it; FAULT: and below half of the ring; UNCLEAR else. A row of 1 MiB or more that takes three times
/// what the model and its neighbors allow makes BELOW of any of them. `choice_is_known`: by NCCL's version
/// the expected algorithm is what it takes here, so that another one's rate is no excuse. None without an
/// expectation.
/// `quicker`: the quicker of in and out of place at each size, for a hiccup shows in one of them only.
[[nodiscard]] SeriesJudgement judge_series(const SizeSeries& series, const SizeSeries& quicker,
                                           const RangeOfRow& range_of, bool choice_is_known);

/// Of each size of the series the quicker of in and out of place.
[[nodiscard]] SizeSeries quicker_rows(const std::vector<Row>& rows, const SizeSeries& series);

/// Why a row may lie below its band: what the log tells of NVLinks, channels and network, else what is left.
/// `row` has an expectation.
[[nodiscard]] std::string loss_cause(const Row& row, const GpuCluster& cluster);

/// Whether NCCL has more than one algorithm for this row: only then a setting that names one costs anything.
[[nodiscard]] bool has_algorithms(const Row& row);

/// The run's settings that take a path, links, channels or, where it `may_choose`, an algorithm away:
/// "NCCL_P2P_DISABLE=1".
[[nodiscard]] std::vector<std::string> costly_settings(const Run& run, bool may_choose = true);

/// What the run's settings and its log name as a reason to be slow on this machine: "NCCL_P2P_DISABLE=1", "1
/// of the 8 NICs of a node (line 42)", and LogFacts::losses.
[[nodiscard]] std::vector<std::string> losses_stated(const Run& run, const GpuCluster& cluster,
                                                     bool may_choose = true);

/// Why a sweep is as it is, in one or two sentences of facts: what it reached of which link, what the log
/// tells of transport and channels, and what the topology cannot tell. Of a slow one `seen` comes before what
/// else may be. Empty without a band.
[[nodiscard]] std::string explain_series(const SizeSeries& series, const SeriesJudgement& judgement,
                                         const GpuCluster& cluster,
                                         const std::vector<std::string>& seen = {});

/// The most bus bandwidth of a sweep, GB/s; what it should come to where it ends below 64 MiB.
[[nodiscard]] double peak_busbw(const SizeSeries& series, const GpuCluster& cluster);

/// One sentence about a row of a sweep that reaches `peak_busbw`: latency-bound (below half of it,
/// and below half of the plateau by the model) or bandwidth-bound, by which link, and its ratio; or why there
/// is none.
[[nodiscard]] std::string explain_row(const Row& row, double peak_busbw, const GpuCluster& cluster);

/// What the row's expectation is of; the ring for a name that no model has.
[[nodiscard]] GpuAlgorithm expected_algorithm(const Row& row);

/// NCCL's algorithm whose time is nearest to the measured one; none where there is only one.
[[nodiscard]] std::optional<GpuAlgorithm> explaining_algorithm(const Row& row, const GpuCluster& cluster);

/// What may be lost although `row`, within `range`, took as long as it did, by the model itself; only a
/// baseline of the same machine shows it. For each kind of link that the ranks use, the largest of these:
/// half of all, as many together as one of them less, two, …, or half of one; else a share of 0. "the 8 NICs
/// at 62 % of their rate". A NIC that is gone may cost more than its share, since NCCL then plans other
/// channels. `row` has an expectation by `cluster`.
[[nodiscard]] std::vector<HiddenLoss> hidden_losses(const Row& row, const HealthyRange& range,
                                                    const GpuCluster& cluster);

/// "running ring instead of tree (1.5 × the time; …)": where `row` does not tell them apart; else empty.
[[nodiscard]] std::string hidden_algorithm(const Row& row, const GpuCluster& cluster);

/// `run` with an expectation, a verdict and an explanation in every row, by the cluster's links. Rows of one
/// series, in and out of place, share their verdict; a row's explanation is about itself, the largest ones'
/// about the series. A row of wrong data has no verdict. A log that names another GPU than the cluster's gets
/// a note; of another maker's GPUs no row has an expectation.
[[nodiscard]] Run judged_on_gpus(Run run, const GpuCluster& cluster);

/// Throws Error (usage) at `where` for a run of simulated GPUs: there is nothing to judge or to compare.
void require_times_of_gpus(const Run& run, const std::string& where);

/// How much of the loss of a bad run, in rate, the machine as it was found explains, by what the models
/// expect of that one: "As it was found, the machine would give 0.52 of the expected rate, which explains 96
/// % of the loss of AllReduce." Or that it contradicts the run, which was quicker. Empty for a run that is
/// not bad, and where the one found is as good.
[[nodiscard]] std::string explained_loss(const Run& judged, const GpuCluster& found);

/// Adds a sentence to the explanation of every series that is BELOW or a FAULT; an empty one adds nothing.
void explain_bad(Run& run, const std::string& sentence);

/// A resource whose losses show as losses of NICs: only the list of resources names it.
inline constexpr std::string_view kNic = "NIC";
inline constexpr std::string_view kNicPcie = "PCIe link of a NIC";

/// A resource, and the SOUND series that rules out most of its losses.
struct ResourceTest {
  HiddenLoss hidden;              ///< what that one leaves open
  const Row* best_row = nullptr;  ///< its largest
  bool on_each_node = false;      ///< each node alone: the row of the node that leaves most open

  /// Half of it may be missing: nothing tests it.
  [[nodiscard]] bool is_untested() const { return hidden.share >= 0.5; }
};

/// Gives the row that was sustained, by `cluster`, and those of nodes alone and of pairs, by one or two of
/// its nodes, an expectation and a verdict, as judged_on_gpus does. Of a group's fewer than three passes none
/// is BELOW or a FAULT: UNCLEAR. Where NVLink joins nodes, pairs have no verdict.
void judge_beside_rows(Run& run, const GpuCluster& cluster);

/// Judged SOUND, with right data.
[[nodiscard]] bool is_sound(const NodeGroup& group);

/// Whether each node of the run was measured alone, and is SOUND.
[[nodiscard]] bool all_nodes_are_sound_alone(const Run& run);

/// What the pairs of neighboring nodes, a ring of them, say of who is slow between nodes. They share the
/// network, and say whose a loss is that the rows show; alone they make no machine BELOW.
struct PairsSeen {
  int pairs = 0;
  int sound = 0;
  std::vector<const NodeGroup*> slow;   ///< of the run: BELOW or FAULT
  std::vector<std::string> slow_hosts;  ///< slow with each neighbor, one of which is SOUND with its other one
};
[[nodiscard]] PairsSeen pairs_seen(const Run& run);

/// Of each resource that the SOUND series of the run use, in the order in which they first name it.
[[nodiscard]] std::vector<ResourceTest> resource_tests(const Run& run);

/// Whether any row has a verdict.
[[nodiscard]] bool is_judged(const Run& run);

/// A size, of this and more, collapses where it takes so many times what its neighbors (and the model, where
/// there is one) allow.
inline constexpr double kCollapse = 3;
inline constexpr std::uint64_t kCollapseFrom = kMiB;

/// Whether a row was measured, and something is expected of it.
[[nodiscard]] bool has_expectation(const Row& row);

/// The first row that takes three times what the model expects, and either longer than a larger one or three
/// times what the sizes beside it make likely. Null where there is none.
[[nodiscard]] const Row* collapsed_row(const SizeSeries& series);

}  // namespace collbench::analysis
