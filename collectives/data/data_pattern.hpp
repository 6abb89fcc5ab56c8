#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/record/data_type.hpp"
#include "collectives/data/element_formula.hpp"
#include "collectives/operations.hpp"

namespace collbench::collectives {

/// What a check found: how many elements differ, and the first of them.
struct Mismatch {
  std::uint64_t count = 0;
  std::uint64_t first_index = 0;
  std::string expected;
  std::string got;
};

/// The data that ranks put in and the exact result that must come out. It depends on rank, index and
/// iteration, so a missing, doubled, swapped, shifted or stale part shows; and the result of one element
/// costs O(1) however many ranks there are, so that every element can be looked at.
///
/// Moved elements are a hash of (rank, index, iteration). Reduced ones come from a table of 256 columns: the
/// element at `index` is column (hash(index) + iteration) mod 256 of the rank's row, and the result is the
/// same column of the rows' reduction, worked out once. The values are chosen so that every partial result in
/// any order is exact in the type: sums stay below 2^significand, products are powers of two.
///
/// No value or result is ever made of the poison byte, so an operation that does nothing is seen at every
/// element.
class DataPattern {
 public:
  static constexpr std::byte kPoison{0xa5};

  /// One element in the first bytes of each cell.
  using Table = std::array<std::array<std::byte, kPatternCellBytes>, kPatternColumns>;

  /// `reduction` is none for operations that only move data.
  DataPattern(DataType type, std::optional<Reduction> reduction, int rank, int ranks);

  /// The same ranks' pattern as `rank` puts it in. What comes out is the same on every rank and takes all
  /// ranks' contributions to work out: here it is copied.
  [[nodiscard]] DataPattern as_put_in_by(int rank) const;

  /// Fills this rank's send buffer for `iteration`.
  void fill(std::span<std::byte> send, std::uint64_t iteration) const;

  /// Looks at every element of `received`, which should consist of `segments`.
  [[nodiscard]] std::optional<Mismatch> check(std::span<const std::byte> received,
                                              const std::vector<Segment>& segments,
                                              std::uint64_t iteration) const;

  /// Of a reduction: what this rank puts in, and what comes out.
  [[nodiscard]] const Table& own_table() const { return own_; }
  [[nodiscard]] const Table& expected_table() const { return expected_; }
  /// Moved elements are integers below 2 to this: non-negative and exact in the type. With the sign bit clear
  /// they are never poison.
  [[nodiscard]] static unsigned moved_bits(DataType type);

 private:
  void contribute();

  DataType type_;
  std::optional<Reduction> reduction_;
  int rank_;
  int ranks_;
  Table own_{};
  Table expected_{};
};

void poison(std::span<std::byte> buffer);

}  // namespace collbench::collectives
