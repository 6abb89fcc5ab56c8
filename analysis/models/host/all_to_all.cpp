// AllToAll on host memory: S is what a rank sends in all, one block to each rank, its own included.
// AllToAllv on host memory: S is the most that one rank sends or receives.
#include <algorithm>
#include <array>

#include "analysis/models/host/algorithms.hpp"
#include "analysis/models/host/loggp_simulator.hpp"

namespace collbench::analysis {
namespace {

/// The send and the receive buffer; a rank's own block is copied.
LogGpSimulator clock_for(const HostCall& call, SentData data, double temporary_bytes) {
  LogGpSimulator clock(call.model, data, 2 * call.size_bytes + temporary_bytes);
  clock.work(clock.copy(call.block()));
  return clock;
}

/// Step k: to the rank k further, from the rank k before.
double pairwise(const HostCall& call) {
  LogGpSimulator clock = clock_for(call, SentData::standing, 0);
  for (int k = 1; k < call.ranks(); ++k) clock.exchange(shift(call.model, k), call.block());
  return clock.seconds();
}

/// Every message is posted at once (a window of all p − 1 peers): one latency, and then what the fullest link
/// has to carry, or the gaps between a rank's messages. A rank's messages within its node add to those
/// across, since one core moves both.
double all_at_once(const HostCall& call) {
  const HostModel& model = call.model;
  const double block = call.block();
  const double working_set = 2 * call.size_bytes;
  const auto on_link = [&](const MessageTier& tier) {
    return std::max(0.0, tier.standing.seconds(block, working_set) - tier.alpha_seconds);
  };
  double latency = 0;
  double fullest = 0;
  for (const int here : model.ranks_on_node) {
    const int within = here - 1;
    const int across = call.ranks() - here;
    const MessageTier& slowest = across > 0 ? model.inter : model.intra;
    const double carried =
        (within > 0 ? within * on_link(model.intra) : 0) + (across > 0 ? across * on_link(model.inter) : 0);
    const double gaps =
        within * model.intra.gap_seconds + across * model.inter.gap_seconds - slowest.gap_seconds;
    const double by_the_node = model.host_bytes_per_second > 0
                                   ? static_cast<double>(here) * across * block / model.host_bytes_per_second
                                   : 0;
    latency = std::max(latency, slowest.alpha_seconds);
    fullest = std::max({fullest, carried, gaps, by_the_node});
  }
  return model.copy.seconds(block, working_set) + latency + fullest;
}

/// Step k sends, to the rank 2^k further, all blocks whose distance has bit k. Blocks are rotated before and
/// after, and those received are copied back between steps. J. Bruck et al., IEEE TPDS 8(11), 1997.
double modified_bruck(const HostCall& call) {
  const int ranks = call.ranks();
  LogGpSimulator clock = clock_for(call, SentData::forwarded, call.size_bytes);
  clock.work(2 * clock.copy(call.size_bytes));
  for (int distance = 1; distance < ranks; distance *= 2) {
    int blocks = 0;
    for (int i = 1; i < ranks; ++i) blocks += (i & distance) != 0 ? 1 : 0;
    const double bytes = blocks * call.block();
    clock.exchange(shift(call.model, distance), bytes, clock.copy(bytes));
  }
  return clock.seconds();
}

/// With MPI_IN_PLACE: step k exchanges with the ranks k before and k further, in that order, which are one
/// and the same half way round; a copy of what goes to the latter makes room.
double basic_inplace(const HostCall& call) {
  const int ranks = call.ranks();
  LogGpSimulator clock(call.model, SentData::standing, call.size_bytes + call.block());
  for (int k = 1; k <= ranks / 2; ++k) {
    clock.work(clock.copy(call.block()));
    if (k != ranks - k) clock.exchange(shift(call.model, ranks - k), call.block());
    clock.exchange(shift(call.model, k), call.block());
  }
  return clock.seconds();
}

// Open MPI's linear_sync has no limit on its requests unless one is asked for
// (coll_tuned_alltoall_algorithm_max_requests = 0).
constexpr std::array<HostAlgorithm, 6> kAllToAll{{{"linear", any_ranks, all_at_once},
                                                  {"pairwise", any_ranks, pairwise},
                                                  {"modified_bruck", any_ranks, modified_bruck},
                                                  {"linear_sync", any_ranks, all_at_once},
                                                  {"two_proc", two_ranks, pairwise},
                                                  {"basic_inplace", never_by_choice, basic_inplace}}};

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

constexpr std::array<HostAlgorithm, 1> kAllToAllV{{{"fullest_link", any_ranks, fullest_link}}};

}  // namespace

std::span<const HostAlgorithm> host_all_to_all_algorithms() { return kAllToAll; }

std::span<const HostAlgorithm> host_all_to_all_v_algorithms() { return kAllToAllV; }

}  // namespace collbench::analysis
