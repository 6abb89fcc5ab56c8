// AllToAllv on host memory: S is the most that one rank sends or receives.
#include <algorithm>
#include <array>

#include "analysis/models/host/algorithms.hpp"

namespace collbench::analysis {
namespace {

/// What one rank, or one node, sends or receives.
struct Load {
  double within = 0;  ///< bytes to (or from) other ranks of the node
  double across = 0;  ///< bytes to (or from) other nodes
};

double seconds_per_byte(const MessageTier& tier, double message_bytes, double working_set) {
  if (message_bytes <= 0) return 0;
  return std::max(0.0, tier.standing.seconds(message_bytes, working_set) - tier.alpha_seconds) /
         message_bytes;
}

/// Of what leaves `rank` (`sends`), or comes to it; what it sends itself is in neither part.
Load load_of(const HostCall& call, double bytes_per_weight, int rank, bool sends) {
  const TrafficMatrix& traffic = *call.traffic;
  const auto node_of = [&call](int each) { return call.model.node[static_cast<std::size_t>(each)]; };
  Load load;
  for (int peer = 0; peer < call.ranks(); ++peer) {
    if (peer == rank) continue;
    const double weight = sends ? traffic.weight(rank, peer) : traffic.weight(peer, rank);
    (node_of(peer) == node_of(rank) ? load.within : load.across) += bytes_per_weight * weight;
  }
  return load;
}

/// The most that a rank sends itself, in bytes.
double max_copied(const HostCall& call, double bytes_per_weight) {
  double most = 0;
  for (int rank = 0; rank < call.ranks(); ++rank) most = std::max(most, call.traffic->weight(rank, rank));
  return most * bytes_per_weight;
}

/// Every message is posted at once: one latency, and then what the fullest link has to carry, of all ranks'
/// and all nodes', in either direction. What a rank sends itself is copied. Messages of different lengths
/// take the rate of the rank's mean one.
double fullest_link(const HostCall& call) {
  const HostModel& model = call.model;
  const double bytes_per_weight = call.size_bytes / fullest_weight(*call.traffic);
  const double working_set = 2 * call.size_bytes;
  const double message = call.size_bytes / std::max(1, call.ranks() - 1);
  const double intra = seconds_per_byte(model.intra, message, working_set);
  const double inter = seconds_per_byte(model.inter, message, working_set);
  double fullest = 0;
  bool crosses = false;
  for (const bool sends : {true, false}) {
    std::vector<double> leaving(model.ranks_on_node.size(), 0);
    for (int rank = 0; rank < call.ranks(); ++rank) {
      const Load load = load_of(call, bytes_per_weight, rank, sends);
      crosses = crosses || load.across > 0;
      leaving[static_cast<std::size_t>(model.node[static_cast<std::size_t>(rank)])] += load.across;
      fullest = std::max(fullest, load.within * intra + load.across * inter);
    }
    if (model.host_bytes_per_second <= 0) continue;
    for (const double bytes : leaving) fullest = std::max(fullest, bytes / model.host_bytes_per_second);
  }
  const double alpha = crosses ? model.inter.alpha_seconds : model.intra.alpha_seconds;
  return alpha + fullest + model.copy.seconds(max_copied(call, bytes_per_weight), working_set);
}

constexpr std::array<HostAlgorithm, 1> kAlgorithms{{{"fullest_link", any_ranks, fullest_link}}};

}  // namespace

std::span<const HostAlgorithm> host_all_to_all_v_algorithms() { return kAlgorithms; }

}  // namespace collbench::analysis
