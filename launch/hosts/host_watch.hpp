#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/record/identities.hpp"
#include "base/record/rank_activity.hpp"
#include "launch/hosts/heartbeat.hpp"
#include "launch/hosts/host_network.hpp"

namespace collbench::launch {

/// What a host tells a listening rank, and what it is answered.
struct HostReport {
  int node = 0;
  std::vector<RankActivity> ranks;

  bool operator==(const HostReport&) const = default;
};

struct HostReply {
  std::uint64_t changes = 0;  ///< grows when ranks of any host went on
  bool is_said = false;       ///< the user was told that the run hangs: end without a word

  bool operator==(const HostReply&) const = default;
};

/// No report of so many ranks is longer: each of its texts is cut at 64 bytes, of which JSON makes at most 6
/// each.
[[nodiscard]] constexpr std::size_t max_report_bytes(std::size_t ranks) { return 256 + 2560 * ranks; }

/// JSON and text on one line, without its end.
[[nodiscard]] std::string report_line(const HostReport& report);
[[nodiscard]] std::string reply_line(const HostReply& reply);

/// None for any other text.
[[nodiscard]] std::optional<HostReport> report_from_line(std::string_view line);
[[nodiscard]] std::optional<HostReply> reply_from_line(std::string_view line);

/// Where hosts report: a rank that listens. The first of a run's list that answers decides whether it hangs.
struct WatchPoint {
  int rank = 0;
  int node = 0;
  NetworkAddress address;
};

/// A host that has not reported for long.
struct SilentHost {
  std::string host;
  std::vector<int> ranks;
};

/// A rank whose heartbeat ended without a farewell.
struct MissingRank {
  RankActivity rank;  ///< as it last was
  int looks = 0;      ///< since then, and since this host's own last progress
  int timed = 0;      ///< of these, looks at which time counted
};

/// Which ranks listen: the first ones of rank 0's host, so that one of them does when rank 0 itself hangs,
/// and the first of some other hosts, for when that host is gone.
[[nodiscard]] std::vector<int> listening_ranks(const Identities& machines);

/// Who looks after a rank that is alone on its host, by index among `points`: a listening rank of rank 0's
/// host, or for rank 0 another host's. None for a rank with others on its host, and where as many have a
/// heartbeat there as a process should have connections open.
[[nodiscard]] std::optional<std::size_t> heartbeat_point(const Identities& machines,
                                                         const std::vector<WatchPoint>& points, int rank);

/// What the hosts of a run know of each other. Each reports its ranks now and then to the first listening
/// rank that answers, and hears whether ranks elsewhere go on. Time is counted in looks, as in HangWatch,
/// which calls it; answers come from the network's thread.
class HostWatch {
 public:
  using Answered = std::optional<HostNetwork::Answered>;
  using Ask = std::function<void(std::vector<NetworkAddress>, std::string, std::function<void(Answered)>)>;

  /// `rank` is this one; `timeout_looks` the timeout, in looks.
  HostWatch(Identities machines, int rank, int timeout_looks);

  /// Before the first look: `points` are all that listen, in the order in which they are asked, by `ask`.
  /// `heartbeat`: of this rank, if it is alone on its host.
  void begin(std::vector<WatchPoint> points, Ask ask, std::unique_ptr<Heartbeat> heartbeat = nullptr);

  /// To be called at each look, after so many without progress: whether it is time to report. `timed`: a
  /// timeout counts this look.
  [[nodiscard]] bool is_due(int idle_looks, bool timed = true);
  /// Reports the ranks of this host. By the first of them that runs; those of other hosts are left out.
  void report(const std::vector<RankActivity>& here);

  /// Whether beat() is of use.
  [[nodiscard]] bool has_heartbeat() const { return heartbeat_ != nullptr; }
  /// At each look: what this rank is doing.
  void beat(const RankActivity& own);
  /// This rank ends on purpose; by any thread.
  void farewell();
  /// As one that listens: a heartbeat ended without a farewell; its rank made another one. Nothing for a line
  /// that is none of this run.
  void lost(std::string_view last_beat);
  void found(std::string_view beat);
  /// As one that listens: who had not greeted was closed to make room for the next.
  void crowded();
  /// Whoever made progress here did so with all others.
  void note_progress();

  struct View {
    bool decides = false;                     ///< this rank is the first that answers
    bool is_said = false;                     ///< the one that decides has told the user
    bool others_go_on = false;                ///< ranks of other hosts, since the last view
    std::optional<MissingRank> missing = {};  ///< the first that is
  };
  [[nodiscard]] View view();

  /// As one that listens: what another host's report is answered. None where it is none of this run.
  [[nodiscard]] std::optional<std::string> answer(std::string_view line);
  /// The user was told that the run hangs: who reports from now on is told to end.
  void say();
  /// Whether all hosts that report know it.
  [[nodiscard]] bool all_know();

  /// Ranks of the other hosts, as they last reported.
  [[nodiscard]] std::vector<RankActivity> ranks_elsewhere();
  /// Other hosts that have not reported for half of the timeout.
  [[nodiscard]] std::vector<SilentHost> silent_hosts();
  /// How many that had not greeted were closed to make room, as long as no timeout passed without one.
  [[nodiscard]] int closed_strangers();

  [[nodiscard]] bool is_on_first_host() const { return node_ == 0; }
  [[nodiscard]] const std::vector<int>& ranks_here() const { return ranks_here_; }

 private:
  struct Host {
    std::optional<HostReport> last;
    int looks_since = 0;
    bool knows = false;
  };

  [[nodiscard]] bool is_silent(const Host& host) const;
  /// That of a rank of another host of this run.
  [[nodiscard]] std::optional<HostReport> report_of_another_host(std::string_view line) const;
  /// Whether its ranks went on since it last reported.
  static bool take(Host& host, HostReport report);
  void note_changes(std::size_t point, std::uint64_t changes);
  void end_of_question(const std::vector<std::size_t>& asked, const Answered& answer);

  const Identities machines_;
  const int rank_;
  const int node_;
  const int timeout_looks_;
  const std::vector<int> ranks_here_;
  std::vector<WatchPoint> points_;
  std::optional<std::size_t> own_point_;
  Ask ask_;
  std::unique_ptr<Heartbeat> heartbeat_;

  std::mutex mutex_;  // of all that follows
  std::vector<Host> hosts_;
  std::uint64_t changes_ = 0;  // seen here
  int looks_since_report_ = 0;
  bool is_asking_ = false;
  View view_;
  std::vector<MissingRank> missing_;  // the first one first
  int closed_strangers_ = 0;
  int looks_since_stranger_ = 0;
  bool is_said_here_ = false;
  std::optional<std::size_t> counted_by_;  // which point counted changes last
  std::uint64_t counted_ = 0;              // and how many
};

}  // namespace collbench::launch
