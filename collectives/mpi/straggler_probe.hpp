#pragma once
#include <memory>

#include "base/clock.hpp"
#include "base/record/identities.hpp"
#include "base/record/straggler_probe.hpp"
#include "launch/ranks.hpp"

namespace collbench::collectives {

/// Looks at the ranks one by one, outside of every timed part. All calls are collective. Precondition: two
/// ranks or more.
class RankProber {
 public:
  /// `transfers`: also of large messages between hosts, through MPI. Not where something else carries the
  /// data.
  RankProber(launch::Ranks& ranks, const Clock& clock, const Identities& identities, bool transfers);
  RankProber(const RankProber&) = delete;
  RankProber& operator=(const RankProber&) = delete;
  ~RankProber();

  /// One repetition; complete on rank 0, empty elsewhere. Of many ranks each meets only some of the others in
  /// it, in turn from call to call.
  [[nodiscard]] ProbeRepetition repeat();

 private:
  struct Handles;
  std::unique_ptr<Handles> handles_;
};

}  // namespace collbench::collectives
