#pragma once
#include <optional>
#include <vector>

#include "base/record/straggler_probe.hpp"
#include "collectives/mpi/straggler_probe.hpp"
#include "launch/ranks.hpp"

namespace collbench::program {

/// Searches for stragglers with probes between the passes, which take little of the run's time. All calls are
/// collective.
class StragglerProbe {
 public:
  /// `seconds`: the whole run's. `links`: between hosts, too, where MPI is what is measured.
  StragglerProbe(launch::Ranks& ranks, const Clock& clock, const Identities& identities, double seconds,
                 bool links);

  /// One probe, unless probes took their share of the time since the beginning.
  void between_passes();

  /// As many more probes as it takes to exclude chance, while time allows; then what they found. Complete on
  /// rank 0.
  [[nodiscard]] RankProbe finish();

 private:
  void probe_once();

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
