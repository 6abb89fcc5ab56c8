#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/json_reader.hpp"
#include "base/record/json_fields.hpp"
#include "base/record/measurement.hpp"
#include "base/state_boundaries.hpp"

namespace collbench {

/// One visit of one row in one pass: what is measured at once and kept or lost as a whole. All times are per
/// operation, in seconds.
struct MeasuredBlock {
  std::size_t row = 0;  ///< index into the rows of the plan
  int pass = 0;         ///< of its launch, counted from 0
  double seconds = 0;   ///< `time`: elapsed / iterations, reduced over ranks
  std::uint64_t iterations = 0;
  std::uint64_t iterations_per_sample = 1;
  std::uint64_t warmup_iterations = 0;  ///< untimed, before them
  std::vector<float> samples;           ///< each reduced over ranks; 24 bits are more than any clock gives
  std::vector<RankTimes> ranks;         ///< of each rank's own samples in this block, by rank
  std::optional<double>
      enqueue_seconds;  ///< host time of a call, reduced over ranks; none where not asked for
  std::optional<std::uint64_t> wrong_elements;  ///< over all ranks; none when the block was not checked
  std::vector<WrongElements> wrong;             ///< the ranks that found any
  std::optional<NcclSelection> nccl;            ///< of this row, told once per launch; none without NCCL
  std::optional<MachineProbe> probe;  ///< behind the block, or a little before it; none: nobody looked

  bool operator==(const MeasuredBlock&) const = default;
};

/// All blocks of one launch, in the order in which they were measured.
using LaunchBlocks = std::vector<MeasuredBlock>;

/// A block as a line of a stream holds it (docs/formats.md).
[[nodiscard]] Json block_to_json(const MeasuredBlock& block);

/// Throws Error (usage) that names the place in the file; also for a row or a rank that the run does not
/// have.
[[nodiscard]] MeasuredBlock block_from_json(const JsonReader& json, std::size_t rows, std::size_t ranks);

/// What a row of a record has in common with a block of a stream.
[[nodiscard]] Json rank_times_to_json(const std::vector<RankTimes>& ranks);
[[nodiscard]] std::vector<RankTimes> rank_times_from_json(const JsonReader& json);

/// Of the median of a row's times, of passes or of launches; none of too few.
[[nodiscard]] std::optional<TimeInterval> time_interval(const std::vector<double>& seconds,
                                                        bool over_launches);

/// Of a row that takes `seconds` by the passes of its launches; none of fewer than two.
[[nodiscard]] std::optional<LaunchVariation> launch_variation(
    const std::vector<std::vector<double>>& launches, double seconds);

/// So many samples of a row are kept, in 64 KiB: what 64 full blocks have. The p99 is then that of 164 of
/// them.
inline constexpr std::size_t kMaxRowSamples = 16384;

/// What is kept of one row while its blocks come in, from one launch or from several in turn.
class RowSamples {
 public:
  /// `launch` never decreases from call to call.
  void add(const MeasuredBlock& block, int launch);

  /// With the round trips of the probes; 0, not known, where not every pass has one.
  [[nodiscard]] RowPasses passes() const;

  /// Writes passes, interval, distribution, per-rank and enqueue times, what the checks found and what NCCL
  /// told into `measurement`.
  void summarize(Measurement& measurement) const;

 private:
  void add_sample(float sample);

  std::vector<double> pass_seconds_;
  std::vector<int> launch_passes_;
  std::vector<MachineProbe> pass_probes_;
  int launch_ = -1;
  std::vector<float> samples_;  // a reservoir: of all that were seen, each is in it with the same chance
  std::uint64_t samples_seen_ = 0;
  std::vector<std::vector<RankTimes>> rank_times_;  // by pass, then by rank
  std::vector<double> enqueue_seconds_;             // of the passes that took it
  std::uint64_t iterations_ = 0;
  std::uint64_t warmup_iterations_ = 0;
  std::uint64_t iterations_per_sample_ = 1;
  std::optional<std::uint64_t> wrong_elements_;
  std::vector<WrongElements> wrong_;
  std::optional<NcclSelection> nccl_;
};

/// Writes how many samples there are and how they are distributed into `measurement`.
void summarize_samples(const std::vector<double>& samples, Measurement& measurement);

}  // namespace collbench
