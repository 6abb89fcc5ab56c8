#include "launch/mpi/mpi_session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

namespace collbench::launch::mpi_ranks_test {
namespace {

/// Of another length on each rank, the empty one among them.
std::string text_of(int rank) {
  return std::string(static_cast<std::size_t>(1000 * rank), 'a') + char('a' + rank);
}

std::vector<std::string> texts_of(const Ranks& ranks) {
  std::vector<std::string> texts{""};
  for (int rank = 1; rank < ranks.size(); ++rank) texts.push_back(text_of(rank));
  return texts;
}

TEST(MpiRanks, TextsOfAllArriveByRank) {
  CallCounter exchanges;
  const auto ranks = make_mpi_ranks(exchanges);
  const std::string mine = ranks->is_root() ? "" : text_of(ranks->rank());
  EXPECT_EQ(ranks->all_gather(mine), texts_of(*ranks));
  EXPECT_EQ(ranks->gather(mine), ranks->is_root() ? texts_of(*ranks) : std::vector<std::string>{});
}

TEST(MpiRanks, ReductionsAreOverAllRanksAndTheSameOnEach) {
  CallCounter exchanges;
  const auto ranks = make_mpi_ranks(exchanges);
  const int last = ranks->size() - 1;
  const auto reduced = [&](RankAggregate how) {
    std::array<double, 2> values{10.0 + ranks->rank(), -1.0 * ranks->rank()};
    ranks->reduce(values, how);
    return values;
  };
  EXPECT_THAT(reduced(RankAggregate::minimum), testing::ElementsAre(10, -last));
  EXPECT_THAT(reduced(RankAggregate::maximum), testing::ElementsAre(10 + last, 0));
  EXPECT_THAT(reduced(RankAggregate::average), testing::ElementsAre(10 + last / 2.0, -last / 2.0));
  EXPECT_THAT(reduced(RankAggregate::rank0), testing::ElementsAre(10, 0));
}

TEST(MpiRanks, AnyRankCanBroadcast) {
  CallCounter exchanges;
  const auto ranks = make_mpi_ranks(exchanges);
  for (int root = 0; root < ranks->size(); ++root)
    EXPECT_EQ(broadcast_value(*ranks, ranks->rank(), root), root);
}

TEST(MpiRanks, AnyThreadAsksForTheNumbersOfAGroup) {
  CallCounter exchanges;
  const auto all = make_mpi_ranks(exchanges);
  EXPECT_EQ(all->number_in_run(all->rank()), all->rank());
  const auto group = make_mpi_ranks(exchanges, all->rank() % 2);  // the even ones, and the odd ones
  const auto ask_often = [&] {
    for (int time = 0; time < 10000; ++time)
      for (int rank = 0; rank < group->size(); ++rank)
        ASSERT_EQ(group->number_in_run(rank), 2 * rank + all->rank() % 2);
  };
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread) threads.emplace_back(ask_often);
}

}  // namespace
}  // namespace collbench::launch::mpi_ranks_test
