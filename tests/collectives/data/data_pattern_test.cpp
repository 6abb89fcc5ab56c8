#include "collectives/data/data_pattern.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "base/record/traffic_matrix.hpp"
#include "collectives/operations.hpp"
#include "tests/collectives/reference.hpp"

namespace collbench::collectives::data_pattern_test {
namespace {

/// All ranks of one operation, in one process.
struct World {
  Collective what;
  DataType type;
  std::optional<Reduction> reduction;
  int ranks;
  int root = 0;
  /// Enough elements for every fault to show in every type.
  std::uint64_t count = 40;
  TrafficMatrix traffic = traffic_by_distance(ranks);

  [[nodiscard]] CallContext call(int rank) const {
    return {.rank = rank, .ranks = ranks, .root = root, .traffic = &traffic};
  }
  [[nodiscard]] Layout layout(int rank) const { return what.layout(count, call(rank)); }
  [[nodiscard]] std::vector<Segment> result(int rank) const { return what.result(layout(rank), call(rank)); }

  [[nodiscard]] std::vector<Bytes> sent(std::uint64_t iteration) const {
    std::vector<Bytes> buffers;
    const DataPattern pattern(type, reduction, 0, ranks);
    for (int rank = 0; rank < ranks; ++rank) {
      Bytes& buffer = buffers.emplace_back(layout(rank).send_elements * traits(type).bytes);
      pattern.as_put_in_by(rank).fill(buffer, iteration);
    }
    return buffers;
  }

  [[nodiscard]] std::vector<Bytes> received(const std::vector<Bytes>& send) const {
    return Reference(what.id, count, type, reduction, ranks, root).receive_buffers(send);
  }

  /// The last rank that puts anything in, and one that gets something.
  [[nodiscard]] std::size_t last_sender() const {
    int rank = ranks - 1;
    while (layout(rank).send_elements == 0) --rank;
    return static_cast<std::size_t>(rank);
  }
  [[nodiscard]] std::size_t receiver() const {
    int rank = 0;
    while (layout(rank).receive_elements == 0) ++rank;
    return static_cast<std::size_t>(rank);
  }

  /// How many elements of all ranks are found wrong.
  [[nodiscard]] std::uint64_t wrong(const std::vector<Bytes>& receive, std::uint64_t iteration) const {
    std::uint64_t elements = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto found = DataPattern(type, reduction, rank, ranks)  // as this rank builds it in a run
                             .check(receive[static_cast<std::size_t>(rank)], result(rank), iteration);
      if (found) elements += found->count;
    }
    return elements;
  }

  [[nodiscard]] std::string name() const {
    return fmt::format("{} {} {} {} ranks, root {}", operation(what.id).name, traits(type).name,
                       reduction ? collbench::name(*reduction) : "", ranks, root);
  }
};

std::vector<int> roots(const Operation& operation, int ranks) {
  return operation.has_root ? std::vector<int>{0, ranks / 2, ranks - 1} : std::vector<int>{0};
}

void for_every_world(const std::function<void(const World&)>& test) {
  for (const OperationId id : measurable_operations()) {
    const Collective what = collective(id);
    for (const DataTypeTraits& type : data_types()) {
      for (const int ranks : {2, 3, 4, 5, 16}) {
        std::vector<std::optional<Reduction>> kinds{std::nullopt};
        if (operation(what.id).reduces) kinds.assign(reductions().begin(), reductions().end());
        for (const auto& kind : kinds) {
          for (const int root : roots(operation(what.id), ranks)) {
            const World world{.what = what, .type = type.id, .reduction = kind, .ranks = ranks, .root = root};
            SCOPED_TRACE(world.name());
            test(world);
          }
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
  // table: were a partial result inexact, the two would differ somewhere. One rank receives: the others'
  // results would be the same sums again.
  for (const DataType type : {DataType::int8, DataType::float16, DataType::bfloat16, DataType::float8_e4m3,
                              DataType::float8_e5m2}) {
    for (const Reduction reduction : reductions()) {
      for (const int ranks : {1, 40, 270}) {
        World world{
            .what = collective(OperationId::reduce), .type = type, .reduction = reduction, .ranks = ranks};
        SCOPED_TRACE(world.name());
        world.count = 300;
        const Bytes result = world.received(world.sent(1)).front();
        EXPECT_FALSE(DataPattern(type, reduction, 0, ranks).check(result, world.result(0), 1));
      }
    }
  }
}

TEST(DataPattern, AnOperationThatDoesNothingIsWrongAtEveryElement) {
  for_every_world([](const World& world) {
    if (world.reduction == Reduction::prod && traits(world.type).bytes == 1)
      return;  // any byte may be a product
    std::vector<Bytes> receive;
    std::uint64_t elements = 0;
    for (int rank = 0; rank < world.ranks; ++rank) {
      elements += world.layout(rank).receive_elements;
      poison(receive.emplace_back(world.layout(rank).receive_elements * traits(world.type).bytes));
    }
    EXPECT_EQ(world.wrong(receive, 1), elements);
  });
}

TEST(DataPattern, TheLastIterationsResultIsFoundStale) {
  for_every_world([](const World& world) {
    for (const std::uint64_t later : {2U, 257U, 513U, 1000U}) {
      EXPECT_GT(world.wrong(world.received(world.sent(1)), later), 0U) << later;
    }
  });
}

TEST(DataPattern, AShiftByOneElementIsFound) {
  for_every_world([](const World& world) {
    std::vector<Bytes> receive = world.received(world.sent(1));
    const auto step = static_cast<std::ptrdiff_t>(traits(world.type).bytes);
    for (Bytes& buffer : receive) {
      if (!buffer.empty()) std::rotate(buffer.begin(), buffer.begin() + step, buffer.end());
    }
    EXPECT_GT(world.wrong(receive, 1), 0U);
  });
}

TEST(DataPattern, TwoBlocksSwappedAreFound) {
  for_every_world([](const World& world) {
    // Two blocks of one rank's result, or, where that is one block, the results of two ranks, or its two
    // halves.
    std::vector<Bytes> receive = world.received(world.sent(1));
    using enum OperationId;
    const OperationId id = world.what.id;
    if (id == reduce_scatter || id == send_recv || id == scatter) {
      std::swap(receive[0], receive[1]);
    } else {
      const bool of_blocks = id == all_gather || id == all_to_all || id == gather;
      Bytes& buffer = receive[world.receiver()];
      const std::size_t elements = buffer.size() / traits(world.type).bytes;
      const auto block = static_cast<std::ptrdiff_t>(
          elements / (of_blocks ? static_cast<std::size_t>(world.ranks) : 2) * traits(world.type).bytes);
      std::swap_ranges(buffer.begin(), buffer.begin() + block, buffer.begin() + block);
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
        without.root = std::min(world.root, without.ranks - 1);
        std::vector<Bytes> receive =
            Reference(world.what.id, world.count, world.type, world.reduction, without.ranks, without.root)
                .receive_buffers(send);
        const Bytes result = receive[without.receiver()];
        // Where only the root gets anything, the others still get nothing.
        for (Bytes& buffer : receive) buffer = operation(world.what.id).has_root ? Bytes() : buffer;
        receive.insert(receive.begin() + missing, operation(world.what.id).has_root ? Bytes() : result);
        receive[world.receiver()] = result;
        EXPECT_GT(world.wrong(receive, 1), 0U);
      } else {
        Bytes& part = send[static_cast<std::size_t>(missing)];
        if (part.empty()) continue;  // of a Broadcast, only the root puts anything in
        poison(part);
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
          Reference(world.what.id, world.count, world.type, world.reduction, world.ranks, world.root)
              .receive_buffers(twice);
      EXPECT_GT(world.wrong(receive, 1), 0U);
    } else {
      // One rank's data arrives twice, in its own place and in another's; or, of the one rank that has any,
      // its first half does.
      Bytes& last = send[world.last_sender()];
      const bool alone = operation(world.what.id).has_root && world.what.id != OperationId::gather;
      if (alone) {
        const auto half = static_cast<std::ptrdiff_t>(last.size() / traits(world.type).bytes / 2 *
                                                      traits(world.type).bytes);
        std::copy(last.begin(), last.begin() + half, last.begin() + half);
      } else {
        std::copy_n(last.begin(), std::min(last.size(), send.front().size()), send.front().begin());
      }
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
  const auto found = DataPattern(world.type, world.reduction, 2, 4).check(receive[2], world.result(2), 1);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->count, 1U);
  EXPECT_EQ(found->first_index, 101U);
  EXPECT_EQ(found->expected, std::to_string(before));
  EXPECT_EQ(found->got, "-7");
}

}  // namespace
}  // namespace collbench::collectives::data_pattern_test
