#include "topology/render/render.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/units.hpp"
#include "base/word_list.hpp"
#include "topology/graph/lookup.hpp"
#include "topology/graph/path.hpp"
#include "topology/machines/reference_machines.hpp"

namespace collbench::topology {

std::string summarize_host(const Host& host) {
  std::map<std::string, int> models;
  for (const Gpu& gpu : host.gpus) {
    ++models[gpu.model.value_or(gpu.sm.known() ? fmt::format("GPU (sm {})", *gpu.sm.value) : "GPU")];
  }
  std::string out;
  for (const auto& [model, count] : models)
    out += fmt::format("{}{} × {}", out.empty() ? "" : ", ", count, model);
  if (out.empty()) out = "no GPU";
  int fewest = 0;
  int links = 0;
  for (int gpu = 0; gpu < static_cast<int>(host.gpus.size()); ++gpu) {
    const int mine = nvlinks_of(host, {DeviceKind::gpu, gpu});
    fewest = gpu == 0 ? mine : std::min(fewest, mine);
    links = std::max(links, mine);
  }
  if (links > 0)
    out += fmt::format(", {}{} each", fewest < links ? fmt::format("{} to ", fewest) : "",
                       counted(links, "NVLink"));
  if (!host.nvswitches.empty()) {
    out += fmt::format(" through {} NVSwitches", host.nvswitches.size());
  } else if (links > 0 && has_nvswitch(host)) {
    out += " through NVSwitches";
  }
  out += ", " + counted(host.nics.size(), "NIC");
  double gigabits = 0;
  for (const Nic& nic : host.nics) {
    for (const NicPort& port : nic.ports) gigabits += port.gigabits_per_second.value_or(0);
  }
  if (gigabits > 0) out += fmt::format(" ({} Gb/s total)", gigabits);
  if (!host.numa_nodes.empty()) {
    out += ", " + counted(host.numa_nodes.size(), "NUMA node");
  }
  return out;
}

namespace {

/// "12 GB/s each between GPUs (SYS)".
std::string rate_text(const Fact<double>& rate, const Fact<PathType>& type, std::string_view where) {
  if (!rate.known()) return {};
  const std::string path = type.known() ? fmt::format(" ({})", path_type_name(*type.value)) : "";
  return fmt::format(", {} GB/s each {}{}", *rate.value, where, path);
}

std::string title(const ChannelGraph& graph) {
  std::string text =
      fmt::format("{}: {}", nccl_graph_name(graph.id), counted(graph.channels.size(), "channel"));
  if (graph.channels.empty()) return text + "\n";
  text += rate_text(graph.intra_gigabytes_per_second, graph.intra_type, "between GPUs");
  if (graph.channels.front().front().kind == DeviceKind::nic)
    text += rate_text(graph.inter_gigabytes_per_second, graph.inter_type, "to the network");
  return text + (graph.cross_nic.value_or(false) ? ", across NICs\n" : "\n");
}

/// "nearest NIC: mlx5_0, mlx5_1 (PXB)": all NICs at the least distance.
std::string nearest_text(const Host& host, const Device& gpu) {
  std::string names;
  std::optional<PathType> nearest;
  for (const Device& nic : nics_by_nearness(host, gpu)) {
    const auto path = path_between(host, gpu, nic);
    if (!path || (nearest && path->type != *nearest)) break;
    nearest = path->type;
    names += (names.empty() ? "" : ", ") + device_label(host, nic);
  }
  return nearest ? fmt::format("nearest NIC {} ({})", names, path_type_name(*nearest)) : "";
}

std::string nvlink_text(const Host& host, const Device& gpu) {
  std::map<int, std::vector<std::string>, std::greater<>> peers;  // by the number of links
  for (int i = 0; i < static_cast<int>(host.gpus.size()); ++i) {
    const Device peer{DeviceKind::gpu, i};
    const int links = nvlinks_between(host, gpu, peer);
    if (links > 0) peers[links].push_back(device_label(host, peer));
  }
  std::string text;
  for (const auto& [links, labels] : peers) {
    const bool all = labels.size() > 1 && labels.size() + 1 == host.gpus.size();
    text += fmt::format("{}{} NVLink{} to {}", text.empty() ? "" : "; ", links, links == 1 ? "" : "s",
                        all ? "every other GPU" : fmt::format("{}", fmt::join(labels, ", ")));
  }
  return text;
}

/// The words of a matrix that need explaining, with nvidia-smi's meaning.
constexpr std::array<std::pair<PathType, const char*>, 7> kLegend{{
    {PathType::nvl, "NV#   # NVLinks"},
    {PathType::c2c, "C2C   chip to chip"},
    {PathType::pix, "PIX   one PCIe bridge"},
    {PathType::pxb, "PXB   several PCIe bridges"},
    {PathType::phb, "PHB   a PCIe host bridge"},
    {PathType::node, "NODE  host bridges of one NUMA node"},
    {PathType::sys, "SYS   between NUMA nodes"},
}};

constexpr std::string_view kNotKnown = "?";

std::string matrix_cell(const std::optional<Path>& path) {
  if (!path) return std::string(kNotKnown);
  if (path->type == PathType::nvl) return fmt::format("NV{}", path->nvlinks);
  return std::string(nvidia_smi_word(path->type).value_or(path_type_name(path->type)));
}

std::string source_name(const Host& host, int source) {
  const auto index = static_cast<std::size_t>(source);
  if (index >= host.sources.size()) return "?";
  return fmt::format("{} of {}", host.sources[index].reader, host.sources[index].location);
}

constexpr std::size_t kMaxDevices = 3;

/// One line for all devices on which the same two sources disagree in the same way: two views of a machine
/// may differ on a hundred paths for one reason.
std::string disagreements_text(const Host& host) {
  std::map<std::string, std::vector<std::string>> devices;  // by the words that follow them
  for (const Disagreement& d : host.disagreements) {
    devices[fmt::format("{}: {} ({}), {} ({})", d.attribute, d.kept, source_name(host, d.kept_source),
                        d.other, source_name(host, d.other_source))]
        .push_back(d.device);
  }
  std::string out;
  for (const auto& [words, names] : devices) {
    out += fmt::format("Disagree: {} {}\n", join_first(names, kMaxDevices), words);
  }
  return out;
}

/// "Peer access: 48 of 56 ways between GPUs OK; NS (not supported): GPU0 to GPU2, … and 5 more", as
/// nvidia-smi topo -p2p has it.
std::string peer_access_text(const Host& host) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kMeanings{
      {{"CNS", "chipset not supported"},
       {"GNS", "GPU not supported"},
       {"TNS", "topology not supported"},
       {"NS", "not supported"},
       {"DR", "disabled by a registry key"}}};
  if (host.peer_access.empty()) return {};
  std::map<std::string, std::vector<std::string>> ways;  // by the word that is not OK
  std::size_t good = 0;
  for (const PeerAccess& access : host.peer_access) {
    const std::string state = access.state.value_or("U");
    good += state == "OK" ? 1 : 0;
    if (state != "OK")
      ways[state].push_back(
          fmt::format("{} to {}", device_label(host, access.from), device_label(host, access.to)));
  }
  std::string out =
      fmt::format("Peer access: OK in {} of {} directions between GPUs", good, host.peer_access.size());
  for (auto& [state, names] : ways) {
    const auto* meaning =
        std::ranges::find_if(kMeanings, [&word = state](const auto& each) { return each.first == word; });
    out += fmt::format("; {} ({}): {}", state, meaning == kMeanings.end() ? "unknown" : meaning->second,
                       join_first(names, kMaxDevices));
  }
  return out + "\n";
}

std::string trouble_text(const Host& host) {
  std::string out = disagreements_text(host);
  for (const std::string& sentence : nvlink_disagreements(host)) out += "Disagree: " + sentence + "\n";
  for (const HostNote& note : host.notes) out += "Note: " + note.text + "\n";
  return out;
}

std::string show_host(const Host& host, const ShowOptions& options) {
  std::string out = host.name.value_or(host.sources.empty() ? "host" : host.sources.front().location);
  if (host.product.known()) out += "  " + *host.product.value;
  if (host.driver_version.known()) out += "  driver " + *host.driver_version.value;
  if (host.cuda_version.known()) out += "  CUDA " + *host.cuda_version.value;
  if (host.fabric_manager.known()) out += "  fabric manager " + *host.fabric_manager.value;
  if (host.peer_memory.known()) out += "  peer memory " + *host.peer_memory.value;
  out += "\n" + summarize_host(host) + "\n";
  out += show_tree(host);
  out += show_affinity(host);
  if (options.matrix) out += show_matrix(host);
  out += peer_access_text(host);
  out += show_graphs(host);
  out += trouble_text(host);
  if (options.sources) {
    for (const Source& source : host.sources) {
      out += fmt::format("Source: {}, {}{}\n", source.reader, source.location,
                         source.version.empty() ? "" : ", " + source.version);
    }
  }
  return out;
}

}  // namespace

std::string show_graphs(const Host& host) {
  std::string out;
  for (const ChannelGraph& graph : host.nccl_graphs) {
    out += title(graph);
    for (std::size_t i = 0; i < graph.channels.size();) {
      std::size_t same = 1;  // NCCL doubles what it found: the same way follows as often
      while (i + same < graph.channels.size() && graph.channels[i + same] == graph.channels[i]) ++same;
      out += fmt::format("  {}{}\n", channel_text(host, graph, graph.channels[i]),
                         same > 1 ? fmt::format("  × {}", same) : "");
      i += same;
    }
  }
  return out;
}

std::string show_affinity(const Host& host) {
  std::string out;
  for (int i = 0; i < static_cast<int>(host.gpus.size()); ++i) {
    const Device gpu{DeviceKind::gpu, i};
    const auto numa = numa_node_of(host, gpu);
    std::string line;
    const auto& cpus = host.gpus[static_cast<std::size_t>(i)].cpu_affinity.value;
    if (numa) {
      line += fmt::format("  NUMA {}", *numa);
    } else if (cpus) {
      line += "  CPUs " + *cpus;
    }
    for (const std::string& part : {nearest_text(host, gpu), nvlink_text(host, gpu)}) {
      if (!part.empty()) line += "  " + part;
    }
    if (!line.empty()) out += fmt::format("  {:<6}{}\n", device_label(host, gpu), line);
  }
  return out.empty() ? out : "Affinity\n" + out;
}

std::string show_matrix(const Host& host) {
  const std::vector<Device> devices = gpus_and_nics(host);
  std::size_t width = 4;
  for (const Device& device : devices) width = std::max(width, device_label(host, device).size());
  std::string out = fmt::format("{:<{}}", "", width);
  for (const Device& device : devices) out += fmt::format("  {:<{}}", device_label(host, device), width);
  out.erase(out.find_last_not_of(' ') + 1);
  out += "\n";
  std::map<PathType, bool> used;
  bool unknown = false;
  for (const Device& row : devices) {
    out += fmt::format("{:<{}}", device_label(host, row), width);
    for (const Device& column : devices) {
      const auto path = path_between(host, row, column);
      if (path) used[path->type] = true;
      unknown = unknown || !path;
      out += fmt::format("  {:<{}}", matrix_cell(path), width);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    out += "\n";
  }
  if (unknown) out += fmt::format("  {:<6}unknown\n", kNotKnown);
  for (const auto& [type, words] : kLegend) {
    if (used.contains(type)) out += fmt::format("  {}\n", words);
  }
  return out;
}

std::string show_topology(const Topology& topology, const ShowOptions& options) {
  std::string out;
  for (const Host& host : topology.hosts) out += (out.empty() ? "" : "\n") + show_host(host, options);
  return out;
}

std::string list_reference_machines() {
  std::string out;
  for (const ReferenceMachine& machine : reference_machines()) {
    out += fmt::format("{:<12}  {}\n{:14}{}\n", machine.name, machine.title, "", how_checked(machine));
  }
  return out;
}

}  // namespace collbench::topology
