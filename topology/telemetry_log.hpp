#pragma once
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/record/telemetry.hpp"
#include "topology/nvidia_smi_telemetry.hpp"

namespace collbench {

/// Rows of a run, by index.
using RowSet = std::set<std::size_t>;

/// When a reading was taken, in terms of what ran.
struct ReadingTime {
  double seconds_since_last = 0;  ///< 0 of the first reading
  RowSet during;                  ///< rows that ran while nvidia-smi did
  RowSet since_last;              ///< rows that ran since the reading before began
};

/// What all readings of one host's GPUs come to.
class TelemetryLog {
 public:
  /// Marks the rows that ran `during` a reading with the reasons that hold at it, and those that ran
  /// `since_last` with what was counted since: errors, and reasons for at least 1 % of the time.
  void add(const std::vector<GpuReading>& reading, const ReadingTime& time);
  void note(std::string text) { notes_.push_back(std::move(text)); }

  [[nodiscard]] int readings() const { return readings_; }
  /// The hosts in these and in the marks are empty.
  [[nodiscard]] const std::vector<GpuTelemetry>& gpus() const { return gpus_; }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  [[nodiscard]] const std::map<std::size_t, std::set<RowMark>>& marks() const { return marks_; }

 private:
  void mark(GpuTelemetry& gpu, GpuTrouble trouble, const RowSet& rows);

  int readings_ = 0;
  std::vector<GpuTelemetry> gpus_;
  std::map<std::string, GpuReading> last_;  // by address
  std::vector<std::string> notes_;
  std::map<std::size_t, std::set<RowMark>> marks_;  // by row
};

}  // namespace collbench
