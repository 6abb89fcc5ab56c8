#include "topology/readers/source_coverage.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/topology/fixture.hpp"
#include "topology/readers/read_any.hpp"

namespace collbench::topology::source_coverage_test {
namespace {

std::string told(const std::string& text) {
  const Host host = read_any_topology(text, "FILE").hosts.at(0);
  return std::string(source_coverage(host, DeviceKind::gpu) ? "GPUs " : "") +
         (source_coverage(host, DeviceKind::nic) ? "NICs" : "");
}

TEST(ToldDevices, EachSourceTellsOfItsOwn) {
  for (const char* file : {"hwloc1.xml", "hwloc2.xml", "nccl_topology.xml", "topo_m.txt"})
    EXPECT_EQ(told(fixture(file)), "GPUs NICs") << file;
  for (const char* file : {"nvlink_s.txt", "query.xml", "query_gpu.csv", "topo_p2p.txt", "nccl_graph.xml"})
    EXPECT_EQ(told(fixture(file)), "GPUs ") << file;
  const std::string seeds = source_folder() + "/tests/fuzz/seeds/";
  EXPECT_EQ(told(read_file(seeds + "lspci_fuzz/two_switches")), "GPUs NICs");
  EXPECT_EQ(told(read_file(seeds + "ibstat_fuzz/two_devices")), "NICs");
  EXPECT_EQ(told(fixture("nvlink_s.txt") + fixture("topo_m.txt")), "GPUs NICs");
}

}  // namespace
}  // namespace collbench::topology::source_coverage_test
