#include "topology/telemetry_log.hpp"

#include <gmock/gmock.h>

namespace collbench::telemetry_log_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

constexpr auto kCap = GpuTrouble::sw_power_cap;
constexpr auto kHot = GpuTrouble::hw_thermal_slowdown;

GpuReading reading(const std::string& address = "a") {
  GpuReading gpu;
  gpu.address = address;
  gpu.uuid = "GPU-" + address;
  return gpu;
}

RowMark mark(GpuTrouble trouble, const std::string& gpu = "GPU-a") { return {"", gpu, trouble}; }

TEST(TelemetryLog, KeepsTheFirstTheExtremesAndTheLast) {
  TelemetryLog log;
  for (const double watts : {100.0, 70.0, 690.0, 300.0}) {
    GpuReading gpu = reading();
    gpu.power_watts = watts;
    log.add({gpu}, {});
  }
  EXPECT_EQ(log.readings(), 4);
  ASSERT_EQ(log.gpus().size(), 1U);
  EXPECT_EQ(log.gpus()[0].power_watts, (Gauge{100, 70, 690, 300}));
  EXPECT_EQ(log.gpus()[0].sm_clock_hertz, std::nullopt);
}

TEST(TelemetryLog, AReasonThatHoldsMarksWhatRanDuringTheReading) {
  TelemetryLog log;
  log.add({reading("a"), reading("b")}, {});
  GpuReading hot = reading("b");
  hot.throttled_by = {kHot};
  log.add({reading("a"), hot}, {.seconds_since_last = 1, .during = {3, 4}, .since_last = {1, 2, 3, 4}});
  EXPECT_THAT(log.marks(), ElementsAre(Pair(3, ElementsAre(mark(kHot, "GPU-b"))),
                                       Pair(4, ElementsAre(mark(kHot, "GPU-b")))));
  EXPECT_THAT(log.gpus()[0].troubles, IsEmpty());
  EXPECT_THAT(log.gpus()[1].troubles, ElementsAre(kHot));
}

TEST(TelemetryLog, WhatWasCountedMarksAllThatRanSince) {
  TelemetryLog log;
  GpuReading gpu = reading();
  gpu.ecc_corrected = 5;
  gpu.ecc_uncorrected = 1;
  gpu.pcie_replays = 9;
  log.add({gpu}, {});
  EXPECT_THAT(log.marks(), IsEmpty()) << "what was there before the run is none of its troubles";
  gpu.pcie_replays = 10;
  log.add({gpu}, {.seconds_since_last = 1, .during = {2}, .since_last = {1, 2}});
  EXPECT_THAT(log.marks(), ElementsAre(Pair(1, ElementsAre(mark(GpuTrouble::pcie_replays))),
                                       Pair(2, ElementsAre(mark(GpuTrouble::pcie_replays)))));
  log.add({gpu}, {.seconds_since_last = 1, .during = {3}, .since_last = {3}});
  EXPECT_EQ(log.marks().size(), 2U);
  EXPECT_EQ(log.gpus()[0].pcie_replays, (CounterChange{9, 10}));
  gpu.ecc_corrected = 6;
  gpu.ecc_uncorrected = 2;
  log.add({gpu}, {.seconds_since_last = 1, .during = {}, .since_last = {4}});
  EXPECT_THAT(log.marks().at(4),
              ElementsAre(mark(GpuTrouble::ecc_corrected), mark(GpuTrouble::ecc_uncorrected)));
}

TEST(TelemetryLog, AReasonBetweenReadingsCountsFromOnePercentOfTheTime) {
  TelemetryLog log;
  GpuReading gpu = reading();
  gpu.throttled_seconds[kCap] = 100;
  log.add({gpu}, {});
  gpu.throttled_seconds[kCap] += 0.019;
  log.add({gpu}, {.seconds_since_last = 2, .during = {1}, .since_last = {1}});
  EXPECT_THAT(log.marks(), IsEmpty());
  gpu.throttled_seconds[kCap] += 0.021;
  log.add({gpu}, {.seconds_since_last = 2, .during = {3}, .since_last = {2, 3}});
  EXPECT_THAT(log.marks(), ElementsAre(Pair(2, ElementsAre(mark(kCap))), Pair(3, ElementsAre(mark(kCap)))));
  log.add({gpu}, {.seconds_since_last = 2, .during = {5}, .since_last = {5}});
  EXPECT_EQ(log.marks().size(), 2U);
}

TEST(TelemetryLog, ACounterThatStartsAnewIsNoTrouble) {
  TelemetryLog log;
  GpuReading gpu = reading();
  gpu.ecc_corrected = 5;
  gpu.throttled_seconds[kCap] = 100;
  log.add({gpu}, {});
  gpu.ecc_corrected = 0;
  gpu.throttled_seconds[kCap] = 0;
  log.add({gpu}, {.seconds_since_last = 1, .during = {1}, .since_last = {1}});
  EXPECT_THAT(log.marks(), IsEmpty());
}

TEST(TelemetryLog, AGpuThatVanishesIsSaidOnce) {
  TelemetryLog log;
  log.add({reading("a"), reading("b")}, {});
  log.add({reading("a")}, {});
  log.add({reading("a")}, {});
  EXPECT_THAT(log.notes(), ElementsAre(HasSubstr("no longer shows GPU b")));
}

}  // namespace
}  // namespace collbench::telemetry_log_test
