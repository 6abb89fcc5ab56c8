#include "src/run/time_of_day.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "base/units.hpp"

namespace collbench::program {

std::string utc_now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

double suspended_seconds() {
  struct timespec with{};
  struct timespec without{};
  ::clock_gettime(CLOCK_MONOTONIC, &without);
  ::clock_gettime(CLOCK_BOOTTIME, &with);
  return std::difftime(with.tv_sec, without.tv_sec) +
         static_cast<double>(with.tv_nsec - without.tv_nsec) * 1e-9;
}

std::string clock_note(const std::string& host, double shown_seconds, double passed_seconds,
                       double suspended_seconds) {
  // Time servers make a clock go up to 500 ppm faster or slower (ntp_adjtime), and both times are rounded.
  const double agree_within = std::max(5.0, passed_seconds * 500e-6);
  const double jump = shown_seconds - passed_seconds - suspended_seconds;
  std::string what;
  if (std::fabs(jump) > agree_within)
    what = fmt::format("the time of day on {} was set {} by {}", host, jump < 0 ? "back" : "ahead",
                       format_seconds(std::fabs(jump)));
  if (suspended_seconds > agree_within)
    what += fmt::format("{}{} was suspended for {}", what.empty() ? "" : ", and ", host,
                        format_seconds(suspended_seconds));
  if (what.empty()) return what;
  return fmt::format("{} during the run{}; durations are by its monotonic clock", what,
                     shown_seconds < 0 ? ", which so finished before it started" : "");
}

}  // namespace collbench::program
