#include "analysis/models/nccl/nic_channels.hpp"

#include <algorithm>
#include <map>

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "analysis/models/nccl/gpu_generations.hpp"
#include "analysis/models/nccl/links.hpp"

namespace collbench::analysis {
namespace {

constexpr int kMaxRingChannels = 32;  // NCCL 2.30 src/init.cc: a ring has at most MAXCHANNELS / 2
constexpr int kMaxOnANic = 3;  // libnccl 2.28.9 opened no more on any machine of docs/notes/model-evidence.md
constexpr double kSlowestTried = 0.49;  // NCCL 2.30 src/graph/search.cc, of the speed that gave channels

NicLink usual_nic(const GpuCluster& cluster) {
  return {cluster.nic_line_rate, cluster.nic_path, NicNeighbors::one_gpu};
}

int channels_on(const NicLink& nic, double speed) { return static_cast<int>(nic.nccl_rate() / speed); }

/// Slow NICs whose GPUs have a faster one beside them are never reached.
std::vector<NicLink> reached_slow_nics(const GpuCluster& cluster) {
  std::vector<NicLink> reached = cluster.slower_nics;
  std::erase_if(reached, [](const NicLink& nic) { return nic.neighbors == NicNeighbors::gpus_and_nics; });
  return reached;
}

/// The speed at which the NICs carry most, and the channels at it.
struct Search {
  double speed = 0;
  int channels = 0;
};

Search search(const GpuCluster& cluster, const std::vector<NicLink>& slow) {
  const NicLink fast = usual_nic(cluster);
  Search best;
  for (const double speed : nccl_generation(cluster.generation).network_speeds) {
    if (speed > fast.nccl_rate()) continue;
    if (best.channels > 0 && speed <= kSlowestTried * best.speed) break;
    if (channels_on(fast, speed) > kMaxOnANic) break;
    int channels = fast_nic_count(cluster) * channels_on(fast, speed);
    for (const NicLink& nic : slow) channels += channels_on(nic, speed);
    channels = std::min(channels, kMaxRingChannels);
    if (channels * speed > best.channels * best.speed) best = {speed, channels};
  }
  return best;
}

/// Rings pair NICs of one rate: in through one, out through the other. Of an odd number of fast ones the last
/// pairs with one that is taken already, and the slow NICs come after all others. Where the GPUs of a slow
/// NIC have no other one, every NIC carries one channel before any carries two.
bool first_channels_meet(const GpuCluster& cluster, const std::vector<NicLink>& slow) {
  return fast_nic_count(cluster) % 2 == 1 && std::none_of(slow.begin(), slow.end(), [](const NicLink& nic) {
           return nic.neighbors == NicNeighbors::gpus_without_a_nic;
         });
}

/// The first channels of a plan, which are those that remain where other nodes have fewer.
NicChannels channels_of_plan(const PlannedNode& planned) {
  const ChannelPlan& ring = planned.plan.ring;
  std::map<int, int> on_nic;
  for (int c = 0; c < ring.channels; ++c) ++on_nic[ring.nets.at(static_cast<std::size_t>(c)).first];
  NicChannels result{ring.channels, 1, static_cast<int>(on_nic.size()), 0};
  for (const auto& [nic, channels] : on_nic) result.most_on_a_nic = std::max(result.most_on_a_nic, channels);
  return result;
}

}  // namespace

int fast_nic_count(const GpuCluster& cluster) {
  if (cluster.ranks_per_node < cluster.gpus && cluster.slower_nics.empty())
    return std::min(cluster.nics, cluster.near_nics);
  return cluster.nics - static_cast<int>(cluster.slower_nics.size());
}

void use_nics(GpuCluster& cluster, int nics) {
  if (nics >= cluster.nics) return;
  cluster.nics = nics;
  cluster.slower_nics.clear();
  cluster.planned.reset();  // of all NICs
}

double NicLink::nccl_rate() const { return path > 0 ? std::min(line_rate, path) : line_rate; }

double NicLink::rate(double efficiency) const {
  const double line = line_rate * efficiency;
  return path > 0 ? std::min(line, path) : line;
}

NicChannels nic_channels(const GpuCluster& cluster) {
  if (const PlannedNode* planned = plan_of(cluster)) {
    NicChannels result = channels_of_plan(*planned);
    result.rate = domain_nics(cluster).gigabytes_per_second;
    return result;
  }
  const double efficiency = traits(cluster.transport).efficiency;
  const double fast = usual_nic(cluster).rate(efficiency);
  const int fast_count = fast_nic_count(cluster);
  const NicChannels fast_alone{fast_count, 1, fast_count, fast_count * fast};
  std::vector<NicLink> slow = reached_slow_nics(cluster);
  if (slow.empty()) return fast_alone;
  const Search found = search(cluster, slow);
  if (found.channels == 0) return fast_alone;
  std::erase_if(slow, [&](const NicLink& nic) { return channels_on(nic, found.speed) == 0; });
  if (slow.empty()) return fast_alone;

  NicChannels result{found.channels, std::max(1, channels_on(usual_nic(cluster), found.speed)), cluster.nics,
                     0};
  double slowest = fast / result.most_on_a_nic;
  if (cluster.max_channels > 0 && cluster.max_channels < found.channels) {
    result.channels = cluster.max_channels;
    const bool meet = result.most_on_a_nic > 1 && first_channels_meet(cluster, slow);
    result.most_on_a_nic = meet ? 2 : 1;
    slowest = fast / result.most_on_a_nic;
    if (meet) {
      result.nics = fast_count;
    } else {
      for (const NicLink& nic : slow) slowest = std::min(slowest, nic.rate(efficiency));
    }
  } else {
    for (const NicLink& nic : slow) {
      slowest = std::min(slowest, nic.rate(efficiency) / channels_on(nic, found.speed));
    }
  }
  result.rate = result.channels * slowest;
  return result;
}

}  // namespace collbench::analysis
