#include "src/run/telemetry.hpp"

#include <gmock/gmock.h>

#include "tests/launch/rank_threads.hpp"

namespace collbench::program::telemetry_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

/// Two nodes of two ranks.
Identities machines() {
  Identities machines;
  for (int rank = 0; rank < 4; ++rank) {
    machines.push_back(
        {.rank = rank, .host = rank < 2 ? "n1" : "n2", .node = rank / 2, .local_rank = rank % 2});
  }
  return machines;
}

GatheredTelemetry gathered(const std::vector<collectives::VisibleGpu>& gpus,
                           const std::vector<topology::TelemetryLog>& of_nodes) {
  GatheredTelemetry result;
  launch::run_rank_threads(4, [&](launch::Ranks& ranks) {
    const auto node = static_cast<std::size_t>(ranks.rank()) / 2;
    GatheredTelemetry mine =
        gather_telemetry(ranks, machines(), gpus, ranks.rank() % 2 == 0 ? &of_nodes.at(node) : nullptr);
    if (ranks.is_root()) {
      result = std::move(mine);
    } else {
      EXPECT_THAT(mine.telemetry.gpus, IsEmpty());
    }
  });
  return result;
}

TEST(ErrorCounters, OfEachHostWhatWentUpIsSaid) {
  launch::run_rank_threads(4, [&](launch::Ranks& ranks) {
    const Identity mine = machines().at(static_cast<std::size_t>(ranks.rank()));
    topology::ErrorCounters before;
    topology::ErrorCounters now;
    if (mine.local_rank == 0) {
      before = {mine.host,
                10,
                {{"eth0 carrier_changes", 1}, {"mlx5_0/1 out_of_sequence", 1}, {"memory mc0 ue_count", 0}},
                {}};
      now = {mine.host,
             30,
             {{"eth0 carrier_changes", mine.node == 0 ? 1 : 3},
              {"mlx5_0/1 out_of_sequence", 9},
              {"memory mc0 ue_count", mine.node == 0 ? 1 : 0}},
             {}};
    }
    const CounterNotes rises = gather_counter_rises(ranks, before, now);
    if (ranks.is_root()) {
      EXPECT_THAT(rises.network,
                  ElementsAre(testing::StartsWith("n2 eth0 carrier_changes: 1 to 3 within 20 s, noted")));
      EXPECT_THAT(rises.machine, ElementsAre(testing::HasSubstr("memory mc0 ue_count: 0 to 1")));
    } else {
      EXPECT_THAT(rises.network, IsEmpty());
    }
  });
}

topology::TelemetryLog log(const std::string& uuid, const std::string& address) {
  topology::GpuReading reading;
  reading.source = TelemetrySource::nvml;
  reading.uuid = uuid;
  reading.address = address;
  reading.throttled_by = {GpuTrouble::sw_power_cap};
  topology::TelemetryLog log;
  log.add({reading}, {.seconds_since_last = 1, .during = {2}, .since_last = {2}});
  return log;
}

TEST(GatherTelemetry, MergesTheHostsAndNamesThem) {
  topology::TelemetryLog twice = log("GPU-b", "0000:01:00.0");
  twice.add({}, {});
  const GatheredTelemetry all = gathered({{"0000:01:00.0", "GPU-a"},
                                          {"0000:02:00.0", "GPU-x"},
                                          {"0000:01:00.0", "GPU-b"},
                                          {"0000:02:00.0", "GPU-y"}},
                                         {log("GPU-a", "0000:01:00.0"), twice});
  EXPECT_EQ(all.telemetry.readings, 1) << "of the host that has fewest";
  ASSERT_EQ(all.telemetry.gpus.size(), 2U);
  EXPECT_EQ(all.telemetry.gpus[0].host, "n1");
  EXPECT_EQ(all.telemetry.gpus[0].source, TelemetrySource::nvml);
  EXPECT_EQ(all.telemetry.gpus[1].uuid, "GPU-b");
  EXPECT_THAT(all.marks, ElementsAre(Pair(2, ElementsAre(RowMark{"n1", "GPU-a", GpuTrouble::sw_power_cap},
                                                         RowMark{"n2", "GPU-b", GpuTrouble::sw_power_cap}))));
  EXPECT_THAT(all.telemetry.notes,
              ElementsAre("n1: unknown: NVML has no reading of GPU 0000:02:00.0, which rank 1 uses",
                          HasSubstr("n2: GPU 0000:01:00.0 disappeared during the run"),
                          "n2: unknown: NVML has no reading of GPU 0000:02:00.0, which rank 3 uses"));
}

TEST(GatherTelemetry, LeavesOutGpusThatNoRankOfTheHostUses) {
  const std::vector<collectives::VisibleGpu> gpus(4, {"0000:01:00.0", "GPU-a"});
  const GatheredTelemetry all =
      gathered(gpus, {log("GPU-other", "0000:02:00.0"), log("GPU-a", "0000:01:00.0")});
  ASSERT_EQ(all.telemetry.gpus.size(), 1U);
  EXPECT_EQ(all.telemetry.gpus[0].host, "n2");
  EXPECT_THAT(all.marks, ElementsAre(Pair(2, testing::SizeIs(1))));
  EXPECT_THAT(all.telemetry.notes,
              ElementsAre("n1: unknown: NVML has no reading of GPU 0000:01:00.0, which ranks 0, 1 use"));
}

TEST(GatherTelemetry, AMigDeviceIsKnownByItsGpusAddress) {
  const std::vector<collectives::VisibleGpu> gpus(4, {"0000:9A:00.0", "MIG-1"});
  const GatheredTelemetry all = gathered(gpus, {log("GPU-a", "0000:9a:00.0"), log("GPU-b", "0000:9a:00.0")});
  EXPECT_EQ(all.telemetry.gpus.size(), 2U);
}

}  // namespace
}  // namespace collbench::program::telemetry_test
