#pragma once
#include <optional>
#include <vector>

#include "base/record/straggler_probe.hpp"
#include "collectives/mpi/straggler_probe.hpp"
#include "launch/ranks.hpp"

namespace collbench::program {

/// Finds out who is late, in probes between the passes that take little of the run's time. All calls are
/// collective.
class StragglerProbe {
 public:
  /// `seconds`: the whole run's. `links`: between hosts, too, where MPI is what is measured.
  StragglerProbe(launch::Ranks& ranks, const Clock& clock, const Identities& identities, double seconds,
                 bool links);

  /// One repetition, unless they took their share of the time since the beginning.
  void between_passes();

  /// As many more repetitions as chance needs to be excluded, while time allows; then the findings. Complete
  /// on rank 0.
  [[nodiscard]] RankProbe finish();

 private:
  void repeat_probe();

  launch::Ranks& ranks_;
  const Clock& clock_;
  const Identities& identities_;
  collectives::RankProber prober_;
  double start_;
  double max_seconds_;
  double taken_seconds_ = 0;
  std::vector<ProbeRepetition> repetitions_;
};

}  // namespace collbench::program
