#include "analysis/counters/counter_rises.hpp"

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
  EXPECT_EQ(grade_of(rise_of("PCI 0000:01:00.0 aer_dev_nonfatal", 1)), RiseGrade::degraded);
  EXPECT_EQ(grade_of(rise_of("PCI 0000:01:00.0 aer_dev_correctable", 1'000)), RiseGrade::noted);
  EXPECT_EQ(grade_of(rise_of("GPU 0 NVLink 3 Replay Errors", 1)), RiseGrade::fatal);
  EXPECT_EQ(grade_of(rise_of("GPU 0 NVLink 3 Recovery Errors", 1)), RiseGrade::fatal);
  EXPECT_EQ(grade_of(rise_of("GPU 0 NVLink 3 CRC Errors", 3000)), RiseGrade::noted);  // 100 a second
  EXPECT_EQ(grade_of(rise_of("GPU 0 NVLink 3 CRC Errors", 3001)), RiseGrade::degraded);
  EXPECT_EQ(grade_of(rise_of("GPU 0000:01:00.0 pcie_replays", 4)), RiseGrade::noted);  // 8 a minute
  EXPECT_EQ(grade_of(rise_of("GPU 0000:01:00.0 pcie_replays", 5)), RiseGrade::degraded);
  EXPECT_EQ(grade_of(rise_of("mlx5_0/1 not_a_symbol_error", 1'000'000)), RiseGrade::noted);
}

TEST(CounterRises, HaveNoRateWhereTheTimeOfDayWasSetBack) {
  EXPECT_EQ(grade_of(rise_of("mlx5_0/1 symbol_error", 301, -3570)), RiseGrade::noted);
  EXPECT_EQ(grade_of(rise_of("mlx5_0/1 link_downed", 1, -3570)), RiseGrade::fatal);
  EXPECT_EQ(rise_words(rise_of("mlx5_0/1 symbol_error", 301, -3570)),
            "host1 mlx5_0/1 symbol_error: 4 to 305 within an unknown time, noted "
            "(above 10 a second is too many)");
}

TEST(CounterRises, EachHostOfWhichSomethingWasNotReadIsNamed) {
  const std::vector<topology::ErrorCounters> looks{{"n0.example", 0, {}, {"no ports", "dmesg: refused"}},
                                                   {"n1", 0, {}, {"no ports"}},
                                                   {"n2", 0, {}, {"no ports"}}};
  EXPECT_THAT(counter_notes({"n0", "n1", "n2"}, looks),
              ElementsAre("n0: dmesg: refused", "all hosts: no ports"));
  EXPECT_THAT(counter_notes({"n0", "n1", "n2", "n3"}, looks),
              ElementsAre("n0: dmesg: refused", "n0, n1, n2: no ports"));
}

TEST(CounterRises, WhatFellOrIsGoneHasNoAnswer) {
  const topology::ErrorCounters before{"host1", 100, {{"eth0 a", 50}, {"eth0 b", 2}, {"eth7 a", 0}}, {}};
  const topology::ErrorCounters after{"host1", 200, {{"eth0 a", 2}, {"eth0 b", 2}, {"eth1 a", 9}}, {}};
  const CountersWithoutAnswer found = counters_without_answer(before, after);
  EXPECT_THAT(found.fell, ElementsAre("eth0 a, 50 to 2"));
  EXPECT_THAT(found.gone, ElementsAre("eth7 a"));
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
