#pragma once
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/record/probe.hpp"
#include "topology/telemetry/gpu_reading.hpp"

namespace collbench::topology {

struct GpuSample {
  double seconds = 0;  ///< by the sampler's clock, in the middle of the reading
  std::vector<GpuReading> gpus;
};

/// How the GPU at `address` fared from `begin` to `end`, by the samples in between.
[[nodiscard]] GpuWindow gpu_window(const std::vector<GpuSample>& samples, std::string_view address,
                                   double begin, double end);

/// Reads a host's GPUs over and over from a thread of its own, and keeps each reading. Between two readings
/// `seconds_between` pass at least, and nine times what the last one took: it is at work for a tenth of the
/// time at most.
class GpuSampler {
 public:
  /// Takes the first reading, with the first of `readers` that gives one. `clock` outlives it.
  GpuSampler(std::vector<std::unique_ptr<GpuReader>> readers, const Clock& clock,
             double seconds_between = 0.5);
  GpuSampler(const GpuSampler&) = delete;
  GpuSampler& operator=(const GpuSampler&) = delete;
  ~GpuSampler();

  /// Ends the readings; all of them.
  [[nodiscard]] const std::vector<GpuSample>& finish();
  /// After finish: why GPUs were not read, or no more; empty: they were.
  [[nodiscard]] const std::string& failure() const { return failure_; }

 private:
  void watch();
  bool read(GpuReader& reader);

  const Clock& clock_;
  double seconds_between_;
  // The thread's while it runs:
  std::unique_ptr<GpuReader> reader_;
  std::vector<GpuSample> samples_;
  double took_seconds_ = 0;
  std::string failure_;

  std::mutex mutex_;  // of what follows
  std::condition_variable wake_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace collbench::topology
