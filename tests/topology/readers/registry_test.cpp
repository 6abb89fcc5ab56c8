#include <gmock/gmock.h>

#include <set>
#include <string>

#include "tests/topology/fixture.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology::registry_test {
namespace {

std::string listed(const std::string& text) {
  const Host host = read_any_topology(text, "FILE").hosts.at(0);
  return std::string(lists_all(host, DeviceKind::gpu) ? "GPUs " : "") +
         (lists_all(host, DeviceKind::nic) ? "NICs" : "");
}

TEST(Registry, EachSourceListsItsOwnDevices) {
  for (const char* file : {"hwloc1.xml", "hwloc2.xml", "nccl_topology.xml", "topo_m.txt"})
    EXPECT_EQ(listed(fixture(file)), "GPUs NICs") << file;
  for (const char* file : {"nvlink_s.txt", "query.xml", "query_gpu.csv", "topo_p2p.txt", "nccl_graph.xml"})
    EXPECT_EQ(listed(fixture(file)), "GPUs ") << file;
  const std::string seeds = source_folder() + "/tests/fuzz/seeds/";
  EXPECT_EQ(listed(read_file(seeds + "lspci_fuzz/two_switches")), "GPUs NICs");
  EXPECT_EQ(listed(read_file(seeds + "ibstat_fuzz/two_devices")), "NICs");
  EXPECT_EQ(listed(fixture("nvlink_s.txt") + fixture("topo_m.txt")), "GPUs NICs");
}

TEST(Registry, ASourceOfWhichNothingIsKnownListsAll) {
  Host host;
  EXPECT_TRUE(lists_all(host, DeviceKind::gpu));
  host.sources = {kSystemReader.source("live"), kFabricManagerReader.source("live")};
  EXPECT_FALSE(lists_all(host, DeviceKind::gpu));
  EXPECT_FALSE(lists_all(host, DeviceKind::nic));
  host.sources.push_back({"a reader of another version", "live", ""});
  EXPECT_TRUE(lists_all(host, DeviceKind::gpu));
}

TEST(Registry, NamesAreUniqueAndWhatIsRecognizedIsRead) {
  std::set<std::string_view> names;
  for (const TopologyReader* reader : topology_readers()) {
    EXPECT_TRUE(names.insert(reader->name).second) << reader->name;
    EXPECT_EQ(reader->recognizes == nullptr, reader->read == nullptr) << reader->name;
    EXPECT_EQ(reader->recognizes_tree == nullptr, reader->read_tree == nullptr) << reader->name;
  }
}

TEST(Registry, EveryReaderSignsWhatItReads) {
  for (const char* file : {"hwloc1.xml", "nccl_topology.xml", "nccl_graph.xml", "topo_m.txt", "topo_p2p.txt",
                           "nvlink_s.txt", "query.xml", "query_gpu.csv"}) {
    const std::string text = fixture(file);
    const ReaderInput input(text);
    for (const TopologyReader* reader : topology_readers()) {
      if (reader->recognizes == nullptr || !reader->recognizes(input)) continue;
      EXPECT_EQ(reader->read(text, file).sources.at(0).reader, reader->name);
    }
  }
}

}  // namespace
}  // namespace collbench::topology::registry_test
