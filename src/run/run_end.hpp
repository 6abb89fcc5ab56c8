#pragma once
// The time of day stands in records. It may be set while a run goes on; what is measured goes by a Clock.
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "launch/ranks.hpp"

namespace collbench::program {

/// When a run ends: with --time, before the batch system ends its job, or when a signal orders it.
class RunEnd {
 public:
  /// Collective; from now on signals are noticed. The run began at `start` and may take `seconds`. What the
  /// job's end changes is added to `notes`, on rank 0.
  RunEnd(launch::Ranks& ranks, const Clock& clock, double start, double seconds,
         std::vector<std::string>& notes);

  /// That the run may take, the same on all ranks.
  [[nodiscard]] double seconds() const { return seconds_; }
  /// Of what the batch system leaves, a quarter at most of what is still left: the same on all ranks.
  /// Collective.
  [[nodiscard]] double quarter_at_most(launch::Ranks& ranks, double seconds) const;
  /// It may take so much more, since what is not counted took that; but what follows it, `after_seconds`, has
  /// to fit as well. Collective.
  void extend(launch::Ranks& ranks, double seconds, double after_seconds);
  /// Whether no other block may begin, as this rank knows.
  [[nodiscard]] bool has_come() const;
  /// By what, on rank 0: "by SIGTERM", "by SIGUSR1 (to rank 1)", "before the end of the job". Collective.
  [[nodiscard]] std::string cause(launch::Ranks& ranks) const;

 private:
  void ask_batch_system(std::vector<std::string>& notes);
  [[nodiscard]] double elapsed() const { return clock_.seconds() - start_; }
  [[nodiscard]] bool job_ends() const { return job_end_ && elapsed() > *job_end_; }

  const Clock& clock_;
  double start_;
  double seconds_;
  double most_seconds_ = std::numeric_limits<double>::infinity();  // on rank 0, that the job leaves
  std::optional<double> job_end_;  // on rank 0, as elapsed() counts: what could not end by itself until then
};

/// Now, as records have it: "2026-10-01T12:00:00Z".
[[nodiscard]] std::string utc_now();

/// For how long this machine was suspended since it booted: its monotonic clock stands still then.
[[nodiscard]] double suspended_seconds();

/// What to note of a run that took `passed_seconds` by its Clock, `shown_seconds` by the time of day, and
/// `suspended_seconds` more in which the machine was suspended; empty where they agree.
[[nodiscard]] std::string clock_note(const std::string& host, double shown_seconds, double passed_seconds,
                                     double suspended_seconds);

}  // namespace collbench::program
