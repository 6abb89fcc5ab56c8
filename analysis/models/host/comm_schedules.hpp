#pragma once
#include <vector>

#include "analysis/models/host/loggp_simulator.hpp"

namespace collbench::analysis {

/// Who takes part in a recursive exchange, which wants a power of two: the largest one that fits. The first
/// p − 2^k pairs of neighbors are one participant each, its odd rank; their even rank is its guest, which
/// hands its data over before and gets the result after.
class Hypercube {
 public:
  explicit Hypercube(const HostModel& model);

  [[nodiscard]] int participants() const { return static_cast<int>(ranks_.size()); }
  [[nodiscard]] bool has_guests() const { return !guests_.empty(); }

  /// Participant i and participant i xor `mask` exchange. Throws std::out_of_range for a mask of
  /// participants() or more.
  [[nodiscard]] Round exchange(int mask) const;
  /// Participant i sends to the one whose number is i's bits reversed, unless that is itself.
  [[nodiscard]] Round mirror() const;
  [[nodiscard]] Round guests_to_hosts() const;
  [[nodiscard]] Round hosts_to_guests() const;
  /// Both at once.
  [[nodiscard]] Round guests_with_hosts() const;

 private:
  const HostModel& model_;
  std::vector<int> ranks_;   // of the participants
  std::vector<int> guests_;  // the guest of participant i is guests_[i]
};

/// Which way the messages of a tree lead. Ranks are counted from the root on, as libraries do it.
enum class TreeWay { to_root, from_root };

/// The rounds of a binomial tree, in order: those of a reduction reversed, and each hop turned round, are a
/// broadcast.
[[nodiscard]] std::vector<Round> binomial_rounds(const HostModel& model, TreeWay way, int root = 0);

/// p − 1 rounds of one message between `root` and each other rank, one after the other.
[[nodiscard]] std::vector<Round> linear_rounds(const HostModel& model, TreeWay way, int root = 0);

/// Between each rank and the next, from `root` to the rank before it.
[[nodiscard]] Round chain_round(const HostModel& model, TreeWay way, int root);

}  // namespace collbench::analysis
