#include "topology/show_graphs.hpp"

#include <fmt/format.h>

#include "base/units.hpp"
#include "topology/channel_graph.hpp"

namespace collbench {
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

}  // namespace collbench
