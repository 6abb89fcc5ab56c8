#pragma once
#include <string>
#include <vector>

#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// "NCCL's ring", "NCCL's NVLS", by the id of a graph (nccl 2.30 src/include/graph.h).
[[nodiscard]] std::string nccl_graph_name(int id);

/// "mlx5_0 → GPU0 → GPU3 → mlx5_0"; a ring that stays inside the host is closed: "GPU0 → GPU3 → GPU0".
[[nodiscard]] std::string channel_text(const Host& host, const ChannelGraph& graph,
                                       const std::vector<Device>& channel);

/// The channels, sorted, and rings that stay inside the host turned to start at the same device: equal where
/// NCCL plans the same, in whatever order it found it.
[[nodiscard]] std::vector<std::vector<Device>> sorted_channels(const ChannelGraph& graph);

}  // namespace collbench::topology
