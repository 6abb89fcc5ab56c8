#include "launch/flight/hang_watch.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error.hpp"
#include "launch/flight/process_stat.hpp"

namespace collbench::launch {
namespace {

// Where nobody here is to blame, a host that knows more goes first, then rank 0's. mpirun then ends the
// others: its own host's ranks, then those of the other hosts, about 2 s each (SIGTERM, SIGKILL), more on a
// busy machine.
constexpr double kBlamelessRootSeconds = 1;
constexpr double kOtherHostSeconds = 3;  // what rank 0's host says comes first, if it is only not heard here
constexpr double kBlamelessSeconds = 15;
constexpr double kSkewSeconds = 1;        // between the last progress of two hosts, with their looks
constexpr double kSpeakerSeconds = 5;     // who should have spoken did not
constexpr double kMinPauseSeconds = 0.5;  // what is seen once may have been any shorter
constexpr int kMissingLooks = 8;          // a connection that something closed is made again by then
constexpr double kLaunchersSeconds = 3;   // mpirun ends all when one is gone, with that rank's status
constexpr auto kLookNs = static_cast<std::uint64_t>(HangWatch::kLookSeconds * 1e9);
constexpr int kLooksPerSecond = static_cast<int>(1 / HangWatch::kLookSeconds);

bool can_speak(const RankActivity& rank) { return rank.process == ProcessState::running; }

bool all_wait(const std::vector<RankActivity>& ranks) {
  return std::ranges::all_of(ranks, [](const RankActivity& rank) { return can_speak(rank) && rank.waits(); });
}

bool is_gone(const RankActivity& rank) { return rank.process == ProcessState::gone && !rank.is_over; }

/// One that ended on purpose has said why, and its launcher ends the others, unless it cannot reach them. Who
/// was asked to end and lives has said nothing yet.
bool has_spoken(const std::vector<RankActivity>& ranks) {
  return std::ranges::any_of(
      ranks, [](const RankActivity& rank) { return rank.is_over && rank.process == ProcessState::gone; });
}

}  // namespace

HangWatch::Look HangWatch::look(bool interrupted, bool suspended) {
  const bool was_asked_to_end = asked_to_end_;
  if (interrupted && !asked_to_end_) {
    finish();
    asked_to_end_ = true;
    asked_while_idle_seconds_ = idle_looks_ * kLookSeconds;
  }
  if (looks_since_gone_ > 0) {
    ++looks_since_gone_;
    return {looks_since_gone_ * kLookSeconds > kLaunchersSeconds ? HangAction::end_gone : HangAction::none,
            {}};
  }
  const HostWatch::View hosts = look_elsewhere(suspended);
  if (hosts.is_said) return {HangAction::end_silently, {}};
  // Of one that dies by itself mpirun knows at once; it asks the others to end a second later and kills them
  // after another one: its order is what was waited for. When it comes together with the end of the
  // connection, the launcher may have ended both: at a time limit ranks of other hosts end 10 to 20 ms after
  // they were asked to (Slurm 22.05 with mpirun).
  if (hosts.missing && !was_asked_to_end &&
      (asked_to_end_ ? hosts.missing->looks >= 2 : hosts.missing->timed >= kMissingLooks))
    return look_at_gone(hosts.missing->rank);
  return look_here(hosts, suspended);
}

/// What ranks of third hosts do is not known as of now, and left out.
HangWatch::Look HangWatch::look_at_gone(const RankActivity& elsewhere) {
  looks_since_gone_ = 1;
  Look look{HangAction::report_gone, ranks_here()};
  look.ranks.push_back(elsewhere);
  std::ranges::sort(look.ranks, {}, &RankActivity::rank);
  return look;
}

void HangWatch::finish() {
  recorder_.finish();
  const std::lock_guard lock(shared_);
  if (joined_) joined_->farewell();
}

void HangWatch::join(std::shared_ptr<HostWatch> hosts) {
  const std::lock_guard lock(shared_);
  joined_ = std::move(hosts);
}

bool HangWatch::others_know() const { return !hosts_ || hosts_->all_know(); }

HostWatch::View HangWatch::look_elsewhere(bool suspended) {
  {
    const std::lock_guard lock(shared_);
    hosts_ = joined_;
  }
  if (!hosts_ || recorder_.folder().empty()) return {};
  if (hosts_->has_heartbeat()) hosts_->beat(recorder_.activity());
  if (hosts_->is_due(idle_looks_, is_timed() && !suspended) && is_first_that_runs(hosts_->ranks_here()))
    hosts_->report(ranks_here());
  const HostWatch::View view = hosts_->view();
  if (view.others_go_on) {
    recorder_.mark_heard();
    idle_looks_ = 0;
  }
  return view;
}

HangWatch::Look HangWatch::look_here(const HostWatch::View& hosts, bool suspended) {
  const std::uint64_t progress = recorder_.progress();
  if (progress != progress_) {
    progress_ = progress;
    progress_of_all_ = 0;
    idle_looks_ = 0;
    asked_while_idle_seconds_ = 0;
    recorder_.mark_progress();
    if (hosts_) hosts_->note_progress();
    if (const auto rank = stopped_ ? neighbor() : std::nullopt) note_pause(*rank);
    return {};
  }
  if (!suspended) ++idle_looks_;
  if (idle_looks_ % kLooksPerSecond == 0) recorder_.mark_unacknowledged(view_unacknowledged());
  const std::optional<RankActivity> before = neighbor();
  if (before) note_pause(*before);
  if (before && is_gone(*before)) {
    looks_since_gone_ = 1;
    return {HangAction::report_gone, ranks_here()};
  }
  if (!is_timed()) {
    idle_looks_ = 0;
    return {};
  }
  const double idle_seconds = idle_looks_ * kLookSeconds;
  if (idle_looks_ % kLooksPerSecond != 0 && idle_seconds < timeout_seconds_) return {};
  std::vector<RankActivity> ranks = ranks_here();
  if (others_go_on(ranks)) {
    idle_looks_ = 0;
    return {};
  }
  if (idle_seconds < timeout_seconds_ + patience(ranks, hosts)) return {};
  const bool is_first_to_speak = hosts.decides && hosts_->is_on_first_host();
  if (has_spoken(ranks) || (!is_first_to_speak && another_host_has_spoken(ranks)))
    return {HangAction::end_silently, {}};
  Look look{HangAction::end_timeout, std::move(ranks)};
  if (hosts.decides) {
    hosts_->say();
    const std::vector<RankActivity> elsewhere = hosts_->ranks_elsewhere();
    look.ranks.insert(look.ranks.end(), elsewhere.begin(), elsewhere.end());
    std::ranges::sort(look.ranks, {}, &RankActivity::rank);
    look.silent_hosts = hosts_->silent_hosts();
    look.closed_strangers = hosts_->closed_strangers();
  }
  return look;
}

/// Of those, which are of this host.
bool HangWatch::is_first_that_runs(const std::vector<int>& ranks) const {
  const auto runs = [this](int rank) {
    try {
      return can_speak(read_flight_file(recorder_.folder() / flight_file_name(rank)));
    } catch (const Error&) {  // it ended
      return false;
    }
  };
  return std::ranges::none_of(ranks, [&](int rank) { return rank < rank_ && runs(rank); });
}

/// Each rank looks after the one before it, so that one death is noticed by one rank, at any number of them.
/// None where there is no other one, or where it ended.
std::optional<RankActivity> HangWatch::neighbor() {
  if (recorder_.folder().empty()) return std::nullopt;
  if (neighbor_file_.empty()) {
    const std::vector<RankActivity> ranks = ranks_here();
    if (ranks.size() < 2) return std::nullopt;
    const auto own = std::ranges::find_if(ranks, [this](const auto& each) { return each.rank == rank_; });
    if (own == ranks.end()) return std::nullopt;
    const RankActivity& before = own == ranks.begin() ? ranks.back() : *std::prev(own);
    if (progress_ <= 1) return before;  // more ranks may still come
    neighbor_file_ = recorder_.folder() / flight_file_name(before.rank);
  }
  try {
    return read_flight_file(neighbor_file_);
  } catch (const Error&) {  // it ended
    return std::nullopt;
  }
}

/// The kernel says which process is stopped: one that waits for it, or for a core, is none.
void HangWatch::note_pause(const RankActivity& rank) {
  const std::lock_guard lock(shared_);
  if (rank.process == ProcessState::stopped) {
    // A look saw it run, and the next one could only see that there is no progress.
    if (!stopped_) stopped_ = {rank, flight_clock_ns() - kLookNs};
    return;
  }
  if (!stopped_) return;
  const double seconds = static_cast<double>(flight_clock_ns() - stopped_->since_ns) * 1e-9;
  const RankActivity was = std::exchange(stopped_, std::nullopt)->rank;
  if (rank.rank != was.rank || rank.process != ProcessState::running || seconds < kMinPauseSeconds) return;
  pauses_.push_back(
      {.rank = was.rank, .host = was.host, .step = was.step, .pass = was.pass, .seconds = seconds});
}

std::vector<RankPause> HangWatch::pauses() {
  const std::lock_guard lock(shared_);
  std::vector<RankPause> all = pauses_;
  if (!stopped_) return all;
  // No look came since it went on: the end of the run, where this is asked, is not reached without it.
  const RankActivity& was = stopped_->rank;
  const double seconds = static_cast<double>(flight_clock_ns() - stopped_->since_ns) * 1e-9;
  try {
    const RankActivity now = read_flight_file(recorder_.folder() / flight_file_name(was.rank));
    if (now.process == ProcessState::running && seconds >= kMinPauseSeconds)
      all.push_back(
          {.rank = was.rank, .host = was.host, .step = was.step, .pass = was.pass, .seconds = seconds});
  } catch (const Error&) {  // it ended
    return all;
  }
  return all;
}

bool HangWatch::others_go_on(const std::vector<RankActivity>& ranks) {
  std::uint64_t progress = 0;
  for (const RankActivity& rank : ranks) progress += rank.progress() + rank.heard;
  const bool did = progress != progress_of_all_ && progress_of_all_ != 0;
  progress_of_all_ = progress;
  return did;
}

/// The launcher asked this rank to end when the timeout was over, and nobody here has said anything: another
/// host has.
bool HangWatch::another_host_has_spoken(const std::vector<RankActivity>& ranks) const {
  return !sees_all_ranks_ && all_wait(ranks) && asked_to_end_ &&
         asked_while_idle_seconds_ >= std::max(timeout_seconds_ - kSkewSeconds, kLookSeconds);
}

/// How much longer than the timeout this rank waits for one that knows more, or comes first, to speak.
double HangWatch::patience(const std::vector<RankActivity>& ranks, const HostWatch::View& hosts) const {
  if (has_spoken(ranks)) return kSpeakerSeconds;
  const auto speaker = std::ranges::find_if(ranks, can_speak);
  const bool is_speaker = speaker == ranks.end() || speaker->rank == rank_;
  const bool is_root_host = rank_ == 0 || (!ranks.empty() && ranks.front().rank == 0);
  double seconds = is_speaker ? 0 : kSpeakerSeconds;
  if (hosts_ && is_speaker && hosts.decides) return hosts_->is_on_first_host() ? 0 : kOtherHostSeconds;
  if (hosts_) return seconds + kBlamelessSeconds;
  if (all_wait(ranks) && !sees_all_ranks_)
    seconds += is_root_host ? kBlamelessRootSeconds : kBlamelessSeconds;
  return seconds;
}

}  // namespace collbench::launch
