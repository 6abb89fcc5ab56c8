#include "analysis/attribution/counter_rises.hpp"

#include <gmock/gmock.h>

namespace collbench::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

CounterRise rise_of(const std::string& counter, std::uint64_t more, double seconds = 30) {
  return {"pairs", "host1", counter, 4, 4 + more, seconds};
}

TEST(CounterRises, GradesByWhatOperatorsActOn) {
  EXPECT_EQ(grade_of(rise_of("mlx5_0/1 link_downed", 1)), RiseGrade::fatal);
  EXPECT_EQ(grade_of(rise_of("mlx5_0/1 symbol_error", 300)), RiseGrade::noted);  // 10 a second
  EXPECT_EQ(grade_of(rise_of("mlx5_0/1 symbol_error", 301)), RiseGrade::degraded);
  EXPECT_EQ(grade_of(rise_of("mlx5_0/1 link_error_recovery", 3)), RiseGrade::degraded);  // 2.5 in 30 s
  EXPECT_EQ(grade_of(rise_of("eth0 carrier_changes", 2)), RiseGrade::noted);
  EXPECT_EQ(grade_of(rise_of("eth0 carrier_changes", 3)), RiseGrade::degraded);
  EXPECT_EQ(grade_of(rise_of("mlx5_0/1 out_of_sequence", 1'000'000)), RiseGrade::noted);  // no limit is known
  EXPECT_EQ(grade_of(rise_of("PCI 0000:01:00.0 aer_dev_fatal", 1)), RiseGrade::fatal);
}

TEST(CounterRises, BetweenTwoLooksWorstFirst) {
  const topology::ErrorCounters before{
      "host1",
      100,
      {{"mlx5_0/1 symbol_error", 4}, {"mlx5_0/1 link_downed", 1}, {"a set_back", 9}, {"a same", 2}},
      {}};
  const topology::ErrorCounters after{"host1",
                                      130,
                                      {{"mlx5_0/1 symbol_error", 9},
                                       {"mlx5_0/1 link_downed", 2},
                                       {"a set_back", 1},
                                       {"a same", 2},
                                       {"a new", 5}},
                                      {}};
  const std::vector<CounterRise> rises = counter_rises(before, after, "rails");
  EXPECT_THAT(rises, ElementsAre(CounterRise{"rails", "host1", "mlx5_0/1 link_downed", 1, 2, 30},
                                 CounterRise{"rails", "host1", "mlx5_0/1 symbol_error", 4, 9, 30}));
  EXPECT_EQ(rise_words(rises[0]), "host1 mlx5_0/1 link_downed: 1 to 2 within 30 s, fatal (any is too many)");
  EXPECT_THAT(counter_rises(after, after, "rails"), IsEmpty());
}

}  // namespace
}  // namespace collbench::analysis
