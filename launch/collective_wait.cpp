#include "launch/collective_wait.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/units.hpp"
#include "launch/agreement.hpp"

namespace collbench::launch {
namespace {

constexpr double kFirstRoundSeconds = 1e-3;  // or what `begin` took, which may go on between questions
constexpr double kMaxRoundSeconds = 0.1;     // a failure elsewhere is noticed within this

enum class State { over, busy, failed };

/// "rank 1 (node0)", "ranks 0 (node0), 2 (node1) and 6 more".
std::string rank_list(const std::vector<std::string>& ranks) {
  constexpr std::size_t kNamed = 8;
  if (ranks.size() <= kNamed)
    return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", fmt::join(ranks, ", "));
  return fmt::format("ranks {} and {} more",
                     fmt::join(ranks.begin(), ranks.begin() + static_cast<long>(kNamed), ", "),
                     ranks.size() - kNamed);
}

struct Wait {
  State state = State::busy;
  std::optional<Error> error;  ///< that made it fail
};

template <typename Step>
void attempt(Wait& wait, const Step& step) {
  try {
    step();
  } catch (const Error& error) {
    wait = {State::failed, error};
  }
}

/// Asks whether it is over until it is, has failed, or `seconds` are up.
void poll(Wait& wait, const std::function<bool()>& over, const Clock& clock, double seconds) {
  const double end = clock.seconds() + seconds;
  while (wait.state == State::busy) {
    attempt(wait, [&] {
      if (over()) wait.state = State::over;
    });
    if (wait.state != State::busy || clock.seconds() > end) return;
    std::this_thread::yield();  // the library may need this core for threads of its own
  }
}

/// The ranks that still wait, of all: "1 (node0)". Collective.
std::vector<std::string> busy_ranks(Ranks& ranks, State state, const std::string& host) {
  const std::vector<State> states = all_gather_values(ranks, state);
  const std::vector<std::string> hosts = ranks.all_gather(host);
  std::vector<std::string> busy;
  for (std::size_t rank = 0; rank < states.size(); ++rank) {
    if (states[rank] == State::busy)
      busy.push_back(fmt::format("{} ({})", ranks.number_in_run(static_cast<int>(rank)), hosts[rank]));
  }
  return busy;
}

/// Whether more has come than `come`, which becomes what has. Nothing more comes of a rank that failed.
bool has_come_further(Wait& mine, const std::function<std::size_t()>& progress, std::size_t& come) {
  if (!progress || mine.state == State::failed) return false;
  bool further = false;
  attempt(mine, [&] {
    const std::size_t now = progress();
    further = now > std::exchange(come, now);
  });
  return further;
}

}  // namespace

void CollectiveWait::wait(const std::string& what, const std::function<void()>& begin,
                          const std::function<bool()>& over,
                          const std::function<std::size_t()>& progress) const {
  const CountedCall waiting(waits_);
  if (begins_) begins_(what);
  double start = clock_.seconds();  // or the last progress
  std::size_t come = 0;
  Wait mine;
  attempt(mine, begin);
  for (double round = std::max(kFirstRoundSeconds, clock_.seconds() - start);; round *= 2) {
    poll(mine, over, clock_, std::min(round, kMaxRoundSeconds));
    const bool came_further = has_come_further(mine, progress, come);
    if (came_further && goes_on_) goes_on_();
    // One reduction where all goes well: what every rank says is asked for only at the end of it.
    const bool late = ranks_.is_root() && limit_seconds_ > 0 && clock_.seconds() - start > limit_seconds_;
    std::array<double, 4> any{mine.state == State::failed ? 1.0 : 0.0, mine.state == State::busy ? 1.0 : 0.0,
                              late ? 1.0 : 0.0, came_further ? 1.0 : 0.0};
    ranks_.reduce(any, RankAggregate::maximum);
    if (any[0] > 0) agree(ranks_, host_, mine.error);
    if (any[1] == 0) return;
    if (any[3] > 0) start = clock_.seconds();
    if (any[2] == 0 || any[3] > 0) continue;
    agree(ranks_, host_,
          Error(ExitStatus::rank_lost, what,
                fmt::format("timed out waiting for {} after {}",
                            rank_list(busy_ranks(ranks_, mine.state, host_)), format_seconds(limit_seconds_)),
                "check these GPUs and their links; -T sets the timeout"));
  }
}

}  // namespace collbench::launch
