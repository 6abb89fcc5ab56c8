#include "topology/graph/topology_json.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "base/record/json_fields.hpp"
#include "base/text_input.hpp"
#include "base/text_sinks.hpp"
#include "topology/graph/facts.hpp"
#include "topology/graph/lookup.hpp"

namespace collbench::topology {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::pair<DeviceKind, const char*>, 4> kDeviceKinds{
    {{DeviceKind::gpu, "gpu"},
     {DeviceKind::nic, "nic"},
     {DeviceKind::nvswitch, "nvswitch"},
     {DeviceKind::numa_node, "numa_node"}}};

Json to_json_value(PathType type) { return path_type_name(type); }
template <class T>
Json to_json_value(const T& value) {
  return value;
}

template <class Item>
void write_facts(Json& json, const Item& item) {
  each_fact(
      [&json]<class T>(const char* name, const Fact<T>& fact) {
        if (fact.known()) json[name] = Json::array({to_json_value(*fact.value), fact.source});
      },
      item);
}

template <class Item>
Json facts_of(const Item& item) {
  Json json = Json::object();
  write_facts(json, item);
  return json;
}

Json device_json(const Device& device) {
  for (const auto& [kind, name] : kDeviceKinds) {
    if (kind == device.kind) return Json::array({name, device.index});
  }
  return {};
}

template <class Link>
Json between(const Link& link) {
  Json json = {{"from", device_json(link.from)}, {"to", device_json(link.to)}};
  write_facts(json, link);
  return json;
}

Json nic_json(const Nic& nic) {
  Json json = facts_of(nic);
  json["ports"] = Json::array();
  for (const NicPort& port : nic.ports) {
    Json entry = {{"number", port.number}};
    write_facts(entry, port);
    json["ports"].push_back(std::move(entry));
  }
  return json;
}

Json graph_json(const ChannelGraph& graph) {
  Json json = {{"id", graph.id}};
  write_facts(json, graph);
  json["channels"] = Json::array();
  for (const std::vector<Device>& channel : graph.channels) {
    Json way = Json::array();
    for (const Device& device : channel) way.push_back(device_json(device));
    json["channels"].push_back(std::move(way));
  }
  return json;
}

Json host_json(const Host& host) {
  Json json = facts_of(host);
  const auto list = [&json](const char* name, const auto& items, auto&& one) {
    json[name] = Json::array();
    for (const auto& item : items) json[name].push_back(one(item));
  };
  list("sources", host.sources, [](const Source& source) {
    return Json{{"reader", source.reader}, {"place", source.location}, {"version", source.version}};
  });
  list("numa_nodes", host.numa_nodes, [](const NumaNode& node) {
    Json entry = {{"index", node.index}};
    write_facts(entry, node);
    return entry;
  });
  list("pci_devices", host.pci_devices, [](const PciDevice& device) {
    Json entry = {{"address", device.address}, {"parent", device.parent}};
    write_facts(entry, device);
    return entry;
  });
  list("gpus", host.gpus, [](const Gpu& gpu) { return facts_of(gpu); });
  list("nvswitches", host.nvswitches, [](const NvSwitch& nvswitch) { return facts_of(nvswitch); });
  list("nics", host.nics, nic_json);
  list("nvlinks", host.nvlinks, [](const NvLinkBundle& bundle) { return between(bundle); });
  list("stated_paths", host.stated_paths, [](const StatedPath& path) { return between(path); });
  list("peer_access", host.peer_access, [](const PeerAccess& access) { return between(access); });
  // Left out where there are none, as in every file from before they were read.
  if (!host.nccl_graphs.empty()) list("nccl_graphs", host.nccl_graphs, graph_json);
  list("disagreements", host.disagreements, [](const Disagreement& d) {
    return Json{{"device", d.device},           {"attribute", d.attribute}, {"kept", d.kept},
                {"kept_source", d.kept_source}, {"other", d.other},         {"other_source", d.other_source}};
  });
  json["notes"] = host.notes;
  return json;
}

template <class T>
void read_value(const JsonReader& json, T& value) {
  if constexpr (std::same_as<T, std::string>) {
    value = json.text();
  } else if constexpr (std::same_as<T, bool>) {
    value = json.boolean();
  } else if constexpr (std::same_as<T, double>) {
    value = json.number(kQuantity);
  } else if constexpr (std::same_as<T, PathType>) {
    const auto type = path_type_from_name(json.text());
    if (!type) throw json.expected("a path type");
    value = *type;
  } else if constexpr (std::same_as<T, int>) {
    value = json.integer<int>(-1);
  } else {
    value = json.integer<T>();
  }
}

template <class Item>
Item read_facts(const JsonReader& json) {
  Item item;
  each_fact(
      [&json]<class T>(const char* name, Fact<T>& fact) {
        const auto member = json.find(name);
        if (!member) return;
        const std::vector<JsonReader> pair = member->items();
        if (pair.size() != 2) throw member->expected("a pair of value and source");
        read_value(pair[0], fact.value.emplace());
        fact.source = pair[1].integer<int>();
        if constexpr (std::same_as<T, int>) {
          // NCCL's "not known", which older versions saved; a NUMA node may be called so.
          if (fact.value == -1 && name != std::string_view("numa_node")) fact = {};
        }
      },
      item);
  return item;
}

template <class T>
std::vector<T> read_list(const JsonReader& json, const char* name, T (*one)(const JsonReader&)) {
  std::vector<T> list;
  for (const JsonReader& item : json.at(name).items()) list.push_back(one(item));
  return list;
}

Device read_device(const JsonReader& json) {
  const std::vector<JsonReader> pair = json.items();
  for (const auto& [kind, name] : kDeviceKinds) {
    if (pair.size() == 2 && pair[0].text() == name) return {kind, pair[1].integer<int>()};
  }
  throw json.expected("a device, such as [\"gpu\", 0]");
}

template <class Link>
Link read_between(const JsonReader& json) {
  Link link = read_facts<Link>(json);
  link.from = read_device(json.at("from"));
  link.to = read_device(json.at("to"));
  return link;
}

NumaNode read_numa_node(const JsonReader& json) {
  auto node = read_facts<NumaNode>(json);
  node.index = json.at("index").integer<int>(-1);
  return node;
}

PciDevice read_pci_device(const JsonReader& json) {
  auto device = read_facts<PciDevice>(json);
  device.address = json.at("address").text();
  device.parent = json.at("parent").text();
  return device;
}

NicPort read_port(const JsonReader& json) {
  auto port = read_facts<NicPort>(json);
  port.number = json.at("number").integer<int>();
  return port;
}

Nic read_nic(const JsonReader& json) {
  auto nic = read_facts<Nic>(json);
  nic.ports = read_list<NicPort>(json, "ports", read_port);
  return nic;
}

std::vector<Device> read_channel(const JsonReader& json) {
  std::vector<Device> channel;
  for (const JsonReader& device : json.items()) channel.push_back(read_device(device));
  return channel;
}

ChannelGraph read_graph(const JsonReader& json) {
  auto graph = read_facts<ChannelGraph>(json);
  graph.id = json.at("id").integer<int>();
  graph.channels = read_list<std::vector<Device>>(json, "channels", read_channel);
  return graph;
}

Source read_source(const JsonReader& json) {
  return {json.at("reader").text(), json.at("place").text(), json.at("version").text()};
}

Disagreement read_disagreement(const JsonReader& json) {
  return {json.at("device").text(), json.at("attribute").text(),
          json.at("kept").text(),   json.at("kept_source").integer<int>(),
          json.at("other").text(),  json.at("other_source").integer<int>()};
}

std::string read_note(const JsonReader& json) { return json.text(); }

Host read_host(const JsonReader& json) {
  auto host = read_facts<Host>(json);
  if (host.name.known()) (void)host_name_from_json(json.at("name").items().front());
  host.sources = read_list<Source>(json, "sources", read_source);
  host.numa_nodes = read_list<NumaNode>(json, "numa_nodes", read_numa_node);
  host.pci_devices = read_list<PciDevice>(json, "pci_devices", read_pci_device);
  host.gpus = read_list<Gpu>(json, "gpus", read_facts<Gpu>);
  host.nvswitches = read_list<NvSwitch>(json, "nvswitches", read_facts<NvSwitch>);
  host.nics = read_list<Nic>(json, "nics", read_nic);
  host.nvlinks = read_list<NvLinkBundle>(json, "nvlinks", read_between<NvLinkBundle>);
  host.stated_paths = read_list<StatedPath>(json, "stated_paths", read_between<StatedPath>);
  host.peer_access = read_list<PeerAccess>(json, "peer_access", read_between<PeerAccess>);
  if (json.find("nccl_graphs")) host.nccl_graphs = read_list<ChannelGraph>(json, "nccl_graphs", read_graph);
  host.disagreements = read_list<Disagreement>(json, "disagreements", read_disagreement);
  host.notes = read_list<std::string>(json, "notes", read_note);
  if (const std::string broken = find_inconsistency(host); !broken.empty()) {
    throw json.expected("a consistent graph (" + broken + ")");
  }
  return host;
}

}  // namespace

Json topology_to_json(const Topology& topology) {
  Json json = {{"collbench_topology", kTopologySchemaVersion}, {"hosts", Json::array()}};
  for (const Host& host : topology.hosts) json["hosts"].push_back(host_json(host));
  return json;
}

Topology topology_from_json(const JsonReader& json) {
  const JsonReader version = json.at("collbench_topology");
  if (version.integer<int>() != kTopologySchemaVersion) {
    throw version.expected(
        fmt::format("schema version {}, the one that this program knows", kTopologySchemaVersion));
  }
  return {read_list<Host>(json, "hosts", read_host)};
}

std::string save_topology(const Topology& topology) {
  // The path of a source may hold any bytes; saving must not throw for them.
  return json_text(topology_to_json(topology).dump(1, ' ', false, nlohmann::json::error_handler_t::replace)) +
         "\n";
}

Topology load_topology(std::string_view text, std::string_view file) {
  require_text(text, file, "a topology saved by 'collbench topo save'");
  const nlohmann::json document = parse_json(text, file);
  return topology_from_json(JsonReader(document, file));
}

}  // namespace collbench::topology
