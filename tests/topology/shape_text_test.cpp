#include "topology/shape_text.hpp"

#include <gmock/gmock.h>

#include <functional>

#include "tests/topology/whole_fixture.hpp"
#include "topology/facts.hpp"
#include "topology/host_groups.hpp"
#include "topology/topology_json.hpp"

namespace collbench::shape_text_test {
namespace {

std::string text_of(const Host& host) { return shape_text(save_topology({{host}})); }

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

TEST(ShapeText, IsEqualOnlyOnMachinesOfOneGroup) {
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

TEST(ShapeText, LeavesOutWhatTwinsAreCalled) {
  const Host host = whole_fixture();
  Host twin = host;
  twin.name.value = "another";
  for (Gpu& gpu : twin.gpus) gpu.uuid.value = "GPU-of-the-twin";
  for (Nic& nic : twin.nics) nic.guid.value = "0x1";
  for (Source& source : twin.sources) source.place = "elsewhere/" + source.place;
  twin.numa_nodes[0].memory_bytes.value = *twin.numa_nodes[0].memory_bytes.value + 4096;
  EXPECT_EQ(text_of(host), text_of(twin));
}

TEST(ShapeText, KeepsTheNamesOfNics) {
  const Host host = whole_fixture();
  Host renumbered = host;
  std::swap(renumbered.nics[0].name, renumbered.nics[1].name);
  EXPECT_NE(text_of(host), text_of(renumbered));
}

TEST(ShapeText, DoesNotMindBlanks) {
  const std::string one =
      R"({"hosts": [{"name": ["a", 0], "gpus": [{"uuid": ["GPU-1", 0], "sm": [90, 1]}]}]})";
  EXPECT_EQ(shape_text(one), R"({"hosts":[{"name":["",0],"gpus":[{"uuid":["",0],"sm":[90,1]}]}]})");
  EXPECT_EQ(shape_text(R"({"hosts":[{"name":["b",0],"gpus":[{"uuid":["GPU-2",0],"sm":[90,1]}]}]})"),
            shape_text(one));
}

TEST(ShapeText, AnotherKindOfValueIsAnotherText) {
  EXPECT_NE(shape_text(R"({"uuid": ["a", 0]})"), shape_text(R"({"uuid": [7, 0]})"));
  EXPECT_NE(shape_text(R"({"uuid": ["a", 0]})"), shape_text(R"({"uuid": ["a\q", 0]})"));
}

TEST(ShapeText, EndsOnAnyBytes) {
  for (const char* text : {"", "\"", "\"\\", "\"a\\\"", "{\"uuid\":", "-", "1e", "{\"a\" "})
    EXPECT_LE(shape_text(text).size(), 20U);
}

}  // namespace
}  // namespace collbench::shape_text_test
