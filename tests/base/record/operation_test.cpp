#include "base/record/operation.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string_view>

namespace collbench::operation_test {
namespace {

/// One row of the table of nccl-tests 2.19.6, and PingPong and Step, which it lacks; with the busbw of 1 GB
/// in 1 s worked out by hand in GB/s.
struct Known {
  OperationId id;
  std::string_view nccl_tests_name;
  SizeMeaning size_meaning;
  double on_1_rank;
  double on_2_ranks;
  double on_3_ranks;
  double on_16_ranks;
};

constexpr std::array<Known, 13> kTable{{
    {OperationId::all_reduce, "all_reduce", SizeMeaning::buffer, 0, 1, 4.0 / 3, 1.875},
    {OperationId::all_gather, "all_gather", SizeMeaning::total, 0, 0.5, 2.0 / 3, 0.9375},
    {OperationId::reduce_scatter, "reduce_scatter", SizeMeaning::total, 0, 0.5, 2.0 / 3, 0.9375},
    {OperationId::all_to_all, "alltoall", SizeMeaning::total, 0, 0.5, 2.0 / 3, 0.9375},
    {OperationId::all_to_all_v, "alltoallv", SizeMeaning::largest_rank_total, 0, 0.5, 2.0 / 3, 0.9375},
    {OperationId::gather, "gather", SizeMeaning::total, 0, 0.5, 2.0 / 3, 0.9375},
    {OperationId::scatter, "scatter", SizeMeaning::total, 0, 0.5, 2.0 / 3, 0.9375},
    {OperationId::broadcast, "broadcast", SizeMeaning::buffer, 1, 1, 1, 1},
    {OperationId::reduce, "reduce", SizeMeaning::buffer, 1, 1, 1, 1},
    {OperationId::send_recv, "sendrecv", SizeMeaning::message, 1, 1, 1, 1},
    {OperationId::ping_pong, "", SizeMeaning::message, 1, 1, 1, 1},
    {OperationId::hypercube, "hypercube", SizeMeaning::hypercube_base, 0, 1, 2, 15},
    {OperationId::step, "", SizeMeaning::buffer, 0, 1, 4.0 / 3, 1.875},
}};

TEST(Operation, HasTheMeaningOfSizeAndTheBusBandwidthOfNcclTests) {
  for (const Known& known : kTable) {
    const Operation& one = operation(known.id);
    EXPECT_EQ(one.nccl_tests_name, known.nccl_tests_name);
    EXPECT_EQ(one.size_meaning, known.size_meaning) << one.name;
    EXPECT_DOUBLE_EQ(bus_bandwidth(one, 1'000'000'000, 1, 1) / 1e9, known.on_1_rank) << one.name;
    EXPECT_DOUBLE_EQ(bus_bandwidth(one, 1'000'000'000, 2, 1) / 1e9, known.on_2_ranks) << one.name;
    EXPECT_DOUBLE_EQ(bus_bandwidth(one, 1'000'000'000, 3, 1) / 1e9, known.on_3_ranks) << one.name;
    EXPECT_DOUBLE_EQ(bus_bandwidth(one, 1'000'000'000, 16, 1) / 1e9, known.on_16_ranks) << one.name;
  }
}

// One all_reduce_perf row of 8 A100 GPUs as nccl-tests printed it: 8159.5 us, algbw 131.59, busbw 230.29
// (microsoft/superbenchmark, tests/data/nccl_allreduce.log).
TEST(Operation, GivesTheNumbersThatAnNcclTestsLogPrints) {
  const Operation& all_reduce = operation(OperationId::all_reduce);
  EXPECT_NEAR(algorithm_bandwidth(all_reduce, 1073741824, 8, 8159.5e-6) / 1e9, 131.59, 0.005);
  EXPECT_NEAR(bus_bandwidth(all_reduce, 1073741824, 8, 8159.5e-6) / 1e9, 230.29, 0.005);
}

TEST(Operation, IsInTheTableAtItsOwnIndex) {
  ASSERT_EQ(operations().size(), kTable.size());
  for (std::size_t i = 0; i < operations().size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(operations()[i].id), i);
    EXPECT_EQ(operation(operations()[i].id).name, operations()[i].name);
  }
}

TEST(Operation, IsFoundByEachOfItsNames) {
  for (const Operation& one : operations()) {
    EXPECT_EQ(find_operation(one.name), &one);
    EXPECT_EQ(find_operation(one.option), &one);
    if (!one.nccl_tests_name.empty()) {
      EXPECT_EQ(find_operation(one.nccl_tests_name), &one);
    }
  }
  EXPECT_EQ(find_operation("ALL-REDUCE")->id, OperationId::all_reduce);
  EXPECT_EQ(find_operation("nonsense"), nullptr);
  EXPECT_EQ(find_operation(""), nullptr);
}

TEST(Operation, KnowsWhatHasARoot) {
  using enum OperationId;
  for (const Operation& one : operations()) {
    const bool rooted = one.id == broadcast || one.id == reduce || one.id == gather || one.id == scatter;
    EXPECT_EQ(one.has_root, rooted) << one.name;
  }
}

TEST(Operation, KnowsWhatItReducesAndWhatHasAnInPlaceForm) {
  const auto reduces = [](OperationId id) { return operation(id).reduces; };
  EXPECT_TRUE(reduces(OperationId::all_reduce) && reduces(OperationId::reduce_scatter) &&
              reduces(OperationId::reduce));
  EXPECT_FALSE(reduces(OperationId::all_gather) || reduces(OperationId::all_to_all) ||
               reduces(OperationId::send_recv) || reduces(OperationId::broadcast));
  const auto in_place = [](OperationId id) { return operation(id).has_in_place; };
  EXPECT_TRUE(in_place(OperationId::all_reduce) && in_place(OperationId::all_gather) &&
              in_place(OperationId::reduce_scatter));
  EXPECT_FALSE(in_place(OperationId::all_to_all) || in_place(OperationId::all_to_all_v) ||
               in_place(OperationId::send_recv));
}

}  // namespace
}  // namespace collbench::operation_test
