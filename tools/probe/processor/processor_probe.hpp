#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/record/probe.hpp"
#include "collectives/compute/core_work.hpp"
#include "tools/probe/processor/processor_cores.hpp"

namespace collbench::collectives {

/// When a probe's work is timed: `windows` windows of `window_seconds`, one after the other, after a warm-up
/// in which clocks settle and pages are touched.
struct ProbeTiming {
  double warm_up_seconds = 0.5;
  double window_seconds = 0.4;
  int windows = 5;
};

struct CoreRates {
  std::vector<double> windows;  ///< per second of the clock
  /// Of the time of the windows together, how much the thread ran, by the kernel's count of its CPU time. The
  /// rest went to other processes, a CPU quota, or the kernel; what the core's other hardware thread did is
  /// not in it.
  double cpu_share = 1;
};

/// A thread on each of `cores`, which makes its work (`make_work` of the core's index, so that the memory is
/// the core's own) and does it over and over, all at the same time. By core. Throws Error (not_here) where a
/// core cannot be used or gets no thread, and what `make_work` throws.
[[nodiscard]] std::vector<CoreRates> run_on_cores(const std::vector<ProbeCore>& cores, const Clock& clock,
                                                  const ProbeTiming& timing,
                                                  const std::function<CoreWork(std::size_t core)>& make_work);

/// The kinds of work, as options and records call them.
[[nodiscard]] std::vector<std::string> processor_probe_ids();

struct ProcessorProbe {
  std::vector<ProbeCore> cores;
  std::string model;  ///< siblings have the same
  ProbeTiming timing;
  std::uint64_t array_bytes = 0;     ///< each of the triad's three, all cores together
  int matrix = 1024;                 ///< the n of the matrix products
  std::vector<std::string> only{};   ///< of processor_probe_ids(); empty: all
  std::vector<int> more_matrices{};  ///< of products in FP64 beside that one, for a roofline
};

/// The clock of a process that calls no MPI: CLOCK_MONOTONIC.
class HostClock : public Clock {
 public:
  [[nodiscard]] double seconds() const override;
};

/// STREAM's rule: each array at least four times the caches of the last level, whose size may be unknown
/// (then 256 MiB). No more than an eighth of the memory that is free, 0 for unknown; what is left out of the
/// rule for want of it is added to `notes`.
[[nodiscard]] std::uint64_t triad_bytes(std::optional<std::uint64_t> caches, std::uint64_t available,
                                        std::vector<std::string>& notes);

/// a = b + factor · c, as STREAM's triad (McCalpin, 1995). Counted are 24 bytes an element; where a store
/// first reads its line, memory moves 32. Precondition: equal lengths.
void triad(std::span<double> a, std::span<const double> b, std::span<const double> c, double factor);

/// Whether this processor has stores that pass the caches by.
[[nodiscard]] bool has_streaming_stores();

/// The same with such stores, where there are any: no line is read to be overwritten. Precondition: `a`
/// begins at a multiple of 16 bytes and has an even length.
void triad_streaming(std::span<double> a, std::span<const double> b, std::span<const double> c,
                     double factor);

/// Runs each kind of work on all cores at once: multiply-adds on registers, matrix products of a BLAS where
/// one is found (else `notes` says that there is none), the triad. Throws Error (not_here) for a core that
/// cannot be used.
[[nodiscard]] std::vector<ProbeMeasurement> probe_processors(const ProcessorProbe& probe, const Clock& clock,
                                                             std::vector<std::string>& notes);

}  // namespace collbench::collectives
