#include "collectives/nccl/loader/nccl_library.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <vector>

#include "collectives/data/data_pattern.hpp"
#include "collectives/data/element_types.hpp"

namespace collbench::collectives::nccl_library_test {
namespace {

TEST(NcclLibrary, EveryTypeAndReductionHasItsOwn) {
  std::set<NcclType> types;
  for (const DataTypeTraits& type : data_types()) types.insert(nccl_type(type.id));
  EXPECT_EQ(types.size(), data_types().size());
  std::set<NcclReduction> all;
  for (const Reduction reduction : reductions()) all.insert(nccl_reduction(reduction));
  EXPECT_EQ(all.size(), reductions().size());
  EXPECT_EQ(nccl_reduction(Reduction::min), NcclReduction::min);
  EXPECT_EQ(nccl_type(DataType::uint64), NcclType::uint64);
}

TEST(NcclLibrary, OnlyFloatAveragesMayBeOff) {
  EXPECT_EQ(tolerance_ulp(DataType::float16, Reduction::avg), 2U);
  EXPECT_EQ(tolerance_ulp(DataType::int32, Reduction::avg), 0U);
  EXPECT_EQ(tolerance_ulp(DataType::float32, Reduction::sum), 0U);
}

// Averages by NCCL's own arithmetic, which rounds each rank's share before it adds (v2.28.9-1, hostToDevRedOp
// in src/enqueue.cc, FuncPreMulSum and FuncSumPostDiv in src/device/reduce_kernel.h).

/// What a rank puts into the sum.
template <typename Element>
Element share(Element own, int ranks) {
  if constexpr (std::is_integral_v<Element>) {
    return own;  // divided at the end
  } else if constexpr (std::is_same_v<Element, double>) {
    return own * (1.0 / ranks);
  } else {
    const auto scale = static_cast<Element>(static_cast<float>(1.0 / ranks));
    if constexpr (sizeof(Element) > 1) return static_cast<Element>(own * scale);
    // Floats of eight bits are multiplied as halves.
    const Eigen::half product(static_cast<float>(own) * static_cast<float>(scale));
    return static_cast<Element>(static_cast<float>(product));
  }
}

template <typename Element>
Element sum(Element a, Element b) {
  return reduced(Reduction::sum, a, b);
}

/// One element of all ranks, in the order of a ring that begins at `first`.
template <typename Element>
Element around_ring(const std::vector<Element>& shares, std::size_t first) {
  Element total = shares[first];
  for (std::size_t step = 1; step < shares.size(); ++step)
    total = sum(shares[(first + step) % shares.size()], total);
  return total;
}

/// The lowest bit of `rank`; of rank 0 the first one that no rank has.
std::size_t lowest_bit(std::size_t rank, std::size_t ranks) {
  std::size_t bit = 1;
  while (bit < ranks && (rank & bit) == 0) bit *= 2;
  return bit;
}

/// What `rank` of NCCL's tree passes up: its own and what its one or two children pass it (ncclGetBtree,
/// src/graph/trees.cc).
template <typename Element>
Element up_tree(const std::vector<Element>& shares, std::size_t rank) {
  const std::size_t ranks = shares.size();
  Element total = shares[rank];
  std::size_t step = lowest_bit(rank, ranks) / 2;
  if (rank != 0 && step > 0) total = sum(total, up_tree(shares, rank - step));
  while (step > 0 && rank + step >= ranks) step /= 2;
  if (step > 0) total = sum(total, up_tree(shares, rank + step));
  return total;
}

template <typename Element>
Element at_the_end(Element total, int ranks) {
  return std::is_integral_v<Element> ? averaged(total, ranks) : total;
}

/// As the kernel that checks data has it: how far apart the bits are.
template <typename Element>
std::uint64_t apart(Element a, Element b) {
  const auto bits = [](Element value) {
    std::uint64_t all = 0;
    std::memcpy(&all, &value, sizeof value);
    return all;
  };
  return std::max(bits(a), bits(b)) - std::min(bits(a), bits(b));
}

template <typename Element>
Element in_cell(const DataPattern::Table& table, std::size_t column) {
  Element value{};
  std::memcpy(&value, table[column].data(), sizeof value);
  return value;
}

/// The first column that differs by more than what is tolerated; none: -1.
template <typename Element>
int wrong_column(DataType type, int ranks) {
  const DataPattern pattern(type, Reduction::avg, 0, ranks);
  std::vector<std::vector<Element>> by_column(kPatternColumns);
  for (int rank = 0; rank < ranks; ++rank) {
    const DataPattern of_rank = pattern.as_put_in_by(rank);
    for (std::size_t column = 0; column < kPatternColumns; ++column)
      by_column[column].push_back(share(in_cell<Element>(of_rank.own_table(), column), ranks));
  }
  const unsigned tolerance = tolerance_ulp(type, Reduction::avg);
  for (std::size_t column = 0; column < kPatternColumns; ++column) {
    const auto expected = in_cell<Element>(pattern.expected_table(), column);
    const auto& shares = by_column[column];
    for (const Element total : {around_ring(shares, column % shares.size()), up_tree(shares, 0)}) {
      if (apart(at_the_end(total, ranks), expected) > tolerance) return static_cast<int>(column);
    }
  }
  return -1;
}

TEST(Average, IsWhatTheRightResultOfNcclIsFoundToBe) {
  for (const DataTypeTraits& type : data_types()) {
    with_element_type(type.id, [&]<typename Element>(std::type_identity<Element>) {
      for (int ranks = 2; ranks <= 144; ++ranks)
        EXPECT_EQ(wrong_column<Element>(type.id, ranks), -1) << type.name << " on " << ranks;
    });
  }
}

TEST(Average, OfFloatsAtMostTwoRanksPutIntoAColumnAndEveryRankIntoSome) {
  for (const DataTypeTraits& type : data_types()) {
    if (type.kind != NumberKind::floating) continue;
    with_element_type(type.id, [&]<typename Element>(std::type_identity<Element>) {
      // Of eight bits one rank, so that 256 columns do for as many.
      for (const int ranks : {1, 2, 3, 8, 27, 72, 144, 255}) {
        std::vector<int> contributors(kPatternColumns);
        const DataPattern pattern(type.id, Reduction::avg, 0, ranks);
        for (int rank = 0; rank < ranks; ++rank) {
          const DataPattern of_rank = pattern.as_put_in_by(rank);
          bool contributes = false;
          for (std::size_t column = 0; column < kPatternColumns; ++column) {
            const bool here = static_cast<float>(in_cell<Element>(of_rank.own_table(), column)) != 0;
            contributors[column] += here ? 1 : 0;
            contributes = contributes || here;
          }
          EXPECT_TRUE(contributes) << type.name << ": rank " << rank << " of " << ranks;
        }
        EXPECT_LE(*std::max_element(contributors.begin(), contributors.end()), is_float8(type.id) ? 1 : 2);
        EXPECT_GE(*std::min_element(contributors.begin(), contributors.end()), 1);
      }
    });
  }
}

}  // namespace
}  // namespace collbench::collectives::nccl_library_test
