#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/record/states.hpp"

namespace collbench::launch {

using collbench::RankAggregate;

/// What the harness's ranks say to each other outside of every timed part. All calls are collective: every
/// rank makes the same calls in the same order. Tests implement it with threads; MpiSession with MPI.
class Ranks {
 public:
  virtual ~Ranks() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  virtual void barrier() = 0;
  /// Rank `root`'s bytes to all; the span has the same size everywhere.
  virtual void broadcast(std::span<std::byte> bytes, int root) = 0;
  /// Every rank's text, by rank, on every rank.
  [[nodiscard]] virtual std::vector<std::string> all_gather(const std::string& text) = 0;
  /// Every rank's text, by rank, on rank 0; empty elsewhere.
  [[nodiscard]] virtual std::vector<std::string> gather(const std::string& text) = 0;
  /// Element-wise over ranks, on every rank.
  virtual void reduce(std::span<double> values, RankAggregate how) = 0;

  [[nodiscard]] bool is_root() const { return rank() == 0; }
};

/// Rank 0's value on every rank.
template <typename Value>
[[nodiscard]] Value broadcast_value(Ranks& ranks, Value value, int root = 0) {
  static_assert(std::is_trivially_copyable_v<Value>);
  ranks.broadcast(std::as_writable_bytes(std::span<Value, 1>(&value, 1)), root);
  return value;
}

/// One value of every rank, by rank, on every rank.
[[nodiscard]] std::vector<double> all_gather_values(Ranks& ranks, double value);

}  // namespace collbench::launch
