#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/record/states.hpp"

namespace collbench::launch {

using collbench::RankAggregate;

/// How the harness's ranks exchange data outside of every timed part. All calls are collective: every
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
  /// The number that the user knows a rank by; another one where these are some of the run's ranks only. Not
  /// collective: any thread may ask.
  [[nodiscard]] virtual int number_in_run(int rank) const { return rank; }
};

template <typename Value>
[[nodiscard]] Value broadcast_value(Ranks& ranks, Value value, int root = 0) {
  static_assert(std::is_trivially_copyable_v<Value>);
  ranks.broadcast(std::as_writable_bytes(std::span<Value, 1>(&value, 1)), root);
  return value;
}

[[nodiscard]] inline std::string broadcast_text(Ranks& ranks, std::string text, int root = 0) {
  text.resize(
      static_cast<std::size_t>(broadcast_value(ranks, static_cast<std::uint64_t>(text.size()), root)));
  ranks.broadcast(std::as_writable_bytes(std::span(text)), root);
  return text;
}

/// Several texts as one, each behind its length; at most 4 GiB each.
[[nodiscard]] std::string packed(const std::vector<std::string>& texts);
[[nodiscard]] std::vector<std::string> unpacked(std::string_view text);

/// The bytes of some values, to be sent as a text.
template <typename Value>
[[nodiscard]] std::string bytes_of(std::span<const Value> values) {
  static_assert(std::is_trivially_copyable_v<Value> && !std::is_same_v<Value, bool>);
  const auto bytes = std::as_bytes(values);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The values that were sent as those bytes.
template <typename Value>
[[nodiscard]] std::vector<Value> values_of(const std::string& bytes) {
  static_assert(std::is_trivially_copyable_v<Value> && !std::is_same_v<Value, bool>);
  std::vector<Value> values(bytes.size() / sizeof(Value));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(Value));
  return values;
}

template <typename Value>
[[nodiscard]] std::vector<std::vector<Value>> values_of(const std::vector<std::string>& all_bytes) {
  std::vector<std::vector<Value>> all;
  for (const std::string& bytes : all_bytes) all.push_back(values_of<Value>(bytes));
  return all;
}

/// One value of every rank, by rank, on every rank.
template <typename Value>
[[nodiscard]] std::vector<Value> all_gather_values(Ranks& ranks, const Value& value) {
  std::vector<Value> values;
  for (const std::string& bytes : ranks.all_gather(bytes_of(std::span<const Value>(&value, 1)))) {
    values.push_back(values_of<Value>(bytes).at(0));
  }
  return values;
}

/// One value of every rank, by rank, on rank 0; empty elsewhere.
template <typename Value>
[[nodiscard]] std::vector<Value> gather_values(Ranks& ranks, const Value& value) {
  std::vector<Value> values;
  for (const std::string& bytes : ranks.gather(bytes_of(std::span<const Value>(&value, 1)))) {
    values.push_back(values_of<Value>(bytes).at(0));
  }
  return values;
}

/// Some values of every rank, by rank, on every rank. Ranks may have different numbers of them.
template <typename Value>
[[nodiscard]] std::vector<std::vector<Value>> all_gather_spans(Ranks& ranks,
                                                               const std::vector<Value>& values) {
  return values_of<Value>(ranks.all_gather(bytes_of(std::span<const Value>(values))));
}

/// Likewise on rank 0; empty elsewhere.
template <typename Value>
[[nodiscard]] std::vector<std::vector<Value>> gather_spans(Ranks& ranks, const std::vector<Value>& values) {
  return values_of<Value>(ranks.gather(bytes_of(std::span<const Value>(values))));
}

/// Element by element: another rank's values into those of the ranks so far, where an average is a sum until
/// all have come. rank0 leaves `values` as they are.
void combine(std::span<double> values, std::span<const double> others, RankAggregate how);

}  // namespace collbench::launch
