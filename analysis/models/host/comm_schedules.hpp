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

/// The rounds of a binomial tree towards `root`, in order. Reversed, and each hop turned round, they are a
/// broadcast. Ranks are counted from the root on, as libraries do it.
[[nodiscard]] std::vector<Round> binomial_to_root(const HostModel& model, int root = 0);
[[nodiscard]] std::vector<Round> binomial_from_root(const HostModel& model, int root = 0);

/// p − 1 rounds of one message: each other rank to `root`, one after the other, and the way back.
[[nodiscard]] std::vector<Round> linear_to_root(const HostModel& model, int root = 0);
[[nodiscard]] std::vector<Round> linear_from_root(const HostModel& model, int root = 0);

/// Each rank to the next, from `root` to the rank before it; and the way back.
[[nodiscard]] Round chain_from_root(const HostModel& model, int root);
[[nodiscard]] Round chain_to_root(const HostModel& model, int root);

}  // namespace collbench::analysis
