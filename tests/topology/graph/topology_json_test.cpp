#include "topology/graph/topology_json.hpp"

#include <gmock/gmock.h>

#include "tests/base/impossible_values.hpp"
#include "tests/topology/fixture.hpp"
#include "tests/topology/refusal.hpp"
#include "topology/graph/facts.hpp"
#include "topology/graph/merge.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology::topology_json_test {
namespace {

using testing::HasSubstr;

/// Gives every fact of the item a value of its own, so that one that is not saved is missed.
template <class Item>
void fill(Item& item, int& next) {
  each_fact(
      [&next]<class T>(const char*, Fact<T>& fact) {
        ++next;
        if constexpr (std::same_as<T, std::string>) {
          fact.value = "value " + std::to_string(next) + " – µ";
        } else if constexpr (std::same_as<T, bool>) {
          fact.value = next % 2 == 0;
        } else if constexpr (std::same_as<T, PathType>) {
          fact.value = PathType::pxb;
        } else if constexpr (std::same_as<T, double>) {
          fact.value = next + 0.1;
        } else {
          fact.value = static_cast<T>(next);
        }
        fact.source = next % 2;
      },
      item);
}

Host full_host() {
  Host host;
  int next = 0;
  host.sources = {{"hwloc XML", "a.xml", "2.9"}, {"nvidia-smi topo -m", "live", ""}};
  fill(host, next);
  host.name.value = "node-1.example";
  host.numa_nodes.resize(2);
  host.pci_devices.resize(1);
  host.gpus.resize(2);
  host.nvswitches.resize(1);
  host.nics.resize(1);
  for (auto& node : host.numa_nodes) fill(node, next);
  host.numa_nodes[1].index = 8;
  host.pci_devices[0].address = "0000:17:00.0";
  fill(host.pci_devices[0], next);
  for (auto& gpu : host.gpus) fill(gpu, next);
  fill(host.nvswitches[0], next);
  fill(host.nics[0], next);
  host.nics[0].ports.resize(1);
  host.nics[0].ports[0].number = 2;
  fill(host.nics[0].ports[0], next);
  host.nvlinks.resize(1);
  host.nvlinks[0].to = {DeviceKind::nvswitch, 0};
  fill(host.nvlinks[0], next);
  host.stated_paths.resize(1);
  host.stated_paths[0].to = {DeviceKind::nic, 0};
  fill(host.stated_paths[0], next);
  host.peer_access.resize(1);
  host.peer_access[0].to = {DeviceKind::gpu, 1};
  fill(host.peer_access[0], next);
  host.nccl_graphs.resize(1);
  host.nccl_graphs[0].id = 3;
  host.nccl_graphs[0].channels = {{{DeviceKind::nic, 0}, {DeviceKind::gpu, 1}}, {}};
  fill(host.nccl_graphs[0], next);
  host.disagreements = {{"GPU 0", "model", "a", 0, "b", 1}};
  host.notes = {{"half of it is hidden"}, {"left out: a.txt: the file is empty", true}};
  return host;
}

TEST(TopologyJson, WhatNcclDoesNotKnowSurvives) {
  const std::string dump = R"(<system version="1">
    <cpu numaid="-1" arch="x86_64" vendor="AuthenticAMD" familyid="-1" modelid="-1">
      <pci busid="0000:01:00.0" class="0x030200"><gpu dev="0" sm="90" rank="-1" gdr="1"/></pci></cpu></system>)";
  const Host host = read_nccl_topology_xml(dump, "D.xml");
  EXPECT_FALSE(host.numa_nodes.at(0).cpu_family.known());
  EXPECT_FALSE(host.numa_nodes.at(0).cpu_model.known());
  EXPECT_FALSE(host.gpus.at(0).nccl_rank.known());
  const Topology topology{{host}};
  EXPECT_EQ(load_topology(save_topology(topology), "T.json"), topology);
  Topology older = topology;  // whose reader took -1 for a number
  older.hosts[0].numa_nodes[0].cpu_family.value = -1;
  older.hosts[0].gpus[0].nccl_rank.value = -1;
  EXPECT_EQ(load_topology(save_topology(older), "T.json"), topology);
  older.hosts[0].gpus[0].nccl_rank.value = -2;
  EXPECT_THROW((void)load_topology(save_topology(older), "T.json"), Error);
}

TEST(TopologyJson, EveryFactSurvives) {
  const Topology topology{{full_host(), full_host()}};
  EXPECT_EQ(topology, load_topology(save_topology(topology), "T.json"));
}

TEST(TopologyJson, AMergedMachineSurvives) {
  const Topology topology{{merge_hosts(
      {read_hwloc_xml(fixture("hwloc2.xml"), "h"), read_nvidia_smi_topo(fixture("topo_m.txt"), "t")})}};
  EXPECT_EQ(topology, load_topology(save_topology(topology), "T.json"));
}

TEST(TopologyJson, AFileFromBeforeGraphsWereReadIsReadAsEver) {
  const std::string text = save_topology({{Host{}}});
  EXPECT_EQ(text.find("nccl_graphs"), std::string::npos);
  EXPECT_EQ(load_topology(text, "T.json"), Topology{{Host{}}});
}

TEST(TopologyJson, APathOfAnyBytesCanBeSaved) {
  Topology topology{{Host{}}};
  topology.hosts[0].sources.push_back({"sysfs PCI", "/tmp/\xFF", ""});
  EXPECT_EQ("/tmp/\uFFFD",
            load_topology(save_topology(topology), "saved").hosts.at(0).sources.at(0).location);
}

TEST(TopologyJson, RefusesAnInconsistentGraph) {
  const auto refused = [](const std::string& what, const std::string& instead) {
    const std::string text = with(save_topology({{full_host()}}), what, instead);
    return refusal([&] { (void)load_topology(text, "T.json"); });
  };
  EXPECT_THAT(refused("\"collbench_topology\": 1", "\"collbench_topology\": 2"),
              HasSubstr("schema version 1"));
  EXPECT_THAT(refused("\"parent\": \"\"", "\"parent\": \"0000:17:00.0\""), HasSubstr("is below itself"));
  EXPECT_THAT(refused("\"parent\": \"\"", "\"parent\": \"0000:99:00.0\""), HasSubstr("which is missing"));
  EXPECT_THAT(refused("\"nvswitch\",\n      0", "\"nvswitch\",\n      7"),
              HasSubstr("an NVLink leads to a device that is missing"));
  EXPECT_THAT(refused("\"PXB\"", "\"PXX\""), HasSubstr("a path type"));
  EXPECT_THAT(refused("\"reader\": \"hwloc XML\"", "\"reader\": 7"), HasSubstr("T.json"));
  EXPECT_THAT(refusal([] { (void)load_topology("{", "T.json"); }), HasSubstr("T.json:1"));
  EXPECT_THAT(refusal([] { (void)load_topology("{}", "T.json"); }), HasSubstr("collbench_topology"));
}

TEST(TopologyJson, NumbersAndHostsThatNothingHasAreRefusedWithTheirPath) {
  const auto json = nlohmann::json::parse(save_topology({{full_host()}}));
  const auto read = [](const std::string& text, const std::string& file) { (void)load_topology(text, file); };
  std::set<std::string> tried;
  expect_impossible_numbers_refused(json, read, {}, tried);
  EXPECT_GT(tried.size(), 40U);
  expect_impossible_hosts_refused(json, read, {"/hosts/0/name/0"});
}

}  // namespace
}  // namespace collbench::topology::topology_json_test
