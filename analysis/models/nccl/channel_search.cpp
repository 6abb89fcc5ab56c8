#include "analysis/models/nccl/channel_search.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <tuple>

#include "analysis/models/nccl/channel_steps.hpp"
#include "analysis/models/nccl/nccl_cost.hpp"

namespace collbench::analysis {
namespace {

// NCCL 2.30 src/graph/search.cc.
constexpr int kMaxHeads = 32;
constexpr int kSteps = 1 << 14;  // of one look for channels at one speed
constexpr int kStepsOfEqualChannels = 1 << 8;
constexpr std::int64_t kAllSteps = 1 << 19;
constexpr double kSlowestTried = 0.49;  // of the speed that gave channels
constexpr float kNoPlan = 0.1F;         // GB/s of the channel when nothing fits

/// Channels of more than 25 GB/s become two of half the speed, for more threads.
void double_channels(Draft& draft, int sm) {
  ChannelPlan& plan = draft.plan;
  if (plan.channels == 0 || plan.pattern == ChannelPattern::nvls || draft.bw_within < 25) return;
  if (sm > 80 && draft.bw_within < 50 && plan.channels > 4) return;
  const int doubled = std::min(2 * plan.channels, draft.max_channels);
  const auto part = static_cast<float>((doubled + plan.channels - 1) / plan.channels);
  for (int c = plan.channels; c < doubled; ++c) {
    plan.gpus[static_cast<std::size_t>(c)] = plan.gpus[static_cast<std::size_t>(c - plan.channels)];
    plan.nets[static_cast<std::size_t>(c)] = plan.nets[static_cast<std::size_t>(c - plan.channels)];
  }
  plan.channels = doubled;
  draft.bw_within /= part;
  draft.bw_across /= part;
}

Distance next(Distance distance) { return static_cast<Distance>(static_cast<int>(distance) + 1); }

/// The nearest and farthest of the ways between GPUs, or from GPUs to NICs.
std::pair<Distance, Distance> distances(const MachineGraph& graph, const MachinePaths& paths, NodeKind to) {
  Distance nearest = Distance::sys;
  Distance farthest = Distance::local;
  for (int i = 0; i < static_cast<int>(graph.all(NodeKind::gpu).size()); ++i) {
    for (int j = 0; j < static_cast<int>(graph.all(to).size()); ++j) {
      if (to == NodeKind::gpu && i == j) continue;
      const Distance each = paths.path(NodeKind::gpu, i, to, j).distance;
      nearest = std::min(nearest, each);
      farthest = std::max(farthest, each);
    }
  }
  return {nearest, farthest};
}

/// Two groups of GPUs with NVLink inside only.
bool two_nvlink_groups(const MachineGraph& graph, const MachinePaths& paths) {
  const auto gpus = static_cast<int>(graph.all(NodeKind::gpu).size());
  std::vector<int> group(static_cast<std::size_t>(gpus));
  for (int i = 0; i < gpus; ++i) group[static_cast<std::size_t>(i)] = i;
  for (int i = 0; i < gpus; ++i) {
    for (int j = i + 1; j < gpus; ++j) {
      if (paths.path(NodeKind::gpu, i, NodeKind::gpu, j).distance == Distance::nvlink)
        group[static_cast<std::size_t>(j)] = group[static_cast<std::size_t>(i)];
    }
  }
  int groups = 0;
  for (int i = 0; i < gpus; ++i) groups += std::count(group.begin(), group.end(), i) > 1 ? 1 : 0;
  return groups == 2;
}

}  // namespace

/// No plan has more: each channel enters through a NIC, and leaves every GPU by NVLink or PCIe.
int ChannelSearch::most_channels(float speed) const {
  const auto fitting = [speed](float rate) { return static_cast<int>(rate / speed + 1e-4F); };
  int most = now_.max_channels;
  if (inter_) {
    int entering = 0;
    for (int n = 0; n < static_cast<int>(net_rates_.size()); ++n) {
      const std::vector<int> gpus_beside = paths_.nearest(NodeKind::net, n, NodeKind::gpu);
      if (gpus_beside.empty()) continue;
      entering += fitting(paths_.path(NodeKind::net, n, NodeKind::gpu, gpus_beside.front()).rate);
    }
    most = std::min(most, entering);
  }
  if (gpus() == 1) return most;
  for (const int device : graph_.all(NodeKind::device)) {
    float nvlinks = 0;
    float others = 0;
    for (const GraphLink& link : graph_.nodes[at(device)].links) {
      if (link.kind == LinkKind::nvlink) nvlinks += link.rate;
      if (link.kind == LinkKind::pcie || link.kind == LinkKind::c2c) others += link.rate;
    }
    most = std::min(most, fitting(nvlinks) + fitting(others));
  }
  return most;
}

Draft ChannelSearch::compute(Draft best, int cross_nic) {
  const ChannelPattern pattern = best.plan.pattern;
  const bool nvls = pattern == ChannelPattern::nvls;
  if (nvls && (!has_switches() || graph_.sm < 90)) return best;
  const bool may_cross = graph_.all(NodeKind::net).size() > 1 &&
                         (pattern == ChannelPattern::ring || pattern == ChannelPattern::balanced_tree);
  const int crossing = may_cross ? cross_nic : 0;
  best.plan.cross_nic = crossing == 1 ? 1 : 0;
  Distance min_gpu = Distance::local;
  Distance max_gpu = Distance::sys;
  Distance min_net = Distance::pix;
  Distance max_net = Distance::sys;
  if (gpus() > 1) std::tie(min_gpu, max_gpu) = distances(graph_, paths_, NodeKind::gpu);
  if (inter_) {
    std::tie(min_net, max_net) = distances(graph_, paths_, NodeKind::net);
    max_gpu = max_net;
  }
  if (graph_.sm < 90) max_net = Distance::sys;  // balanced trees may have to come back that way
  best.plan.farthest_gpu = min_gpu;
  best.plan.farthest_net = min_net;
  best.plan.channels = 0;
  best.plan.same_channels = !nvls;
  if (nvls) best.max_channels = std::min(kMaxHeads, gpus());
  if (gpus() == 1 && pattern != ChannelPattern::ring) best.plan.pattern = ChannelPattern::tree;
  if (!inter_ && nvls) best.min_channels = best.max_channels;
  if (pattern == ChannelPattern::ring && two_nvlink_groups(graph_, paths_) && best.max_channels >= 2 &&
      best.min_channels == 1)
    best.min_channels = 2;
  best.plan.gpus.assign(kMaxChannelsOfNccl, std::vector<int>(used_.size(), -1));
  best.plan.nets.assign(kMaxChannelsOfNccl, {-1, -1});

  const std::vector<double>& listed = inter_ ? nccl_network_speeds(graph_.sm) : nccl_node_speeds(graph_.sm);
  const std::vector<float> speeds(listed.begin(), listed.end());
  const std::size_t last = speeds.size() - 1;
  float total = total_rate_;
  const auto devices = static_cast<double>(graph_.all(NodeKind::device).size());
  // What is no ring need not close, so a GPU's NVLinks carry a little more.
  if (devices > 1 && pattern != ChannelPattern::ring)
    total = static_cast<float>(total * (devices / (devices - 1)));
  std::size_t speed = 0;
  while ((speeds[speed] > max_rate_ || speeds[speed] * static_cast<float>(best.min_channels) > total) &&
         speed < last)
    ++speed;
  best_ = best;
  now_ = best;
  now_.bw_within = now_.bw_across = speeds[speed];
  std::int64_t left = kAllSteps;
  // What cannot be better is not looked for where the last look with the same allowances used up its steps,
  // as this one would: NCCL does look, and stops when all steps are used. It might find a way of fewer hops,
  // not other channels.
  std::map<std::tuple<bool, Distance, Distance, int, ChannelPattern>, bool> used_up;
  const auto look = [&] {
    steps_ = now_.plan.same_channels ? kStepsOfEqualChannels : kSteps;
    now_.plan.channels = 0;
    left -= steps_;
    bool& before = used_up[{now_.plan.same_channels, now_.plan.farthest_gpu, now_.plan.farthest_net,
                            now_.plan.cross_nic, now_.plan.pattern}];
    if (before && now_.plan.pattern == ChannelPattern::ring &&
        static_cast<float>(most_channels(now_.bw_within)) * now_.bw_within <=
            static_cast<float>(best_.plan.channels) * best_.bw_within) {
      steps_ = 0;
      return false;
    }
    search(steps_);
    before = steps_ == 0;
    return steps_ == kNoStepsNeeded ||
           static_cast<float>(best_.plan.channels) * best_.bw_across >= total_rate_;
  };

  // Once more with every allowance, the nearest ones first, then slower.
  while (!look()) {
    const bool amd_over_cpus =
        graph_.x86 && graph_.cpu == CpuKind::amd && now_.plan.farthest_gpu == Distance::sys;
    if (now_.plan.same_channels && !amd_over_cpus) {
      now_.plan.same_channels = false;
      continue;
    }
    now_.plan.same_channels = !nvls;
    left += steps_;
    if (left < 0 && best_.plan.channels > 0) break;
    if (graph_.sm >= 90 && now_.plan.pattern == ChannelPattern::balanced_tree) {
      now_.plan.pattern = ChannelPattern::tree;
      continue;
    }
    now_.plan.pattern = best_.plan.pattern;
    const bool none = best_.plan.channels == 0;
    const Distance max_within = inter_ ? now_.plan.farthest_net : max_gpu;
    if (now_.plan.farthest_gpu < max_within && (none || now_.plan.farthest_gpu < best_.plan.farthest_gpu)) {
      now_.plan.farthest_gpu = next(now_.plan.farthest_gpu);
      if (now_.plan.farthest_gpu < Distance::none) continue;
    }
    now_.plan.farthest_gpu = min_gpu;
    if (inter_ && now_.plan.farthest_net < max_net &&
        (none || now_.plan.farthest_net < best_.plan.farthest_net ||
         now_.plan.farthest_net < Distance::pxn)) {
      now_.plan.farthest_net = next(now_.plan.farthest_net);
      if (now_.plan.farthest_net < Distance::none) continue;
    }
    now_.plan.farthest_net = min_net;
    if (crossing == 2 && now_.plan.cross_nic == 0 &&
        (best_.plan.pattern == ChannelPattern::ring || best_.plan.pattern == ChannelPattern::balanced_tree)) {
      now_.plan.cross_nic = 2;
      continue;
    }
    now_.plan.cross_nic = crossing == 1 ? 1 : 0;
    if (speed >= last || (!none && speeds[speed + 1] / best_.bw_across <= kSlowestTried)) break;
    now_.bw_within = now_.bw_across = speeds[++speed];
  }

  // As many channels, faster: rings both within and across, trees within, NVLS across.
  double_channels(best_, graph_.sm);
  now_ = best_;
  speed = 0;
  while (speeds[speed] > best_.bw_across && speed < last) ++speed;
  now_.bw_within = now_.bw_across = speeds[speed];
  now_.min_channels = best_.plan.channels;
  steps_ = kNoStepsNeeded;
  while (steps_ != 0 && speed > 0) {
    if (best_.plan.pattern == ChannelPattern::ring) {
      now_.bw_within = now_.bw_across = speeds[--speed];
    } else if (best_.plan.pattern == ChannelPattern::nvls && now_.bw_across == best_.bw_across &&
               now_.bw_across < now_.bw_within * 2) {
      now_.min_channels = now_.max_channels = best_.plan.channels;
      now_.bw_across = speeds[--speed];
    } else if (now_.bw_within == best_.bw_within && now_.bw_within < now_.bw_across * 2) {
      now_.bw_within = speeds[--speed];
    } else {
      break;
    }
    (void)look();
  }
  if (best_.plan.channels == 0 && !nvls) {  // NCCL's way out: one channel in the order of the ranks
    best_.plan.channels = 1;
    best_.bw_within = best_.bw_across = kNoPlan;
  }
  return best_;
}

namespace {

ChannelPlan finished(const MachineGraph& graph, Draft draft) {
  ChannelPlan plan = std::move(draft.plan);
  plan.within_node = draft.bw_within;
  plan.across_nodes = draft.bw_across;
  plan.gpus.resize(static_cast<std::size_t>(plan.channels));
  plan.nets.resize(static_cast<std::size_t>(plan.channels));
  const auto device = [&graph](NodeKind kind, int position) {
    return position < 0
               ? -1
               : graph.nodes[static_cast<std::size_t>(graph.all(kind)[static_cast<std::size_t>(position)])]
                     .device;
  };
  for (std::vector<int>& channel : plan.gpus) {
    if (plan.pattern == ChannelPattern::nvls) channel.resize(1);
    for (int& gpu : channel) gpu = device(NodeKind::gpu, gpu);
  }
  for (auto& [in, out] : plan.nets) {
    in = device(NodeKind::net, in);
    out = device(NodeKind::net, out);
  }
  return plan;
}

}  // namespace

NodePlan plan_channels(const MachineGraph& graph, bool several_nodes, const NcclSettings& settings) {
  NodePlan plan;
  if (graph.all(NodeKind::gpu).empty() || (several_nodes && graph.all(NodeKind::net).empty())) return plan;
  const MachinePaths paths(graph, settings);
  const auto search = [&](ChannelPattern pattern, int least, int most) {
    Draft draft;
    draft.plan.pattern = pattern;
    draft.min_channels = least;
    draft.max_channels = most;
    return finished(graph, ChannelSearch(graph, paths, several_nodes).compute(draft, settings.cross_nic));
  };
  plan.ring = search(ChannelPattern::ring, 1, kMaxChannelsOfNccl / 2);
  plan.tree = search(ChannelPattern::balanced_tree, plan.ring.channels, plan.ring.channels);
  plan.nvls = search(ChannelPattern::nvls, 1, kMaxChannelsOfNccl);
  return plan;
}

NodePlan agreed(const NodePlan& a, const NodePlan& b) {
  const auto least = [](const ChannelPlan& x, const ChannelPlan& y) {
    ChannelPlan both = x;
    both.channels = std::min(x.channels, y.channels);
    both.within_node = std::min(x.within_node, y.within_node);
    both.across_nodes = std::min(x.across_nodes, y.across_nodes);
    both.farthest_gpu = std::max(x.farthest_gpu, y.farthest_gpu);
    both.farthest_net = std::max(x.farthest_net, y.farthest_net);
    both.same_channels = x.same_channels && y.same_channels;
    both.cross_nic = std::max(x.cross_nic, y.cross_nic);
    both.pattern = std::max(x.pattern, y.pattern);
    return both;
  };
  NodePlan plan{least(a.ring, b.ring), least(a.tree, b.tree), least(a.nvls, b.nvls)};
  plan.ring.channels = plan.tree.channels = std::min(plan.ring.channels, plan.tree.channels);
  return plan;
}

}  // namespace collbench::analysis
