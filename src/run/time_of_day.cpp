#include "src/run/time_of_day.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "base/units.hpp"

namespace collbench::program {

std::string utc_now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

std::string clock_note(const std::string& host, double shown_seconds, double passed_seconds) {
  // Time servers make a clock go up to 500 ppm faster or slower (ntp_adjtime), and both times are rounded.
  const double agree_within = std::max(5.0, passed_seconds * 500e-6);
  const double jump = shown_seconds - passed_seconds;
  if (std::fabs(jump) <= agree_within) return {};
  const std::string what =
      jump < 0 ? fmt::format("was set back by {} during the run{}", format_seconds(-jump),
                             shown_seconds < 0 ? ", which so finished before it started" : "")
               : fmt::format("went on by {} more than the run took: it was set, or the machine was suspended",
                             format_seconds(jump));
  return fmt::format("the time of day on {} {}; durations are by its monotonic clock", host, what);
}

}  // namespace collbench::program
