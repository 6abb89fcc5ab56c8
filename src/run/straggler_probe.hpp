#pragma once
#include <functional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/record/identities.hpp"
#include "base/record/straggler_probe.hpp"
#include "launch/flight/flight_page.hpp"
#include "launch/ranks.hpp"

namespace collbench::program {

/// Finds out who is late, in probes between the passes. All calls are collective.
class StragglerProbe {
 public:
  /// `seconds`: what is left of the run, measurement included. `links`: between hosts, too, where MPI is what
  /// is measured. Repetitions are counted in `exchanges`, which must outlive it.
  StragglerProbe(launch::Ranks& ranks, const Clock& clock, const Identities& identities, double seconds,
                 bool links, launch::CallCounter& exchanges);

  /// One repetition, unless they took their share of the time since the beginning; and as many more as the
  /// time that has passed should have seen, so that there are enough of them when it is up.
  void between_passes();

  /// As many more repetitions as somebody needs to be cleared, while time allows; then the findings. Complete
  /// on rank 0.
  [[nodiscard]] RankProbe finish();

 private:
  void repeat_probe();
  void repeat_probe_after_a_while();
  [[nodiscard]] bool is_behind() const;

  launch::Ranks& ranks_;
  const Clock& clock_;
  const Identities& identities_;
  std::function<ProbeRepetition()> probe_;
  double start_;
  double seconds_;
  int needed_;
  launch::CallCounter& exchanges_;
  double taken_seconds_ = 0;
  std::vector<ProbeRepetition> repetitions_;
};

/// Why probing the ranks one by one would not show who is late; empty where it would.
[[nodiscard]] std::string straggler_probe_obstacle(bool has_mpi, bool share_a_gpu, bool share_cores);

}  // namespace collbench::program
