#pragma once
#include <string>

// The time of day stands in records. It may be set while a run goes on; what is measured goes by a Clock.

namespace collbench::program {

/// Now, as records have it: "2026-10-01T12:00:00Z".
[[nodiscard]] std::string utc_now();

/// For how long this machine was suspended since it booted: its monotonic clock stands still then.
[[nodiscard]] double suspended_seconds();

/// What to note of a run that took `passed_seconds` by its Clock, `shown_seconds` by the time of day, and
/// `suspended_seconds` more in which the machine was suspended; empty where they agree.
[[nodiscard]] std::string clock_note(const std::string& host, double shown_seconds, double passed_seconds,
                                     double suspended_seconds);

}  // namespace collbench::program
