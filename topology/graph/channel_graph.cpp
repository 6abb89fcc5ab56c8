#include "topology/graph/channel_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "topology/graph/lookup.hpp"

namespace collbench::topology {
namespace {

constexpr int kRing = 0;

bool before(const Device& a, const Device& b) {
  return std::pair(a.kind, a.index) < std::pair(b.kind, b.index);
}

/// Between GPUs alone it has no first one.
bool is_closed(const ChannelGraph& graph, const std::vector<Device>& channel) {
  return graph.id == kRing && channel.size() > 1 && channel.front().kind == DeviceKind::gpu;
}

}  // namespace

std::string nccl_graph_name(int id) {
  constexpr std::array<std::string_view, 5> kNames{"ring", "tree", "CollNet chain", "NVLS", "CollNet direct"};
  if (id < 0 || static_cast<std::size_t>(id) >= kNames.size()) return fmt::format("NCCL's graph {}", id);
  return fmt::format("NCCL's {}", kNames.at(static_cast<std::size_t>(id)));
}

std::string channel_text(const Host& host, const ChannelGraph& graph, const std::vector<Device>& channel) {
  std::string text;
  for (const Device& device : channel) text += (text.empty() ? "" : " → ") + device_label(host, device);
  if (is_closed(graph, channel)) text += " → " + device_label(host, channel.front());
  return text;
}

std::vector<std::vector<Device>> sorted_channels(const ChannelGraph& graph) {
  std::vector<std::vector<Device>> sorted = graph.channels;
  for (std::vector<Device>& channel : sorted) {
    if (is_closed(graph, channel))
      std::rotate(channel.begin(), std::min_element(channel.begin(), channel.end(), before), channel.end());
  }
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), before);
  });
  return sorted;
}

}  // namespace collbench::topology
