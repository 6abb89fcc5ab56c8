#include "src/run/expectation.hpp"

#include <gmock/gmock.h>

#include "base/units.hpp"
#include "topology/machines/reference_machines.hpp"

namespace collbench::program::expectation_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

topology::ClusterTopology cluster_of(const topology::Host& host) {
  return {.distinct_hosts = {host}, .nodes = {}};
}

Identities ranks(const std::vector<int>& per_node) {
  Identities identities;
  for (std::size_t node = 0; node < per_node.size(); ++node) {
    for (int local = 0; local < per_node[node]; ++local) {
      identities.push_back({static_cast<int>(identities.size()), "", static_cast<int>(node), local});
    }
  }
  return identities;
}

TEST(JudgedBy, IsTheMachinesThatTheRunIsOn) {
  std::vector<std::string> notes;
  const auto machines = cluster_of(topology::reference_host(*topology::find_reference_machine("hgx-h100")));
  const auto by = judged_by(machines, ranks({4, 4}), "", notes);
  ASSERT_TRUE(by);
  EXPECT_EQ(by->cluster.nodes, 2);
  EXPECT_EQ(by->cluster.ranks_per_node, 4);
  EXPECT_GT(by->cluster.nvlinks, 0);
  EXPECT_EQ(by->sound.yardstick, (Yardstick{YardstickKind::detected, "hgx-h100", {}}));
  EXPECT_EQ(judged_by(machines, ranks({4, 4}), "hgx-h200", notes)->sound.yardstick,
            (Yardstick{YardstickKind::named, "hgx-h200", {}}));
  EXPECT_THAT(notes, IsEmpty());
}

TEST(JudgedBy, SaysWhyNothingIsExpected) {
  std::vector<std::string> notes;
  EXPECT_FALSE(judged_by(cluster_of(topology::Host{}), ranks({2}), "", notes));
  EXPECT_FALSE(judged_by(cluster_of(topology::Host{}), ranks({2, 1}), "", notes));
  EXPECT_FALSE(judged_by(topology::ClusterTopology{}, ranks({2}), "", notes));
  EXPECT_THAT(notes, ElementsAre(HasSubstr("GPU"), HasSubstr("different numbers of ranks"),
                                 HasSubstr("no topology was gathered")));
}

/// As `judge` of the record does.
TEST(RowExpectations, ByLinksFollowWhatTheRunCouldNotUse) {
  std::vector<std::string> notes;
  const auto machines = cluster_of(topology::reference_host(*topology::find_reference_machine("hgx-h100")));
  const auto expected_by = [&](const std::string& nccl,
                               const std::map<std::string, std::string>& environment) {
    collbench::Run run;
    run.backend = BackendId::nccl;
    run.versions.nccl = nccl;
    run.environment = environment;
    run.ranks = ranks({8});
    Row row;
    row.measurement.key.size_bytes = kGiB;
    row.measurement.seconds = 1;
    run.rows = {row};
    RowExpectations::from_links(judged_by(machines, run.ranks, "", notes)->cluster).apply(run);
    return run.rows.front().expectation.expected_by;
  };
  EXPECT_THAT(expected_by("2.28.9", {}), HasSubstr("nvls"));
  EXPECT_THAT(expected_by("2.28.9", {{"NCCL_NVLS_ENABLE", "0"}}), HasSubstr("nvls")) << "of a sound machine";
  EXPECT_THAT(expected_by("2.16.5", {}), Not(HasSubstr("nvls")));
}

}  // namespace
}  // namespace collbench::program::expectation_test
