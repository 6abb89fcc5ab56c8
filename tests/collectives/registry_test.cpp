#include "collectives/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/record/data_type.hpp"

namespace collbench {
namespace {

TEST(Registry, RunsFiveAndSaysSoOfTheOthers) {
  EXPECT_EQ(collectives().size(), 5U);
  for (const Operation& each : operations()) {
    const bool runs = each.id <= OperationId::send_recv;
    if (runs) {
      EXPECT_EQ(collective(each.id).id, each.id);
    } else {
      EXPECT_THROW(static_cast<void>(collective(each.id)), Error) << each.name;
    }
  }
}

TEST(Registry, WhatMovesIsWhatTheSizeColumnSays) {
  for (const Collective* each : collectives()) {
    SCOPED_TRACE(operation(each->id).name);
    for (const int ranks : {1, 2, 3, 4, 5}) {
      for (const std::size_t element : {1U, 2U, 4U, 8U}) {
        for (const std::uint64_t asked : {1U, 7U, 8U, 100U, 1000U, 65536U}) {
          const Layout layout = each->layout(asked, element, ranks);
          const std::uint64_t parts =
              operation(each->id).size_meaning == SizeMeaning::total ? static_cast<std::uint64_t>(ranks) : 1;
          EXPECT_EQ(layout.size_bytes, layout.count * element * parts);
          EXPECT_GT(layout.count, 0U) << "no row of 0 bytes appears unasked";
          EXPECT_EQ(std::max(layout.send_elements, layout.receive_elements) * element, layout.size_bytes);
          if (asked >= element * parts) {
            EXPECT_LE(layout.size_bytes, asked);
            EXPECT_GT(layout.size_bytes + element * parts, asked) << "no more is left out than must be";
          }
          // What runs is stable: asked again with the size that ran, the same runs.
          EXPECT_EQ(each->layout(layout.size_bytes, element, ranks).count, layout.count);
        }
        EXPECT_EQ(each->layout(0, element, ranks).size_bytes, 0U) << "0 bytes when asked";
      }
    }
  }
}

TEST(Registry, EveryElementOfTheResultHasASource) {
  for (const Collective* each : collectives()) {
    for (const int ranks : {1, 2, 5}) {
      const Layout layout = each->layout(4000, 4, ranks);
      for (int rank = 0; rank < ranks; ++rank) {
        std::uint64_t length = 0;
        for (const Segment& segment : each->result(layout, rank, ranks)) {
          length += segment.length;
          EXPECT_LE(segment.source_index + segment.length, layout.send_elements);
          EXPECT_LT(segment.source, ranks);
        }
        EXPECT_EQ(length, layout.receive_elements);
      }
    }
  }
}

}  // namespace
}  // namespace collbench
