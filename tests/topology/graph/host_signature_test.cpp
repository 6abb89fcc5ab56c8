#include "topology/graph/host_signature.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <set>

#include "tests/topology/two_ports_at_one_address.hpp"
#include "tests/topology/whole_fixture.hpp"
#include "topology/diff/topology_diff.hpp"
#include "topology/graph/facts.hpp"
#include "topology/graph/topology_json.hpp"
#include "topology/machines/reference_machines.hpp"

namespace collbench::topology::host_signature_test {
namespace {

std::string hash_of(const Host& host) { return canonical_hash(host_facts(host).signature); }

void change(std::string& value) { value += "x"; }
void change(bool& value) { value = !value; }
void change(PathType& value) { value = value == PathType::sys ? PathType::pix : PathType::sys; }
void change(std::uint64_t& value) { value = 2 * value + (std::uint64_t{64} << 30U); }
template <class Number>
void change(Number& value) {
  value += 1;
}

/// Calls visit(kind of device, name of the fact, how to change it) for every fact of the host, known or not.
void each_change(Host& host,
                 const std::function<void(std::string, std::string, std::function<void()>)>& visit) {
  const auto all = [&visit](const std::string& kind, auto& item) {
    each_fact(
        [&]<class T>(const char* name, Fact<T>& fact) {
          visit(kind, name, [&fact] {
            if (!fact.known()) fact.value = T{};
            change(*fact.value);
          });
        },
        item);
  };
  all("host", host);
  for (NumaNode& each : host.numa_nodes) all("NUMA", each);
  for (PciDevice& each : host.pci_devices) all("PCI", each);
  for (Gpu& each : host.gpus) all("GPU", each);
  for (NvSwitch& each : host.nvswitches) all("NVSwitch", each);
  for (Nic& each : host.nics) {
    all("NIC", each);
    for (NicPort& port : each.ports) all("port", port);
  }
  for (NvLinkBundle& each : host.nvlinks) all("NVLink", each);
  for (StatedPath& each : host.stated_paths) all("path", each);
  for (PeerAccess& each : host.peer_access) all("peer", each);
  for (ChannelGraph& each : host.nccl_graphs) all("graph", each);
}

const std::set<std::string> kNotOfTheShape{"host name",       "GPU uuid",          "GPU serial",
                                           "GPU nccl_rank",   "NIC name",          "NIC label",
                                           "NIC guid",        "NIC interfaces",    "port gid",
                                           "NIC system_guid", "PCI link_rate_now", "PCI link_bandwidth_now",
                                           "NIC nccl_net"};

TEST(CanonicalHash, ChangesWithEveryFactOfTheSignatureAndWithNoOther) {
  Host host = whole_fixture();
  const std::string before = hash_of(host);
  std::set<std::string> seen;
  each_change(host,
              [&](const std::string& kind, const std::string& name, const std::function<void()>& apply) {
                const Host kept = host;
                apply();
                const std::string fact = kind + " " + name;
                seen.insert(fact);
                EXPECT_EQ(hash_of(host) == before, kNotOfTheShape.contains(fact)) << fact;
                host = kept;
              });
  for (const std::string& fact : kNotOfTheShape) EXPECT_TRUE(seen.contains(fact)) << fact;
  for (const char* kind :
       {"NUMA cpus", "PCI class", "NIC driver", "port state", "NVLink count", "path type", "peer state"}) {
    EXPECT_TRUE(seen.contains(kind)) << "the fixtures have nothing of " << kind;
  }
}

TEST(CanonicalHash, ForgetsWhoSaidItAndWhatWasNotedOrDisagreed) {
  Host host = whole_fixture();
  const std::string before = hash_of(host);
  host.sources.insert(host.sources.begin(), Source{"another", "place", "1"});
  host.notes.emplace_back("a note");
  host.disagreements.emplace_back();
  EXPECT_EQ(hash_of(host), before);
}

TEST(CanonicalHash, KnowsTheTreeAndTheNumberOfDevices) {
  const Host host = whole_fixture();
  const auto changed = [&host](const std::function<void(Host&)>& apply) {
    Host other = host;
    apply(other);
    return hash_of(other) != hash_of(host);
  };
  EXPECT_TRUE(changed([](Host& h) { h.pci_devices.back().parent = "0000:ff:00.0"; }));
  EXPECT_TRUE(changed([](Host& h) { h.pci_devices.back().address = "0000:ff:00.0"; }));
  EXPECT_TRUE(changed([](Host& h) { h.nvswitches.emplace_back(); }));
  EXPECT_TRUE(changed([](Host& h) { h.nvlinks.pop_back(); }));
  EXPECT_TRUE(changed([](Host& h) { h.nccl_graphs[0].channels.pop_back(); }));
  EXPECT_TRUE(
      changed([](Host& h) { std::swap(h.nccl_graphs[0].channels[0][1], h.nccl_graphs[0].channels[0][2]); }));
  EXPECT_TRUE(changed([](Host& h) { h.nics.back().ports.clear(); }));
  EXPECT_TRUE(changed([](Host& h) { h.stated_paths.back().to = h.stated_paths.back().from; }));
}

TEST(CanonicalHash, RenamedNicsAreTheSameMachineInAnyOrder) {
  Host host = reference_host(*find_reference_machine("hgx-h100"));
  const std::string before = hash_of(host);
  std::swap(host.nics[0].name, host.nics[1].name);
  EXPECT_EQ(hash_of(host), before);
  host.stated_paths.clear();  // they count by position
  const std::string without_paths = hash_of(host);
  std::swap(host.nics[0], host.nics[1]);
  EXPECT_EQ(hash_of(host), without_paths);
}

TEST(CanonicalHash, SomePagesOfMemoryAreNoDifference) {
  Host host = whole_fixture();
  const std::string before = hash_of(host);
  *host.numa_nodes[0].memory_bytes.value += 4096;
  EXPECT_EQ(hash_of(host), before);
}

TEST(CanonicalHash, IdentitiesAreKeptByDevice) {
  const HostFacts facts = host_facts(whole_fixture());
  EXPECT_EQ(facts.identity.at("GPU 0000:18:00.0").at("uuid"), "GPU-11111111-2222-3333-4444-555555555550");
  for (const auto& [device, attributes] : facts.signature)
    EXPECT_FALSE(attributes.contains("uuid")) << device;
}

TEST(CanonicalHash, StaysTheSameFromBuildToBuild) {
  EXPECT_EQ(canonical_hash({}), "cbf29ce484222325");
  EXPECT_EQ(canonical_hash({{"a", {{"b", "c"}}}}), canonical_hash({{"a", {{"b", "c"}}}}));
  EXPECT_NE(canonical_hash({{"a", {{"b", "c"}}}}), canonical_hash({{"ab", {{"", "c"}}}}));
  EXPECT_NE(canonical_hash({{"a", {}}, {"b", {}}}), canonical_hash({{"a", {{"b", ""}}}}));
}

TEST(CanonicalHash, DistinguishesAllReferenceMachines) {
  std::set<std::string> hashes;
  for (const ReferenceMachine& machine : reference_machines()) {
    Host host = reference_host(machine);
    host.product = {};
    hashes.insert(hash_of(host));
  }
  EXPECT_GE(hashes.size(), reference_machines().size() - 4);  // some differ in name only: hgx-h100 and ndv5
}

TEST(CanonicalHash, DoesNotDependOnTheListingOfPortsAtOneAddress) {
  const HostFacts forwards = host_facts(two_ports_at_one_address());
  const HostFacts backwards = host_facts(two_ports_at_one_address(true));
  EXPECT_EQ(forwards.signature, backwards.signature);
  EXPECT_EQ(forwards.identity, backwards.identity);
  EXPECT_EQ(forwards.signature.at("NIC 0000:03:00.0 (2) port 2").at("state"), "DOWN");
}

std::string text_of(const Host& host) { return canonical_json(save_topology({{host}})); }

/// visit(name, host) with every fact changed in turn.
void each_changed(const Host& host, const std::function<void(const std::string&, const Host&)>& visit) {
  Host other = host;
  const auto all = [&](auto& item) {
    each_fact(
        [&]<class T>(const char* name, Fact<T>& fact) {
          if (!fact.known()) return;
          const Fact<T> before = fact;
          if constexpr (std::same_as<T, std::string>) {
            *fact.value += "x";
          } else if constexpr (std::same_as<T, bool>) {
            fact.value = !*fact.value;
          } else if constexpr (std::same_as<T, PathType>) {
            fact.value = PathType::pxn;
          } else {
            *fact.value += 1;
          }
          visit(name, other);
          fact = before;
        },
        item);
  };
  const auto every = [&all](auto& items) {
    for (auto& item : items) all(item);
  };
  all(other);
  every(other.numa_nodes);
  every(other.pci_devices);
  every(other.gpus);
  every(other.nics);
  for (Nic& nic : other.nics) every(nic.ports);
  every(other.nvlinks);
  every(other.stated_paths);
  every(other.nccl_graphs);
}

TEST(CanonicalJson, IsEqualOnlyOnMachinesOfOneGroup) {
  const Host host = whole_fixture();
  const std::string text = text_of(host);
  const std::string key = group_key(host);
  int same = 0;
  each_changed(host, [&](const std::string& name, const Host& other) {
    if (text_of(other) != text) return;
    ++same;
    EXPECT_EQ(group_key(other), key) << name;
  });
  EXPECT_GT(same, 10) << "names, UUIDs and GUIDs are of no group";
}

TEST(CanonicalJson, LeavesOutWhatEqualMachinesAreCalled) {
  const Host host = whole_fixture();
  Host counterpart = host;
  counterpart.name.value = "another";
  for (Gpu& gpu : counterpart.gpus) gpu.uuid.value = "GPU-of-the-other";
  for (Nic& nic : counterpart.nics) nic.guid.value = "0x1";
  for (Source& source : counterpart.sources) source.location = "elsewhere/" + source.location;
  counterpart.numa_nodes[0].memory_bytes.value = *counterpart.numa_nodes[0].memory_bytes.value + 4096;
  EXPECT_EQ(text_of(host), text_of(counterpart));
}

TEST(CanonicalJson, KeepsTheNamesOfNics) {
  const Host host = whole_fixture();
  Host renumbered = host;
  std::swap(renumbered.nics[0].name, renumbered.nics[1].name);
  EXPECT_NE(text_of(host), text_of(renumbered));
}

TEST(CanonicalJson, DoesNotMindBlanks) {
  const std::string one =
      R"({"hosts": [{"name": ["a", 0], "gpus": [{"uuid": ["GPU-1", 0], "sm": [90, 1]}]}]})";
  EXPECT_EQ(canonical_json(one), R"({"hosts":[{"name":["",0],"gpus":[{"uuid":["",0],"sm":[90,1]}]}]})");
  EXPECT_EQ(canonical_json(R"({"hosts":[{"name":["b",0],"gpus":[{"uuid":["GPU-2",0],"sm":[90,1]}]}]})"),
            canonical_json(one));
}

TEST(CanonicalJson, AnotherKindOfValueIsAnotherText) {
  EXPECT_NE(canonical_json(R"({"uuid": ["a", 0]})"), canonical_json(R"({"uuid": [7, 0]})"));
  EXPECT_NE(canonical_json(R"({"uuid": ["a", 0]})"), canonical_json(R"({"uuid": ["a\q", 0]})"));
}

TEST(CanonicalJson, EndsOnAnyBytes) {
  for (const char* text : {"", "\"", "\"\\", "\"a\\\"", "{\"uuid\":", "-", "1e", "{\"a\" "})
    EXPECT_LE(canonical_json(text).size(), 20U);
}

}  // namespace

}  // namespace collbench::topology::host_signature_test
