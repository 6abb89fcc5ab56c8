#pragma once
#include <string>

// The time of day stands in records. It may be set while a run goes on; what is measured goes by a Clock.

namespace collbench::program {

/// Now, as records have it: "2026-10-01T12:00:00Z".
[[nodiscard]] std::string utc_now();

/// What to note of a run that took `passed_seconds` by its Clock, and `shown_seconds` by the time of day;
/// empty where they agree.
[[nodiscard]] std::string clock_note(const std::string& host, double shown_seconds, double passed_seconds);

}  // namespace collbench::program
