#include "topology/graph/topology_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "base/record/fields.hpp"
#include "base/text_input.hpp"
#include "topology/graph/facts.hpp"
#include "topology/graph/lookup.hpp"

namespace collbench::topology {
namespace {

/// By DeviceKind.
constexpr std::array<std::string_view, 4> kDeviceKinds{"gpu", "nic", "nvswitch", "numa_node"};

Json device_to_json(const Device& device) {
  return Json::array({kDeviceKinds.at(static_cast<std::size_t>(device.kind)), device.index});
}

Device device_from_json(const JsonReader& json) {
  const std::vector<JsonReader> pair = json.items();
  const auto* const kind =
      pair.size() == 2 ? std::ranges::find(kDeviceKinds, pair[0].text()) : kDeviceKinds.end();
  if (kind == kDeviceKinds.end()) throw json.expected("a device, such as [\"gpu\", 0]");
  return {static_cast<DeviceKind>(kind - kDeviceKinds.begin()), pair[1].integer<int>()};
}

constexpr By kAsDevice{device_to_json, device_from_json};

/// Saved machines have the text alone.
Json note_to_json(const HostNote& note) { return note.text; }
HostNote note_from_json(const JsonReader& json) { return {json.text(), json.text().starts_with(kLeftOut)}; }

PathType path_type_from_json(const JsonReader& json) {
  if (const auto type = path_type_from_name(json.text())) return *type;
  throw json.expected("a path type");
}

int index_from_json(const JsonReader& json) { return json.integer<int>(-1); }

template <class Value>
constexpr auto how_of_fact() {
  if constexpr (std::same_as<Value, PathType>) {
    return By{path_type_name, path_type_from_json};
  } else if constexpr (std::same_as<Value, int>) {
    return ReadBy{index_from_json};
  } else {
    return kQuantity;
  }
}

template <class Value>
Json fact_to_json(const Fact<Value>& fact) {
  return Json::array({field_to_json(*fact.value, how_of_fact<Value>()), fact.source});
}

template <class Value>
Fact<Value> fact_from_json(const JsonReader& json) {
  const std::vector<JsonReader> pair = json.items();
  if (pair.size() != 2) throw json.expected("a pair of value and source");
  Fact<Value> fact;
  field_from_json(pair[0], fact.value.emplace(), how_of_fact<Value>());
  fact.source = pair[1].integer<int>();
  return fact;
}

/// Those that are not known are left out.
void each_fact_field(auto& visit, auto& item) {
  each_fact(
      [&visit]<class AnyFact>(const char* name, AnyFact& fact) {
        using Value = std::remove_cvref_t<decltype(*fact.value)>;
        if (std::is_const_v<AnyFact> && !fact.known()) return;
        visit.older(name, fact, By{fact_to_json<Value>, fact_from_json<Value>});
        if constexpr (std::same_as<AnyFact, Fact<int>>) {
          // NCCL's "not known", which older versions saved; a NUMA node may be called so.
          if (fact.value == -1 && name != std::string_view("numa_node")) fact = {};
        }
      },
      item);
}

template <class Item>
concept HasFactsOnly = Either<Item, Gpu> || Either<Item, NvSwitch>;

template <class Item>
concept IsLink = Either<Item, NvLinkBundle> || Either<Item, StatedPath> || Either<Item, PeerAccess>;

}  // namespace

static void each_field(auto& visit, Either<Source> auto& source) {
  visit("reader", source.reader);
  visit("place", source.location);
  visit("version", source.version);
}

static void each_field(auto& visit, Either<NumaNode> auto& node) {
  visit("index", node.index, ReadBy{index_from_json});
  each_fact_field(visit, node);
}

static void each_field(auto& visit, Either<PciDevice> auto& device) {
  visit("address", device.address);
  visit("parent", device.parent);
  each_fact_field(visit, device);
}

static void each_field(auto& visit, HasFactsOnly auto& device) { each_fact_field(visit, device); }

static void each_field(auto& visit, Either<NicPort> auto& port) {
  visit("number", port.number);
  each_fact_field(visit, port);
}

static void each_field(auto& visit, Either<Nic> auto& nic) {
  each_fact_field(visit, nic);
  visit("ports", nic.ports);
}

static void each_field(auto& visit, IsLink auto& link) {
  visit("from", link.from, kAsDevice);
  visit("to", link.to, kAsDevice);
  each_fact_field(visit, link);
}

static void each_field(auto& visit, Either<ChannelGraph> auto& graph) {
  visit("id", graph.id);
  each_fact_field(visit, graph);
  visit("channels", graph.channels, kAsDevice);
}

static void each_field(auto& visit, Either<Disagreement> auto& disagreement) {
  visit("device", disagreement.device);
  visit("attribute", disagreement.attribute);
  visit("kept", disagreement.kept);
  visit("kept_source", disagreement.kept_source);
  visit("other", disagreement.other);
  visit("other_source", disagreement.other_source);
}

static void each_field(auto& visit, Either<Host> auto& host) {
  each_fact_field(visit, host);
  visit("sources", host.sources);
  visit("numa_nodes", host.numa_nodes);
  visit("pci_devices", host.pci_devices);
  visit("gpus", host.gpus);
  visit("nvswitches", host.nvswitches);
  visit("nics", host.nics);
  visit("nvlinks", host.nvlinks);
  visit("stated_paths", host.stated_paths);
  visit("peer_access", host.peer_access);
  visit.where_given("nccl_graphs", host.nccl_graphs);  // older files have none
  visit("disagreements", host.disagreements);
  visit("notes", host.notes, By{note_to_json, note_from_json});
}

namespace {

Host host_from_json(const JsonReader& json) {
  auto host = record_from_json<Host>(json);
  if (host.name.known()) (void)host_name_from_json(json.at("name").items().front());
  if (const std::string broken = find_inconsistency(host); !broken.empty()) {
    throw json.expected("a consistent graph (" + broken + ")");
  }
  return host;
}

}  // namespace

Json topology_to_json(const Topology& topology) {
  return {{"collbench_topology", kTopologySchemaVersion},
          {"hosts", field_to_json(topology.hosts, kQuantity)}};
}

Topology topology_from_json(const JsonReader& json) {
  const JsonReader version = json.at("collbench_topology");
  if (version.integer<int>() != kTopologySchemaVersion) {
    throw version.expected(
        fmt::format("schema version {}, the one that this program knows", kTopologySchemaVersion));
  }
  return {list_from_json(json.at("hosts"), host_from_json)};
}

std::string save_topology(const Topology& topology) { return json_document(topology_to_json(topology), 1); }

Topology load_topology(std::string_view text, std::string_view file) {
  require_text(text, file, "a topology saved by 'collbench topo save'");
  const nlohmann::json document = parse_json(text, file);
  return topology_from_json(JsonReader(document, file));
}

}  // namespace collbench::topology
