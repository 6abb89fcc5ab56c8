#pragma once
#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/record/data_type.hpp"
#include "base/record/machine_probe.hpp"
#include "base/record/nccl_selection.hpp"
#include "base/record/operation.hpp"
#include "base/record/states.hpp"
#include "base/record/straggler_probe.hpp"
#include "base/record/telemetry.hpp"
#include "base/record/words.hpp"

namespace collbench {

/// The algorithm "auto": which one runs is left to the library.
inline constexpr const char* kLibraryChoice = "auto";

/// What makes a row: the tuple of independent variables.
struct RowKey {
  OperationId operation = OperationId::all_reduce;
  std::uint64_t size_bytes = 0;  ///< S of the size column: what really moved
  std::uint64_t count = 0;  ///< elements, the count argument of the call (per rank, or per pair of ranks)
  DataType type = DataType::float32;
  std::optional<Reduction> reduction;  ///< none for operations that do not reduce
  bool in_place = false;
  std::string algorithm = kLibraryChoice;  ///< as asked for with --algo
  std::optional<int> root = std::nullopt;  ///< of operations that have one; none in logs that do not say

  auto operator<=>(const RowKey&) const = default;
};

/// One rank's share in a row: medians over blocks of what the rank's own calls gave in a block.
struct RankTimes {
  int rank = 0;
  double median_seconds = 0;
  double p99_seconds = 0;
  std::optional<double> page_faults = std::nullopt;      ///< per call; none where nobody counts them
  std::optional<double> core_wait_share = std::nullopt;  ///< of a block's time, a mean: its main thread could
                                                         ///< run and had no core; none: nobody looked
  std::optional<StepTimes> step = std::nullopt;          ///< of a Step alone

  bool operator==(const RankTimes&) const = default;
};

struct WrongElements {
  int rank = 0;
  std::string host;
  std::uint64_t count = 0;
  std::uint64_t first_index = 0;  ///< element index in the rank's receive buffer
  std::string expected;
  std::string got;

  bool operator==(const WrongElements&) const = default;
};

void each_field(auto& visit, Either<WrongElements> auto& wrong) {
  visit("rank", wrong.rank);
  visit("host", wrong.host, RankHost{});
  visit("count", wrong.count);
  visit("first_index", wrong.first_index);
  visit("expected", wrong.expected);
  visit("got", wrong.got);
}

struct TimeInterval {
  double low_seconds = 0;
  double high_seconds = 0;
  double confidence = 0;       ///< what the order statistics really cover, at least 0.95
  bool over_launches = false;  ///< false: over passes, and it holds for the launch that they are from

  bool operator==(const TimeInterval&) const = default;
};

/// A row while the machine was in one of its states, which the probes beside the passes tell apart
/// (docs/statistics.md).
struct RowState {
  double min_round_trip_seconds = 0;  ///< of all probes of the run that saw this state
  double max_round_trip_seconds = 0;
  int passes = 0;      ///< of the row
  int launches = 0;    ///< that were in this state for most of the row's passes
  double seconds = 0;  ///< as Measurement::seconds, of this state alone
  std::optional<TimeInterval> interval;

  bool operator==(const RowState&) const = default;
};

/// The two parts of a row's variance, as fractions of its time (docs/model.md).
struct LaunchVariation {
  double within = 0;   ///< between passes of one launch
  double between = 0;  ///< between launches, what the passes alone would give taken off

  bool operator==(const LaunchVariation&) const = default;
};

/// What was measured for one row. All times are per operation, in seconds.
struct Measurement {
  RowKey key;
  /// Not empty: the row was not run, and why; everything below is then empty, but for a row that was left out
  /// for want of time, which `stopped` says.
  std::string unavailable;
  std::string algorithm_ran;              ///< what ran, the library's own fallback included; "auto" where
                                          ///< that is not known
  std::string note;                       ///< "reduced by collbench" where our own MPI_Op did it
  std::string source;                     ///< "FILE:LINE" of the log that has it; empty: measured here
  std::optional<NcclSelection> nccl;      ///< none without NCCL, and where it tells nothing
  std::vector<double> pass_seconds;       ///< `time` of each pass: elapsed / iterations, reduced over ranks
  std::vector<int> launch_passes;         ///< as many of pass_seconds are from each launch, in turn
  std::vector<MachineProbe> pass_probes;  ///< beside each pass; empty where nobody looked
  /// Median of pass_seconds; over launches, the median of their medians. Where there are `states`, of the
  /// first, as are `interval` and `launch_variation`.
  double seconds = 0;
  std::optional<TimeInterval> interval;  ///< of `seconds`; none for fewer than 6 passes, or launches
  std::optional<LaunchVariation> launch_variation;  ///< none of fewer than two launches
  std::vector<RowState> states;  ///< the commonest of the run first; empty where the machine had only one
  std::optional<Stop> stopped;   ///< none while it is measured, and where another program measured it
  std::uint64_t iterations = 0;  ///< timed iterations in all
  std::uint64_t warmup_iterations = 0;  ///< untimed ones before blocks, in all
  std::uint64_t iterations_per_sample = 1;
  std::uint64_t samples =
      0;  ///< samples kept, over which the figures below are taken (each reduced over ranks)
  double minimum = 0;
  double mean = 0;
  double median = 0;
  double p95 = 0;
  double p99 = 0;
  double variation = 0;  ///< standard deviation / mean
  std::vector<RankTimes> ranks;
  std::optional<std::uint64_t> wrong_elements;  ///< over all ranks; none when the row was not checked
  std::vector<WrongElements> wrong;             ///< the ranks that found any
  /// Host time of one call, before any of it has run: the median of passes, reduced over ranks. On request.
  std::optional<double> enqueue_seconds;
  std::vector<RowMark> marks;  ///< the GPUs that were in trouble while it ran

  bool operator==(const Measurement&) const = default;
};

/// Whether elements were checked and found wrong: the row's time is then of something else than was asked
/// for.
[[nodiscard]] inline bool has_wrong_data(const Measurement& measured) {
  return measured.wrong_elements.value_or(0) > 0;
}

/// What a row should take by the models (docs/model.md). Times of one operation in seconds; none where the
/// model does not exist for the operation.
struct Expectation {
  std::optional<double> ring_seconds;
  std::optional<double> tree_seconds;
  std::optional<double>
      expected_seconds;     ///< the algorithm that ran, or the cheapest one where that is not known
  std::string expected_by;  ///< the formula behind expected_seconds: "ring", "recursive_doubling", …
  /// The band around all algorithms that may have run, with the models' uncertainty; none on host memory.
  std::optional<double> fastest_seconds = std::nullopt;
  std::optional<double> slowest_seconds = std::nullopt;
  /// The link that limits the algorithm of expected_by, by name.
  // An initializer, so that the members before it can be given alone.
  std::string limited_by{};
  /// NVLS, between NVLink domains NVLS-tree; none where the machine has none, or it is not modeled.
  std::optional<double> nvls_seconds = std::nullopt;

  bool operator==(const Expectation&) const = default;
};

/// What a series of sizes says of the machine (analysis/verdict/verdict.hpp), from the best to the worst.
enum class VerdictWord {
  none,     ///< not judged
  sound,    ///< inside the range of sound machines
  unclear,  ///< between what is sound and what is not, above it, or a fact is missing
  below,    ///< below every sound machine
  fault,    ///< and below half of the ring
};

template <>
inline constexpr std::array<std::string_view, 5> kWords<VerdictWord>{"none", "SOUND", "UNCLEAR", "BELOW",
                                                                     "FAULT"};

/// Below every sound machine.
[[nodiscard]] constexpr bool is_bad(VerdictWord word) { return word >= VerdictWord::below; }

/// Measured over expected bus bandwidth of sound machines.
struct HealthyRange {
  double below = 0;    ///< BELOW is under it
  double sound = 0;    ///< SOUND is from here on; infinite where no rate of this kind of machine says so
  double high = 0;     ///< to here
  std::string source;  ///< "RDMA between nodes, 10 machines"

  bool operator==(const HealthyRange&) const = default;
};

/// The most of a resource that may be missing although a series is as quick as it is.
struct HiddenLoss {
  std::string resource;  ///< "NIC", "NVLink", "PCIe link of a NIC", "path through the host"
  double share = 0;      ///< of all of it, at most 0.5; 0: the least loss that is modeled shows
  std::string text;      ///< "the 8 NICs at 62 % of their rate"; empty for 0
  int count = 1;         ///< of the resource in a node, or of a GPU; 0: an older record, which does not say

  bool operator==(const HiddenLoss&) const = default;
};

struct Verdict {
  VerdictWord word = VerdictWord::none;
  std::string explanation;  ///< one or two sentences of facts; may stand without a verdict
  /// Of a judged series: measured over expected, the median of its largest rows, and what it was held
  /// against.
  std::optional<double> ratio = std::nullopt;
  std::optional<HealthyRange> range = std::nullopt;
  std::vector<HiddenLoss> hidden = {};  ///< of a SOUND series

  bool operator==(const Verdict&) const = default;
};

}  // namespace collbench
