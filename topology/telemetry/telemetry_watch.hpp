#pragma once
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/record/telemetry.hpp"
#include "topology/telemetry/gpu_reading.hpp"

namespace collbench::topology {

/// Rows of a run, by index.
using RowSet = std::set<std::size_t>;

/// When a reading was taken, in terms of what ran.
struct ReadingTime {
  double seconds_since_last = 0;  ///< 0 of the first reading
  RowSet during;                  ///< rows that ran while it was taken
  RowSet since_last;              ///< rows that ran since the reading before began
};

/// All readings of one host's GPUs, summed up.
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

/// In order of preference: the next one is used where none before it has given a first reading.
using GpuReaders = std::vector<std::unique_ptr<GpuReader>>;

/// Reads this host's GPUs while rows run: at the start, at the end and every second or so between, from a
/// thread of its own, so that nothing that is timed waits for it. A reading runs for at most a tenth of the
/// time, so that most blocks of a row have none beside them, and the medians stay theirs.
class TelemetryWatch {
 public:
  /// Takes the first reading. Between two readings `seconds_between` pass at least, and nine times what the
  /// last reading took. All readers together have `seconds_to_read` for a reading.
  explicit TelemetryWatch(GpuReaders readers, double seconds_between = 1, double seconds_to_read = 8);
  TelemetryWatch(const TelemetryWatch&) = delete;
  TelemetryWatch& operator=(const TelemetryWatch&) = delete;
  ~TelemetryWatch();

  /// The row that runs from now on; none between rows.
  void running(std::optional<std::size_t> row);

  /// Takes the last reading. What could not be read, and why, is in the log's notes; a reader that failed is
  /// not asked again.
  [[nodiscard]] const TelemetryLog& finish();

 private:
  void watch();
  void read();
  std::optional<std::vector<GpuReading>> read_gpus();
  void stop();

  // The thread's while it runs:
  GpuReaders readers_;  // first, the one that is asked; empty: the last one failed
  std::vector<std::string> failures_;
  TelemetryLog log_;
  double took_seconds_ = 0;  // the last reading
  std::chrono::steady_clock::time_point last_reading_;

  double seconds_between_;
  double seconds_to_read_;
  std::mutex mutex_;  // of what follows
  std::condition_variable wake_;
  bool over_ = false;
  std::optional<std::size_t> row_;
  RowSet during_;
  RowSet since_last_;
  std::thread thread_;
};

}  // namespace collbench::topology
