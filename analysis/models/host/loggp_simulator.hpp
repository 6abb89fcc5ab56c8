#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "analysis/models/host/host_model.hpp"

namespace collbench::analysis {

struct Hop {
  int from = 0;
  int to = 0;
  bool crosses = false;   ///< it leaves its node
  bool answered = false;  ///< its receiver sends to its sender in the same round
};

/// Messages that belong together, at most one from each rank and one to each rank.
struct Round {
  std::vector<Hop> hops;
  /// Indices of the hops that leave, and that enter, each node with more than one of them: they share its
  /// link.
  std::vector<std::vector<std::size_t>> sharing_a_link;
};

/// A destination of a rank that sends nothing in the round.
inline constexpr int kNobody = -1;

/// The round in which rank r sends to `destinations[r]`.
[[nodiscard]] Round round_of(const HostModel& model, std::span<const int> destinations);

/// Rank r sends to r + distance (mod p).
[[nodiscard]] Round shift(const HostModel& model, int distance);

/// Follows the ranks of one collective through its rounds and knows when each is done.
///
/// A message starts when its sender has finished the round before and its link has let the last message go,
/// no sooner than a gap after the start of that one;
/// it arrives α + bytes/B later. Messages of one round that leave or enter one node share what the node
/// carries in total, evenly while they last. The receiver goes on when its message has arrived and `work` is
/// done. Where hosts exchange large messages, each direction may slow the other
/// (MessageTier::exchange_factor). Up to the eager limit the sender goes on at once; above it the message
/// waits until the receiver is in the same round, and the sender until it has arrived. This is LogGP
/// (Alexandrov et al., SPAA'95) with o within α, a rendezvous, and nodes; docs/model.md derives the closed
/// forms that follow from it.
class LogGpSimulator {
 public:
  /// `working_set_bytes` is what the whole operation touches on a rank.
  LogGpSimulator(const HostModel& model, SentData data, double working_set_bytes);

  /// Every hop of `round` carries `bytes`, and its receiver then works for `work_seconds`.
  void exchange(const Round& round, double bytes, double work_seconds = 0);

  /// The same, `times` over. As soon as one time moves every rank on by the same, so does each further one,
  /// and they need not be followed: else the rings of thousands of ranks would take minutes.
  void repeat(const Round& round, double bytes, double work_seconds, int times);

  void work(double seconds);

  /// Reducing and copying `bytes` within this operation, in seconds.
  [[nodiscard]] double reduce(double bytes) const { return model_.reduce.seconds(bytes, working_set_); }
  [[nodiscard]] double copy(double bytes) const { return model_.copy.seconds(bytes, working_set_); }

  /// When the last rank is done, from 0 at the start.
  [[nodiscard]] double seconds() const;

 private:
  /// What the next round starts from, by rank.
  struct State {
    std::vector<double> done;      // when it finished its last round
    std::vector<double> sent;      // when its link let its last message go
    std::vector<double> received;  // when its link delivered its last message
  };

  /// What moves every time in `before` to `now_`; none when it differs.
  [[nodiscard]] std::optional<double> common_step(const State& before) const;
  void move(double seconds);

  [[nodiscard]] const MessageTier& tier(const Hop& hop) const {
    return hop.crosses ? model_.inter : model_.intra;
  }

  /// How long a message keeps its link busy when it has the link for itself.
  [[nodiscard]] double link_seconds(const MessageTier& tier, double bytes) const;
  /// Postpones lets_go_ of the hops that share a node's link.
  void share_links(const Round& round, double bytes);
  /// How much longer an exchange keeps the link than a message alone.
  [[nodiscard]] double slowed(const Hop& hop, double bytes) const;

  const HostModel& model_;
  SentData data_;
  double working_set_;
  State now_;
  std::vector<double> next_;     // `done` of the round that is being followed
  std::vector<double> starts_;   // of each of its hops
  std::vector<double> lets_go_;  // when each hop's link is free again
};

/// Seconds of one operation among many that follow each other without a pause, as rows are measured. `lap`
/// puts the rounds of one operation on `clock`. A rooted operation holds nobody but its root to the common
/// pace: ranks run ahead, and one operation begins before the last one has ended everywhere. The first laps
/// are the start.
template <typename Lap>
[[nodiscard]] double seconds_back_to_back(LogGpSimulator& clock, const Lap& lap) {
  constexpr int kLaps = 8;
  for (int i = 0; i < kLaps; ++i) lap();
  const double before = clock.seconds();
  for (int i = 0; i < kLaps; ++i) lap();
  return (clock.seconds() - before) / kLaps;
}

}  // namespace collbench::analysis
