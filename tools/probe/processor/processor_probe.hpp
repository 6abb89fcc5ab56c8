#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/record/probe.hpp"
#include "tools/probe/processor/core_team.hpp"

namespace collbench::collectives {

/// The kinds of work, as options and records call them.
[[nodiscard]] std::vector<std::string> processor_probe_ids();

/// What of the processors is measured, and on which of their cores.
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

/// Runs each kind of work on all cores at once: multiply-adds on registers, matrix products of a BLAS where
/// one is found (else `notes` says that there is none), the triad. Throws Error (not_here) for a core that
/// cannot be used.
[[nodiscard]] std::vector<ProbeMeasurement> probe_processors(const ProcessorProbe& probe, const Clock& clock,
                                                             std::vector<std::string>& notes);

}  // namespace collbench::collectives
