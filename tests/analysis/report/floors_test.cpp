#include "analysis/report/prediction.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "base/units.hpp"
#include "tests/analysis/models/nccl/clusters.hpp"

namespace collbench::analysis::floors_test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::array kAllReduce{OperationId::all_reduce};

AcceptanceFloors floors_of(const char* machine, int nodes, std::vector<std::uint64_t> sizes) {
  AcceptanceFloors floors{machine, {}, {}};
  add_floors(floors, cluster_of(machine, nodes), kAllReduce, sizes);
  return floors;
}

TEST(Floors, AreTheEdgesThatJudgeGoesBy) {
  const AcceptanceFloors floors = floors_of("hgx-h100", 2, {kGiB});
  ASSERT_EQ(floors.rows.size(), 1U);
  const AcceptanceFloor& row = floors.rows.front();
  EXPECT_EQ(row.ranks, 16);
  ASSERT_TRUE(row.floor && row.sound);
  EXPECT_NEAR(*row.floor, row.range.below * row.expected, 0.1);
  EXPECT_LE(*row.floor, row.range.below * row.expected);
  EXPECT_NEAR(*row.sound, row.range.sound * row.expected, 0.1);
}

TEST(Floors, AProvidersLimitBindsFromItsSizeOn) {
  const AcceptanceFloors floors = floors_of("ndv5", 1, {kGiB, 16 * kGiB});
  EXPECT_LT(*floors.rows[0].floor, 460);
  EXPECT_EQ(*floors.rows[1].floor, 460);
  EXPECT_EQ(floors.rows[1].sound, floors.rows[1].floor);
  EXPECT_THAT(floors.rows[1].range.source, HasSubstr("acceptance limit of 460 GB/s"));
}

TEST(Floors, WhereSoundMachinesScatterTooWidelyThereIsNone) {
  GpuCluster cluster = cluster_of("ndv5", 2);
  cluster.transport = cluster.nic_transport = Transport::sockets;
  AcceptanceFloors floors{"ndv5", {}, {}};
  add_floors(floors, cluster, kAllReduce, std::vector<std::uint64_t>{kGiB});
  EXPECT_FALSE(floors.rows.front().floor);
  EXPECT_THAT(report(floors, "text", 100),
              AllOf(HasSubstr("–"), HasSubstr("# 2 nodes: no floor"), Not(HasSubstr("mpirun"))));
  EXPECT_THAT(report(floors, "json", 100),
              AllOf(HasSubstr("\"floor_gb_per_s\": null"), HasSubstr("\"min_busbw_by_nodes\": {}")));
}

TEST(Floors, TheCommandMeasuresTheLargestSizeAndTakesItsFloor) {
  const std::string text = report(floors_of("ndv5", 1, {kGiB, 16 * kGiB}), "text", 100);
  const std::string measures =
      "-np 8 collbench --ops all_reduce --sizes 16G --fail-on none --min-busbw 'all_reduce@16G>=460.0'\n";
  EXPECT_THAT(text, HasSubstr("\nmpirun " + measures));
  EXPECT_THAT(text, HasSubstr("\n* || check_cmd_status -t 600 -r 0 mpirun --allow-run-as-root " + measures));
  EXPECT_THAT(
      report(floors_of("ndv5", 2, {kGiB}), "text", 100),
      AllOf(HasSubstr("\nmpirun -np 16 --map-by ppr:8:node collbench "), Not(HasSubstr("check_cmd_status"))));
}

TEST(Floors, TheLargestSizeIsTheProvidersWhereItHasOne) {
  EXPECT_EQ(floor_sizes("hgx-h100").back(), 8 * kGiB);
  EXPECT_EQ(floor_sizes("ndv5").back(), 16 * kGiB);
}

TEST(Floors, EveryFormatHasTheDerivation) {
  const AcceptanceFloors floors = floors_of("hgx-h100", 1, {kGiB});
  for (const char* format : {"text", "md", "csv", "json"})
    EXPECT_THAT(report(floors, format, 100), HasSubstr("× expected: NVLink within a node")) << format;
  EXPECT_THROW(static_cast<void>(report(floors, "html", 100)), Error);
}

}  // namespace
}  // namespace collbench::analysis::floors_test
