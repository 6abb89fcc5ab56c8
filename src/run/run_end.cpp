#include "src/run/run_end.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "base/units.hpp"
#include "launch/interruption.hpp"
#include "launch/job_time.hpp"
#include "launch/real_machine.hpp"

namespace collbench::program {

RunEnd::RunEnd(launch::Ranks& ranks, const Clock& clock, double start, double seconds,
               std::vector<std::string>& notes)
    : clock_(clock), start_(start), seconds_(seconds) {
  launch::notice_interruption();
  if (ranks.is_root() && !launch::time_is_simulated()) ask_batch_system(notes);
  seconds_ = launch::broadcast_value(ranks, seconds_);
}

void RunEnd::ask_batch_system(std::vector<std::string>& notes) {
  const launch::JobTime job = launch::view_job_time();
  if (!job.obstacle.empty()) {
    notes.push_back(fmt::format(
        "how long this job may still run is not known ({}): --time has to end the run before", job.obstacle));
  }
  if (!job.seconds_left) return;
  const double reserve = *job.seconds_left - launch::usable_seconds(*job.seconds_left);
  const double end = elapsed() + *job.seconds_left;
  job_end_ = end - reserve / 2;
  most_seconds_ = end - reserve;
  if (end - reserve >= seconds_) return;
  notes.push_back(fmt::format("the job ends in {}: --time is {} instead of {}",
                              format_seconds(*job.seconds_left), format_seconds(end - reserve),
                              format_seconds(seconds_)));
  seconds_ = end - reserve;
}

double RunEnd::quarter_at_most(launch::Ranks& ranks, double seconds) const {
  return launch::broadcast_value(ranks, std::clamp((most_seconds_ - elapsed()) / 4, 0.0, seconds));
}

void RunEnd::extend(launch::Ranks& ranks, double seconds, double after_seconds) {
  seconds_ = launch::broadcast_value(ranks, std::min(seconds_ + seconds, most_seconds_ - after_seconds));
}

bool RunEnd::has_come() const { return launch::interrupted() || job_ends(); }

std::string RunEnd::cause(launch::Ranks& ranks) const {
  const std::vector<std::string> signals = ranks.gather(launch::interrupting_signal());
  for (std::size_t rank = 0; rank < signals.size(); ++rank) {
    if (signals[rank].empty()) continue;
    return "by " + signals[rank] + (rank == 0 ? "" : fmt::format(" (to rank {})", rank));
  }
  return job_ends() ? "before the end of the job" : "";
}

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
