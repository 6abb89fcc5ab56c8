// The format: nccl 2.30 src/graph/search.cc, ncclTopoGetXmlFromGraphs and ncclTopoGetGraphFromXml.
// Before 2.21 device numbers were decimal; since then they are hexadecimal with 0x, and hold the host above
// bit 56.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "base/text_input.hpp"
#include "base/xml_input.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology {
namespace {

constexpr std::uint64_t kNoDevice = ~std::uint64_t{0};  // -1: no NIC was found
constexpr std::uint64_t kHostBit = 56;
constexpr int kMaxDevices = 640;  // NCCL_TOPO_MAX_NODES
constexpr int kMaxChannels = 64;  // MAXCHANNELS

/// A channel as it is written: NCCL's numbers.
struct WrittenChannel {
  std::vector<Device> way;  ///< with NCCL's number as the index
  std::size_t gpus = 0;
  std::size_t nets = 0;
};

/// A GPU or NIC under its NCCL number.
struct Numbered {
  std::optional<int> rank;
  int position = 0;  ///< in the host's list
};

/// Walks the file and fills one host.
class GraphReader {
 public:
  GraphReader(const XmlInput& xml, std::string_view file) : xml_(xml) {
    host_.sources.push_back(kNcclGraphReader.source(file));
  }

  Host read() {
    for (const pugi::xml_node node : xml_.root().children("graph")) read_graph(node);
    if (gpus_.empty()) throw xml_.error(xml_.root(), "it has no channel through a GPU");
    number_devices();
    return std::move(host_);
  }

 private:
  void read_graph(pugi::xml_node node) {
    ChannelGraph graph;
    graph.id =
        xml_.integer(node, "id", 0, kMaxXmlInteger).value_or(static_cast<int>(host_.nccl_graphs.size()));
    if (std::ranges::any_of(host_.nccl_graphs,
                            [&graph](const ChannelGraph& known) { return known.id == graph.id; }))
      throw xml_.error(node, fmt::format("id {} is listed twice", graph.id));
    graph.pattern.value = xml_.integer(node, "pattern", 0, kMaxXmlInteger);
    graph.cross_nic.value = flag(node, "crossnic");
    graph.same_channels.value = flag(node, "samechannels");
    graph.intra_gigabytes_per_second.value = xml_.number(node, "speedintra");
    graph.inter_gigabytes_per_second.value = xml_.number(node, "speedinter");
    graph.inter_latency.value = xml_.number(node, "latencyinter");
    graph.intra_type.value = path_type(node, "typeintra");
    graph.inter_type.value = path_type(node, "typeinter");
    read_channels(node, graph);
    host_.nccl_graphs.push_back(std::move(graph));
  }

  [[nodiscard]] std::optional<bool> flag(pugi::xml_node node, const char* attribute) const {
    const auto value = xml_.integer(node, attribute, 0, kMaxXmlInteger);
    return value ? std::optional(*value != 0) : std::nullopt;
  }

  std::optional<PathType> path_type(pugi::xml_node node, const char* attribute) {
    const auto word = XmlInput::text_of(node, attribute);
    if (!word) return std::nullopt;
    const auto type = path_type_from_name(*word);
    if (!type)
      host_.notes.emplace_back(fmt::format("{}: {}=\"{}\" is an unknown path type; ignored", xml_.where(node),
                                           attribute, excerpt(*word, 20)));
    return type;
  }

  /// As many as the graph says, all through as many GPUs, and all from and to the network or none.
  void read_channels(pugi::xml_node node, ChannelGraph& graph) {
    std::optional<WrittenChannel> first;
    for (const pugi::xml_node each : node.children("channel")) {
      WrittenChannel channel = read_channel(each);
      if (!first) first = channel;
      if (channel.gpus == 0 || channel.gpus != first->gpus || channel.nets != first->nets ||
          (channel.nets != 0 && channel.nets != 2)) {
        throw xml_.error(each, fmt::format("{} GPUs and {} NICs, but the first channel has {} and {}",
                                           channel.gpus, channel.nets, first->gpus, first->nets));
      }
      graph.channels.push_back(std::move(channel.way));
      if (graph.channels.size() > kMaxChannels)
        throw xml_.error(each, fmt::format("more than {} channels", kMaxChannels));
    }
    const auto stated = xml_.integer(node, "nchannels", 0, kMaxChannels);
    if (stated.value_or(static_cast<int>(graph.channels.size())) != static_cast<int>(graph.channels.size())) {
      throw xml_.error(node,
                       fmt::format("nchannels is {}, but there are {}", *stated, graph.channels.size()));
    }
  }

  WrittenChannel read_channel(pugi::xml_node node) {
    WrittenChannel channel;
    for (const pugi::xml_node child : node.children()) {
      const std::string_view name = child.name();
      if (name == "gpu") {
        ++channel.gpus;
        const int number = device_number(child).value_or(-1);
        if (number < 0) throw xml_.error(child, "this is not a GPU");
        const auto rank = xml_.integer(child, "rank", -1, kMaxXmlInteger);
        gpus_.try_emplace(number,
                          Numbered{rank == -1 ? std::nullopt : rank});  // as NCCL writes an unknown one
        channel.way.push_back({DeviceKind::gpu, number});
      } else if (name == "net") {
        ++channel.nets;
        if (const auto number = device_number(child)) {
          nics_.try_emplace(*number);
          channel.way.push_back({DeviceKind::nic, *number});
        }
      }
    }
    return channel;
  }

  /// None for a NIC that NCCL did not find.
  [[nodiscard]] std::optional<int> device_number(pugi::xml_node node) const {
    const std::string text = XmlInput::text_of(node, "dev").value_or("");
    const bool hexadecimal = text.starts_with("0x");
    const auto decimal = hexadecimal ? std::nullopt : parse_integer(text, -1, kMaxDevices - 1);
    const auto id = hexadecimal ? parse_hex(text)
                    : decimal   ? std::optional(static_cast<std::uint64_t>(*decimal))
                                : std::nullopt;
    if (id == kNoDevice) return std::nullopt;
    if (id && *id >> kHostBit != 0) {
      throw xml_.error(node, fmt::format("dev=\"{}\" is a device of host {}; the graph of an NVLink domain "
                                         "that spans several hosts is not supported",
                                         excerpt(text), *id >> kHostBit));
    }
    if (!id || *id >= kMaxDevices)
      throw xml_.error(node, fmt::format("dev=\"{}\" is not a device number", excerpt(text)));
    return static_cast<int>(*id);
  }

  /// The GPUs and NICs of all channels, by their numbers; then the channels go by the positions in these
  /// lists.
  void number_devices() {
    for (auto& [number, gpu] : gpus_) {
      gpu.position = static_cast<int>(host_.gpus.size());
      host_.gpus.emplace_back().index.value = number;
      host_.gpus.back().nccl_rank.value = gpu.rank;
    }
    for (auto& [number, nic] : nics_) {
      nic.position = static_cast<int>(host_.nics.size());
      host_.nics.emplace_back().nccl_net.value = number;
    }
    for (ChannelGraph& graph : host_.nccl_graphs) {
      for (auto& channel : graph.channels) {
        for (Device& device : channel)
          device.index = (device.kind == DeviceKind::gpu ? gpus_ : nics_).at(device.index).position;
      }
    }
  }

  const XmlInput& xml_;
  Host host_;
  std::map<int, Numbered> gpus_;
  std::map<int, Numbered> nics_;
};

bool is_nccl_graph(const ReaderInput& input) {
  return input.xml && input.text.find("<graphs") != std::string_view::npos;
}

}  // namespace

Host read_nccl_graph_xml(std::string_view text, std::string_view file) {
  const XmlInput xml(text, file, "graphs", "an NCCL graph XML");
  return GraphReader(xml, file).read();
}

constexpr TopologyReader kNcclGraphReader{
    .name = "NCCL graph XML",
    .coverage = {.gpus = true, .nics = false, .nvswitches = false},
    .recognizes = is_nccl_graph,
    .read = read_nccl_graph_xml,
};

}  // namespace collbench::topology
