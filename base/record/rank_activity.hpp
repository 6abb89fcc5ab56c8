#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/record/json_fields.hpp"
#include "base/record/words.hpp"

namespace collbench {

/// What the kernel says of a rank's process; unknown where that cannot be asked: another host's, another
/// boot's, another container's.
enum class ProcessState { running, stopped, gone, unknown };

template <>
inline constexpr std::array<std::string_view, 4> kWords<ProcessState>{"running", "stopped", "gone",
                                                                      "unknown"};

/// Calls that a rank began and finished. A rank is inside one while they differ.
struct CallCounts {
  std::uint64_t entered = 0;
  std::uint64_t left = 0;

  [[nodiscard]] bool inside() const { return entered > left; }
  bool operator==(const CallCounts&) const = default;
};

/// What one rank was doing when somebody looked at its flight recorder.
struct RankActivity {
  int rank = 0;
  int ranks = 0;  ///< of the run; 0 where the launcher did not say
  std::string host;
  std::string gpu;       ///< as CUDA_VISIBLE_DEVICES or its UUID has it; empty on host memory
  std::string device{};  ///< "GPU3, mlx5_2"; empty: not known, or on host memory
  int pid = 0;
  ProcessState process = ProcessState::unknown;
  std::string step;         ///< "AllReduce 1 MiB", "calibration"
  std::uint64_t steps = 0;  ///< begun so far, this one included
  int pass = 0;             ///< counted from 1; 0 before the first
  CallCounts calls;         ///< of the measured operation, in the whole run
  std::uint64_t calls_before_step = 0;
  CallCounts exchanges;  ///< of collbench's own between the ranks: barriers, broadcasts, gathers
  bool is_over = false;  ///< it ends, or ended, on purpose
  std::optional<double> idle_seconds;  ///< since a step or a call of this rank began or ended
  std::string resent_to{};             ///< an IPv4 address that does not acknowledge; empty: not known
  std::uint32_t resent_times = 0;      ///< how often in a row what it sent there was sent again
  std::uint64_t heard = 0;             ///< how often it heard that ranks of other hosts go on; in no JSON

  /// Whether it waits for other ranks.
  [[nodiscard]] bool waits() const { return calls.inside() || exchanges.inside(); }
  /// The number of its last call of the operation in this step, from 1; 0 before the first.
  [[nodiscard]] std::uint64_t call_of_step() const { return calls.entered - calls_before_step; }
  /// A number that grows with each step and each call of the operation.
  [[nodiscard]] std::uint64_t progress() const { return steps + calls.entered + calls.left; }
  bool operator==(const RankActivity&) const = default;
};

[[nodiscard]] Json rank_activity_to_json(const RankActivity& activity);
/// Throws Error (usage) where it is none.
[[nodiscard]] RankActivity rank_activity_from_json(const JsonReader& json);

}  // namespace collbench
