#pragma once
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/record/telemetry.hpp"
#include "topology/telemetry/nvidia_smi_telemetry.hpp"

namespace collbench::topology {

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

/// Where and how often telemetry is read; tests put stand-ins there.
struct TelemetrySources {
  std::string nvidia_smi = "nvidia-smi";  ///< the program, looked up on PATH
  double seconds_per_reading = 8;         ///< it takes up to 5 s where persistence mode is off
  double seconds_between = 1;             ///< at least; and nine times what the last reading took
};

/// Reads this host's GPUs while rows run: at the start, at the end and every second or so between, from a
/// thread of its own, so that nothing that is timed waits for it. Each reading is a child process of its own
/// and not one that repeats itself: what reasons hold is known at once, however the program buffers its
/// output, and a job that is killed leaves nothing behind that runs on. A child runs for at most a tenth of
/// the time, so that most blocks of a row have none beside them, and the medians stay theirs.
class TelemetryWatch {
 public:
  /// Takes the first reading.
  explicit TelemetryWatch(TelemetrySources places = {});
  TelemetryWatch(const TelemetryWatch&) = delete;
  TelemetryWatch& operator=(const TelemetryWatch&) = delete;
  TelemetryWatch(TelemetryWatch&&) = delete;
  TelemetryWatch& operator=(TelemetryWatch&&) = delete;
  ~TelemetryWatch();

  /// The row that runs from now on; none between rows.
  void running(std::optional<std::size_t> row);

  /// Takes the last reading. What nvidia-smi could not tell, and why, stands in the log's notes; a program
  /// that failed is not asked again.
  [[nodiscard]] const TelemetryLog& finish();

 private:
  void watch();
  void read();
  void fail(const std::string& why);
  void stop();

  TelemetrySources places_;
  TelemetryLog log_;         // the thread's while it runs
  bool failed_ = false;      // likewise
  double took_seconds_ = 0;  // likewise: the last reading
  std::chrono::steady_clock::time_point last_reading_;
  std::mutex mutex_;  // of what follows
  std::condition_variable wake_;
  bool over_ = false;
  std::optional<std::size_t> row_;
  RowSet during_;
  RowSet since_last_;
  std::thread thread_;
};

}  // namespace collbench::topology
