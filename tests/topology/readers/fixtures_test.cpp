// Our own files in every format: what they hold, counted by eye, and that nothing can be taken away unseen.
#include <gtest/gtest.h>

#include "tests/topology/diff/held.hpp"
#include "tests/topology/diff/one_removed.hpp"
#include "tests/topology/fixture.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology::fixtures_test {
namespace {

constexpr const char* kByEye = "by eye";

constexpr Held kHeld[] = {
    {"hwloc1.xml", 1, 0, 2, kNotCounted, 0, 0, kByEye},
    {"hwloc2.xml", 2, 4, 2, kNotCounted, 2, 36, "by eye; 450 GB/s each way are 18 links of 25 GB/s"},
    {"nccl_topology.xml", 2, 4, 2, 11, 2, 36, kByEye, Granularity::by_element},
    {"nccl_graph.xml", 2, 2, 0, 0, 0, 0, kByEye},
    {"nvlink_s.txt", 2, 0, 0, 0, 0, 35, kByEye},
    {"query.xml", 2, 0, 0, 2, 0, 0, kByEye},
    {"query_gpu.csv", 2, 0, 0, 2, 0, 0, kByEye},
    {"topo_m.txt", 2, 4, 0, 0, 0, 36, kByEye},
    {"topo_p2p.txt", 2, 0, 0, 0, 0, 0, kByEye},
};

constexpr UnseenRemoval kTakenAwayUnseen[] = {
    {"nccl_graph.xml", "<graph .*", "a graph is of one algorithm: the others go through the same GPUs"},
    {"nvlink_s.txt", ".*<inactive>", "a link that is not up is not counted as a link"},
};

TEST(Fixtures, HoldWhatWasCounted) {
  for (const Held& row : kHeld) {
    SCOPED_TRACE(row.file);
    EXPECT_EQ(held(row), held(row, read_any_topology(fixture(row.file), row.file).hosts.at(0)));
  }
}

TEST(Fixtures, NothingCanBeTakenAwayUnseen) {
  for (const Held& row : kHeld) expect_every_removal_is_seen(row, fixture(row.file), kTakenAwayUnseen);
}

}  // namespace
}  // namespace collbench::topology::fixtures_test
