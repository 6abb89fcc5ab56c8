#include "collectives/data_pattern.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "collectives/registry.hpp"
#include "tests/collectives/reference.hpp"

namespace collbench {
namespace {

/// All ranks of one operation, in one process.
struct World {
  const Collective& what;
  DataType type;
  std::optional<Reduction> reduction;
  int ranks;
  Layout layout = what.layout(asked_bytes(), traits(type).bytes, ranks);

  /// 40 elements for every rank: enough for every fault to show in every type.
  [[nodiscard]] std::uint64_t asked_bytes() const {
    return 40 * traits(type).bytes * static_cast<std::uint64_t>(ranks);
  }

  [[nodiscard]] std::vector<Bytes> sent(std::uint64_t iteration) const {
    std::vector<Bytes> buffers;
    for (int rank = 0; rank < ranks; ++rank) {
      Bytes& buffer = buffers.emplace_back(layout.send_elements * traits(type).bytes);
      DataPattern(type, reduction, rank, ranks).fill(buffer, iteration);
    }
    return buffers;
  }

  [[nodiscard]] std::vector<Bytes> received(const std::vector<Bytes>& send) const {
    return Reference(what.id, layout, type, reduction, ranks).receive_buffers(send);
  }

  /// How many elements of all ranks are found wrong.
  [[nodiscard]] std::uint64_t wrong(const std::vector<Bytes>& receive, std::uint64_t iteration) const {
    std::uint64_t count = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto found =
          DataPattern(type, reduction, rank, ranks)
              .check(receive[static_cast<std::size_t>(rank)], what.result(layout, rank, ranks), iteration);
      if (found) count += found->count;
    }
    return count;
  }

  [[nodiscard]] std::string name() const {
    return fmt::format("{} {} {} {} ranks", operation(what.id).name, traits(type).name,
                       reduction ? collbench::name(*reduction) : "", ranks);
  }
};

void for_every_world(const std::function<void(const World&)>& test) {
  for (const Collective* what : collectives()) {
    for (const DataTypeTraits& type : data_types()) {
      for (const int ranks : {2, 3, 4, 5, 16}) {
        std::vector<std::optional<Reduction>> kinds{std::nullopt};
        if (operation(what->id).reduces) kinds.assign(reductions().begin(), reductions().end());
        for (const auto& kind : kinds) {
          const World world{.what = *what, .type = type.id, .reduction = kind, .ranks = ranks};
          SCOPED_TRACE(world.name());
          test(world);
        }
      }
    }
  }
}

TEST(DataPattern, TheRightResultIsFoundRight) {
  for_every_world([](const World& world) {
    for (const std::uint64_t iteration : {0U, 1U, 2U, 300U}) {
      EXPECT_EQ(world.wrong(world.received(world.sent(iteration)), iteration), 0U);
    }
  });
}

TEST(DataPattern, EveryPartialResultIsExactHoweverManyRanks) {
  // The types with the fewest exact integers. Reference reduces in another order than the pattern's own
  // table: were a partial result inexact, the two would differ somewhere.
  for (const DataType type : {DataType::int8, DataType::float16, DataType::bfloat16, DataType::float8_e4m3,
                              DataType::float8_e5m2}) {
    for (const Reduction reduction : reductions()) {
      for (const int ranks : {1, 40, 270}) {
        World world{.what = collective(OperationId::all_reduce),
                    .type = type,
                    .reduction = reduction,
                    .ranks = ranks};
        SCOPED_TRACE(world.name());
        world.layout = world.what.layout(300 * traits(type).bytes, traits(type).bytes, ranks);
        const Bytes result = world.received(world.sent(1)).front();
        EXPECT_FALSE(DataPattern(type, reduction, 0, ranks)
                         .check(result, world.what.result(world.layout, 0, ranks), 1));
      }
    }
  }
}

TEST(DataPattern, AnOperationThatDoesNothingIsWrongAtEveryElement) {
  for_every_world([](const World& world) {
    if (world.reduction == Reduction::prod && traits(world.type).bytes == 1)
      return;  // any byte may be a product
    std::vector<Bytes> receive(static_cast<std::size_t>(world.ranks),
                               Bytes(world.layout.receive_elements * traits(world.type).bytes));
    for (Bytes& buffer : receive) poison(buffer);
    EXPECT_EQ(world.wrong(receive, 1),
              world.layout.receive_elements * static_cast<std::uint64_t>(world.ranks));
  });
}

TEST(DataPattern, TheLastIterationsResultIsFoundStale) {
  for_every_world([](const World& world) { EXPECT_GT(world.wrong(world.received(world.sent(1)), 2), 0U); });
}

TEST(DataPattern, AShiftByOneElementIsFound) {
  for_every_world([](const World& world) {
    std::vector<Bytes> receive = world.received(world.sent(1));
    const auto step = static_cast<std::ptrdiff_t>(traits(world.type).bytes);
    for (Bytes& buffer : receive) std::rotate(buffer.begin(), buffer.begin() + step, buffer.end());
    EXPECT_GT(world.wrong(receive, 1), 0U);
  });
}

TEST(DataPattern, TwoBlocksSwappedAreFound) {
  for_every_world([](const World& world) {
    // Two blocks of one rank's result, or, where that is one block, the results of two ranks, or its two
    // halves.
    std::vector<Bytes> receive = world.received(world.sent(1));
    if (world.what.id == OperationId::reduce_scatter || world.what.id == OperationId::send_recv) {
      std::swap(receive[0], receive[1]);
    } else {
      const std::uint64_t parts =
          world.what.id == OperationId::all_reduce ? 2 : static_cast<std::uint64_t>(world.ranks);
      const auto block =
          static_cast<std::ptrdiff_t>(world.layout.receive_elements / parts * traits(world.type).bytes);
      std::swap_ranges(receive[0].begin(), receive[0].begin() + block, receive[0].begin() + block);
    }
    EXPECT_GT(world.wrong(receive, 1), 0U);
  });
}

TEST(DataPattern, OneRanksPartMissingIsFound) {
  for_every_world([](const World& world) {
    for (const int missing : {0, world.ranks - 1}) {
      std::vector<Bytes> send = world.sent(1);
      if (world.reduction) {
        // Reduced without it: a world in which its part is the last other rank's again would be a doubled
        // one.
        World without = world;
        without.ranks = world.ranks - 1;
        send.erase(send.begin() + missing);
        std::vector<Bytes> receive =
            Reference(world.what.id, world.layout, world.type, world.reduction, without.ranks)
                .receive_buffers(send);
        receive.insert(receive.begin() + missing, receive.front());
        EXPECT_GT(world.wrong(receive, 1), 0U);
      } else {
        const std::vector<Bytes> receive = world.received(send);
        poison(send[static_cast<std::size_t>(missing)]);
        EXPECT_GT(world.wrong(world.received(send), 1), 0U);
      }
    }
  });
}

TEST(DataPattern, OneRanksPartDoubledIsFound) {
  for_every_world([](const World& world) {
    // The smaller or larger of a value and itself is that value: nobody can see it doubled.
    if (world.reduction == Reduction::min || world.reduction == Reduction::max) return;
    std::vector<Bytes> send = world.sent(1);
    if (world.reduction) {
      std::vector<Bytes> twice = send;
      twice.push_back(send.back());
      const std::vector<Bytes> receive =
          Reference(world.what.id, world.layout, world.type, world.reduction, world.ranks)
              .receive_buffers(twice);
      EXPECT_GT(world.wrong(receive, 1), 0U);
    } else {
      send.front() = send.back();  // one rank's data arrives twice, in its own place and in another's
      EXPECT_GT(world.wrong(world.received(send), 1), 0U);
    }
  });
}

TEST(DataPattern, OneWrongElementIsCountedAndNamed) {
  const World world{
      .what = collective(OperationId::all_gather), .type = DataType::int32, .reduction = {}, .ranks = 4};
  std::vector<Bytes> receive = world.received(world.sent(1));
  std::int32_t before = 0;
  std::memcpy(&before, receive[2].data() + 101 * sizeof before, sizeof before);
  const std::int32_t broken = -7;
  std::memcpy(receive[2].data() + 101 * sizeof broken, &broken, sizeof broken);
  const auto found = DataPattern(world.type, world.reduction, 2, 4)
                         .check(receive[2], world.what.result(world.layout, 2, 4), 1);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->count, 1U);
  EXPECT_EQ(found->first_index, 101U);
  EXPECT_EQ(found->expected, std::to_string(before));
  EXPECT_EQ(found->got, "-7");
}

}  // namespace
}  // namespace collbench
