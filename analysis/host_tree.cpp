#include "analysis/host_tree.hpp"

#include <algorithm>
#include <bit>

namespace collbench {

double host_tree_all_reduce(const HostCall& call) {
  const HostModel& model = call.model;
  const double size = call.size_bytes;
  const int nodes = model.nodes();
  const int chain = *std::max_element(model.ranks_on_node.begin(), model.ranks_on_node.end());
  const double working_set = (call.in_place ? 1 : 2) * size;

  const auto bandwidth_part = [&](const MessageTier& tier, double bytes) {
    return std::max(0.0, tier.forwarded.seconds(bytes, working_set) - tier.alpha_seconds);
  };
  const double out_of_a_rank = chain == 1 ? 0 : chain == 2 ? size : 2 * size;
  const double out_of_a_node = nodes == 1 ? 0 : nodes == 2 ? size : 2 * size;
  const double node_seconds = model.host_bytes_per_second > 0 ? out_of_a_node / model.host_bytes_per_second
                              : nodes > 1                     ? bandwidth_part(model.inter, out_of_a_node)
                                                              : 0;
  const double fullest = std::max(chain > 1 ? bandwidth_part(model.intra, out_of_a_rank) : 0, node_seconds);

  const int levels = static_cast<int>(std::bit_width(static_cast<unsigned>(nodes))) - 1;  // ⌊log2 N⌋
  const double latency = 2 * ((chain - 1) * model.intra.alpha_seconds + levels * model.inter.alpha_seconds);
  const double reduced = (chain > 1 ? size : 0) + (nodes == 1 ? 0 : nodes == 2 ? size / 2 : size);
  return latency + fullest + model.reduce.seconds(reduced, working_set) +
         (call.in_place ? 0 : model.copy.seconds(size, working_set));
}

}  // namespace collbench
