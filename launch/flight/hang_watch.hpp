#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/record/incident.hpp"
#include "base/record/rank_activity.hpp"
#include "launch/flight/flight_folder.hpp"
#include "launch/flight/flight_recorder.hpp"
#include "launch/hosts/host_watch.hpp"

namespace collbench::launch {

/// What a rank does about what it sees.
enum class HangAction {
  none,
  report_gone,   ///< say which rank is gone; its launcher ends the others
  end_gone,      ///< nobody ended this rank since: end it
  end_timeout,   ///< say what hangs, and end
  end_silently,  ///< another rank has said it, and nobody ended this one
};

/// Decides, look by look, whether the run of which this rank is a part hangs. Time is counted in looks, not
/// taken from a clock, which runs on while the process itself is stopped (Ctrl-Z, a debugger).
class HangWatch {
 public:
  static constexpr double kLookSeconds = 0.25;

  /// `timeout_seconds` of a step; 0: none. `sees_all_ranks`: no rank is on another host.
  HangWatch(FlightRecorder& recorder, double timeout_seconds, int rank, bool sees_all_ranks)
      : recorder_(recorder),
        timeout_seconds_(timeout_seconds),
        rank_(rank),
        sees_all_ranks_(sees_all_ranks) {}

  /// From now on this host and the others hear of each other; by any thread.
  void join(std::shared_ptr<HostWatch> hosts);

  /// Ranks of this host that were stopped and went on, as far as this one looks after them; by any thread.
  [[nodiscard]] std::vector<RankPause> pauses();

  /// This rank ends on purpose, or was asked to: neither its host nor another one need say that it is gone.
  /// By any thread.
  void finish();

  /// Whether the other hosts know what was said, or need not; by the thread that looks.
  [[nodiscard]] bool others_know() const;

  /// To be called every kLookSeconds. Beside the action, the ranks of this host as they are, where they
  /// matter.
  struct Look {
    HangAction action = HangAction::none;
    std::vector<RankActivity> ranks;
    std::vector<SilentHost> silent_hosts = {};  ///< other hosts that nothing is known of
    int closed_strangers = 0;                   ///< who crowded the port at which those report
  };
  /// `interrupted`: somebody asked this rank to end, and need not be told that ranks go. `suspended`: mpirun
  /// is stopped, and this time does not count.
  [[nodiscard]] Look look(bool interrupted = false, bool suspended = false);

 private:
  /// What there is to do about this rank's and this host's own silence.
  [[nodiscard]] Look look_here(const HostWatch::View& hosts, bool suspended);
  [[nodiscard]] Look look_at_gone(const RankActivity& elsewhere);
  [[nodiscard]] HostWatch::View look_elsewhere(bool suspended);
  [[nodiscard]] bool is_timed() const { return timeout_seconds_ > 0 && recorder_.step_has_limit(); }
  [[nodiscard]] bool is_first_that_runs(const std::vector<int>& ranks) const;
  [[nodiscard]] std::vector<RankActivity> ranks_here() const { return ranks_of(recorder_.folder()); }
  [[nodiscard]] std::optional<RankActivity> neighbor();
  void note_pause(const RankActivity& rank);
  [[nodiscard]] bool others_go_on(const std::vector<RankActivity>& ranks);
  [[nodiscard]] bool another_host_has_spoken(const std::vector<RankActivity>& ranks) const;
  [[nodiscard]] double patience(const std::vector<RankActivity>& ranks, const HostWatch::View& hosts) const;

  FlightRecorder& recorder_;
  double timeout_seconds_;
  int rank_;
  bool sees_all_ranks_;
  std::uint64_t progress_ = 0;
  std::uint64_t progress_of_all_ = 0;
  int idle_looks_ = 0;  ///< without progress
  bool asked_to_end_ = false;
  double asked_while_idle_seconds_ = 0;  ///< how long there had been no progress then
  int looks_since_gone_ = 0;             ///< since a rank was found gone; 0: none was
  std::filesystem::path neighbor_file_;
  struct Stopped {
    RankActivity rank;
    std::uint64_t since_ns = 0;
  };
  std::optional<Stopped> stopped_;  ///< the neighbor, while it is
  std::mutex shared_;               // of the next two
  std::shared_ptr<HostWatch> joined_;
  std::vector<RankPause> pauses_;
  std::shared_ptr<HostWatch> hosts_;  // of the looking thread
};

}  // namespace collbench::launch
