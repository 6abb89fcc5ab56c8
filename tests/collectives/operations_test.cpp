#include "collectives/operations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/record/data_type.hpp"

namespace collbench::collectives::operations_test {
namespace {

using ::testing::ElementsAre;

/// Every operation on every rank of 1 to 5, with the first and the last rank as its root.
template <typename Check>
void for_every_call(const Check& check) {
  for (const OperationId id : measurable_operations()) {
    const Collective each = collective(id);
    for (const int ranks : {1, 2, 3, 4, 5}) {
      const TrafficMatrix traffic = traffic_by_distance(ranks);
      for (const int root : {0, ranks - 1}) {
        SCOPED_TRACE(testing::Message() << operation(each.id).name << " on " << ranks << ", root " << root);
        std::vector<CallContext> calls;
        for (int rank = 0; rank < ranks; ++rank) {
          calls.push_back({.rank = rank, .ranks = ranks, .root = root, .traffic = &traffic});
        }
        check(each, calls);
      }
    }
  }
}

TEST(Registry, RunsAllButOneAndSaysSoOfThat) {
  EXPECT_EQ(measurable_operations().size(), 11U);
  for (const Operation& each : operations()) {
    if (each.id == OperationId::hypercube) {
      EXPECT_THROW(static_cast<void>(collective(each.id)), Error) << each.name;
    } else {
      EXPECT_EQ(collective(each.id).id, each.id);
    }
  }
}

TEST(Registry, FiveRunWhenNobodyAsks) {
  using enum OperationId;
  EXPECT_THAT(default_operations(),
              ElementsAre(all_reduce, all_gather, reduce_scatter, all_to_all, send_recv));
}

TEST(Registry, WhatMovesIsWhatTheSizeColumnSays) {
  for_every_call([](const Collective& each, const std::vector<CallContext>& calls) {
    const Operation& what = operation(each.id);
    const auto ranks = static_cast<std::uint64_t>(calls.size());
    const std::uint64_t parts = what.size_meaning == SizeMeaning::total ? ranks : 1;
    for (const std::size_t element : {1U, 2U, 4U, 8U}) {
      for (const std::uint64_t asked : {1U, 7U, 8U, 100U, 1000U, 65536U}) {
        const std::uint64_t count = count_for(what, asked, element, calls.front());
        EXPECT_GT(count, 0U) << "no row of 0 bytes appears unasked";
        std::uint64_t largest = 0;
        for (const CallContext& call : calls) {
          const Layout layout = each.layout(count, call);
          EXPECT_EQ(layout.size_elements, each.layout(count, calls.front()).size_elements);
          largest = std::max({largest, layout.send_elements, layout.receive_elements});
        }
        const std::uint64_t size = each.layout(count, calls.front()).size_elements;
        EXPECT_EQ(size, largest) << "S is the largest buffer there is";
        if (each.id == OperationId::all_to_all_v) continue;  // its own test
        EXPECT_EQ(size, count * parts);
        if (asked < element * parts) continue;
        EXPECT_LE(size * element, asked);
        EXPECT_GT((size + parts) * element, asked) << "no more is left out than must be";
      }
    }
    EXPECT_EQ(count_for(what, 0, 4, calls.front()), 0U);
    EXPECT_EQ(each.layout(0, calls.front()).size_elements, 0U) << "0 bytes when asked";
  });
}

/// The count of nccl-tests 2.19.6 for what is divided among ranks (src/all_gather.cu,
/// AllGatherGetCollByteCount, and the like of ReduceScatter, AllToAll, Gather and Scatter).
std::uint64_t count_of_nccl_tests(std::uint64_t asked, std::uint64_t element, std::uint64_t ranks) {
  return (asked / element / ranks) & ~(16 / element - 1);
}

TEST(Registry, PartsOfRanksAreThoseOfNcclTests) {
  for (const OperationId id : measurable_operations()) {
    const Operation& what = operation(id);
    for (const int ranks : {1, 2, 3, 6, 8, 12, 24, 36, 72, 144}) {
      for (const std::uint64_t element : {1U, 2U, 4U, 8U}) {
        const CallContext call{.ranks = ranks, .pack = pack_elements(element, {})};
        for (const std::uint64_t asked : {1U, 8U, 100U, 4096U, 65'537U, 1'000'000U, 100'000'000U}) {
          SCOPED_TRACE(testing::Message() << what.name << ' ' << ranks << ' ' << element << ' ' << asked);
          const std::uint64_t count = count_for(what, asked, element, call);
          if (what.size_meaning == SizeMeaning::total) {
            const auto theirs = count_of_nccl_tests(asked, element, static_cast<std::uint64_t>(ranks));
            EXPECT_EQ(count, theirs == 0 ? 16 / element : theirs) << "no row of 0 bytes appears unasked";
          } else {
            EXPECT_EQ(count, std::max<std::uint64_t>(1, asked / element)) << "nothing is divided";
          }
        }
      }
    }
  }
}

TEST(Registry, WhatAllToAllvMovesBetweenTwoRanksIsOfWholePacks) {
  for (const int ranks : {1, 2, 3, 6, 36}) {
    const TrafficMatrix traffic = traffic_by_distance(ranks);
    for (const std::size_t element : {1U, 2U, 4U, 8U}) {
      for (const std::uint64_t count : {1U, 100U, 25'000U}) {
        for (int rank = 0; rank < ranks; ++rank) {
          CallContext call{
              .rank = rank, .ranks = ranks, .traffic = &traffic, .pack = pack_elements(element, {})};
          const Exchanges packs = exchanges(count, call);
          call.pack = 1;
          const Exchanges exact = exchanges(count, call);
          for (std::size_t peer = 0; peer < packs.sent.size(); ++peer) {
            EXPECT_EQ(packs.sent[peer] * element % 16, 0U);
            EXPECT_EQ(packs.sent[peer] == 0, exact.sent[peer] == 0);
            if (exact.sent[peer] * element < 16) continue;
            EXPECT_LE(packs.sent[peer], exact.sent[peer]);
            EXPECT_GT(packs.sent[peer] + 16 / element, exact.sent[peer]);
          }
        }
      }
    }
  }
}

TEST(Registry, EveryElementOfTheResultHasASource) {
  for_every_call([](const Collective& each, const std::vector<CallContext>& calls) {
    for (const CallContext& call : calls) {
      const Layout layout = each.layout(250, call);
      std::uint64_t length = 0;
      for (const Segment& segment : each.result(layout, call)) {
        length += segment.length;
        const int source = std::max(0, segment.source);  // of a reduction, all ranks send as much
        ASSERT_LT(source, call.ranks);
        const Layout theirs = each.layout(250, calls[static_cast<std::size_t>(source)]);
        EXPECT_LE(segment.source_index + segment.length, theirs.send_elements);
      }
      EXPECT_EQ(length, layout.receive_elements);
    }
  });
}

TEST(Registry, AllToAllvMovesWhatItsMatrixSays) {
  const TrafficMatrix traffic = parse_traffic_matrix("0 6 2\n1 0 0\n1 1 0\n", "m");
  const auto call = [&](int rank) { return CallContext{.rank = rank, .ranks = 3, .traffic = &traffic}; };
  const Collective& what = collective(OperationId::all_to_all_v);
  // Rank 0 sends 8 of the matrix's parts, the most: 800 elements.
  EXPECT_EQ(what.layout(800, call(0)).size_elements, 800U);
  EXPECT_EQ(what.layout(800, call(0)).send_elements, 800U);
  EXPECT_EQ(what.layout(800, call(1)).send_elements, 100U);
  EXPECT_EQ(what.layout(800, call(1)).receive_elements, 700U);
  const auto segments = what.result(what.layout(800, call(1)), call(1));
  ASSERT_EQ(segments.size(), 3U);
  EXPECT_EQ(segments[0].length, 600U);
  EXPECT_EQ(segments[1].length, 0U);
  EXPECT_EQ(segments[2].source_index, 100U) << "after what rank 2 sends to rank 0";
}

}  // namespace
}  // namespace collbench::collectives::operations_test
