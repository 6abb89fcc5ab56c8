#include "analysis/models/nccl/channel_search.hpp"

#include <algorithm>
#include <span>
#include <tuple>

#include "analysis/models/nccl/channel_steps.hpp"
#include "analysis/models/nccl/gpu_generations.hpp"

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
void double_channels(Draft& draft, GpuGeneration generation) {
  ChannelPlan& plan = draft.plan;
  if (plan.channels == 0 || plan.pattern == ChannelPattern::nvls || draft.bw_within < 25) return;
  if (generation > GpuGeneration::ampere && draft.bw_within < 50 && plan.channels > 4) return;
  const int doubled = std::min(2 * plan.channels, draft.max_channels);
  const int parts = (doubled + plan.channels - 1) / plan.channels;  // rounded up
  for (int c = plan.channels; c < doubled; ++c) {
    plan.gpus[static_cast<std::size_t>(c)] = plan.gpus[static_cast<std::size_t>(c - plan.channels)];
    plan.nets[static_cast<std::size_t>(c)] = plan.nets[static_cast<std::size_t>(c - plan.channels)];
  }
  plan.channels = doubled;
  draft.bw_within /= static_cast<float>(parts);
  draft.bw_across /= static_cast<float>(parts);
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

/// No plan has more: each channel enters through a NIC, and leaves every GPU by NVLink or PCIe.
int ChannelSearch::most_channels(float speed) const {
  const auto fitting = [speed](float rate) { return static_cast<int>(rate / speed + 1e-4F); };
  int most = now_.max_channels;
  if (inter_) {
    int entering = 0;
    for (int n = 0; n < static_cast<int>(net_rates_.size()); ++n) {
      const std::vector<int>& gpus_beside = paths_.gpus_beside(n);
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

ChannelSearch::Allowances ChannelSearch::allowances(ChannelPattern pattern, int cross_nic) const {
  Allowances allowed;
  allowed.nvls = pattern == ChannelPattern::nvls;
  const bool may_cross = graph_.all(NodeKind::net).size() > 1 &&
                         (pattern == ChannelPattern::ring || pattern == ChannelPattern::balanced_tree);
  if (may_cross) allowed.cross_nic = cross_nic;
  if (gpus() > 1) std::tie(allowed.min_gpu, allowed.max_gpu) = distances(graph_, paths_, NodeKind::gpu);
  if (inter_) {
    std::tie(allowed.min_net, allowed.max_net) = distances(graph_, paths_, NodeKind::net);
    allowed.max_gpu = allowed.max_net;
  }
  if (graph_.generation < GpuGeneration::hopper) allowed.max_net = Distance::sys;  // for balanced trees
  const NcclGeneration& tried = nccl_generation(graph_.generation);
  const std::span<const double> listed = inter_ ? tried.network_speeds : tried.node_speeds;
  allowed.speeds.assign(listed.begin(), listed.end());
  return allowed;
}

Draft ChannelSearch::first_draft(Draft draft) const {
  const ChannelPattern pattern = draft.plan.pattern;
  draft.plan.cross_nic = allowed_.cross_nic == 1 ? 1 : 0;
  draft.plan.farthest_gpu = allowed_.min_gpu;
  draft.plan.farthest_net = allowed_.min_net;
  draft.plan.channels = 0;
  draft.plan.same_channels = !allowed_.nvls;
  if (allowed_.nvls) draft.max_channels = std::min(kMaxHeads, gpus());
  if (gpus() == 1 && pattern != ChannelPattern::ring) draft.plan.pattern = ChannelPattern::tree;
  if (!inter_ && allowed_.nvls) draft.min_channels = draft.max_channels;
  if (pattern == ChannelPattern::ring && two_nvlink_groups(graph_, paths_) && draft.max_channels >= 2 &&
      draft.min_channels == 1)
    draft.min_channels = 2;
  draft.plan.gpus.assign(kMaxChannelsOfNccl, std::vector<int>(used_.size(), -1));
  draft.plan.nets.assign(kMaxChannelsOfNccl, {-1, -1});
  return draft;
}

/// The first that a link carries, and of which the machine carries as many channels as there have to be.
std::size_t ChannelSearch::first_speed() const {
  float total = total_rate_;
  const auto devices = static_cast<double>(graph_.all(NodeKind::device).size());
  // What is no ring need not close, so a GPU's NVLinks carry a little more.
  if (devices > 1 && best_.plan.pattern != ChannelPattern::ring)
    total = static_cast<float>(total * (devices / (devices - 1)));
  const auto fits = [&](float speed) {
    return speed <= max_rate_ && speed * static_cast<float>(best_.min_channels) <= total;
  };
  const std::vector<float>& speeds = allowed_.speeds;
  const auto first = std::find_if(speeds.begin(), speeds.end(), fits);
  return first == speeds.end() ? speeds.size() - 1 : static_cast<std::size_t>(first - speeds.begin());
}

/// Whether the search is over: nothing better is possible, or the machine carries no more.
bool ChannelSearch::look() {
  steps_ = now_.plan.same_channels ? kStepsOfEqualChannels : kSteps;
  now_.plan.channels = 0;
  steps_left_ -= steps_;
  // What cannot be better is not looked for where the last look with the same allowances used up its steps,
  // as this one would: NCCL does look, and stops when all steps are used. It might find a way of fewer hops,
  // not other channels.
  bool& before = used_up_[{now_.plan.same_channels, now_.plan.farthest_gpu, now_.plan.farthest_net,
                           now_.plan.cross_nic, now_.plan.pattern}];
  if (before && now_.plan.pattern == ChannelPattern::ring &&
      static_cast<float>(most_channels(now_.bw_within)) * now_.bw_within <=
          static_cast<float>(best_.plan.channels) * best_.bw_within) {
    steps_ = 0;
    return false;
  }
  search(steps_);
  before = steps_ == 0;
  return steps_ == kNoStepsNeeded || static_cast<float>(best_.plan.channels) * best_.bw_across >= total_rate_;
}

bool ChannelSearch::allow_farther_gpus() {
  const Distance farthest = inter_ ? now_.plan.farthest_net : allowed_.max_gpu;
  Distance& now = now_.plan.farthest_gpu;
  if (now < farthest && (best_.plan.channels == 0 || now < best_.plan.farthest_gpu)) {
    now = next(now);
    if (now < Distance::none) return true;
  }
  now = allowed_.min_gpu;
  return false;
}

bool ChannelSearch::allow_farther_nets() {
  Distance& now = now_.plan.farthest_net;
  if (inter_ && now < allowed_.max_net &&
      (best_.plan.channels == 0 || now < best_.plan.farthest_net || now < Distance::pxn)) {
    now = next(now);
    if (now < Distance::none) return true;
  }
  now = allowed_.min_net;
  return false;
}

bool ChannelSearch::allow_crossing() {
  const bool crosses =
      best_.plan.pattern == ChannelPattern::ring || best_.plan.pattern == ChannelPattern::balanced_tree;
  if (allowed_.cross_nic == 2 && now_.plan.cross_nic == 0 && crosses) {
    now_.plan.cross_nic = 2;
    return true;
  }
  now_.plan.cross_nic = allowed_.cross_nic == 1 ? 1 : 0;
  return false;
}

bool ChannelSearch::allow_a_slower_speed() {
  const std::vector<float>& speeds = allowed_.speeds;
  if (speed_ + 1 >= speeds.size()) return false;
  if (best_.plan.channels > 0 && speeds[speed_ + 1] / best_.bw_across <= kSlowestTried) return false;
  now_.bw_within = now_.bw_across = speeds[++speed_];
  return true;
}

/// Channels that differ, then farther GPUs and NICs, then other NICs at both ends, then a slower speed; false
/// when all was tried. What has no next starts again, as an odometer does.
bool ChannelSearch::allow_more() {
  const bool amd_over_cpus =
      graph_.x86 && graph_.cpu == CpuKind::amd && now_.plan.farthest_gpu == Distance::sys;
  if (now_.plan.same_channels && !amd_over_cpus) {
    now_.plan.same_channels = false;
    return true;
  }
  now_.plan.same_channels = !allowed_.nvls;
  steps_left_ += steps_;
  if (steps_left_ < 0 && best_.plan.channels > 0) return false;
  if (graph_.generation >= GpuGeneration::hopper && now_.plan.pattern == ChannelPattern::balanced_tree) {
    now_.plan.pattern = ChannelPattern::tree;
    return true;
  }
  now_.plan.pattern = best_.plan.pattern;
  return allow_farther_gpus() || allow_farther_nets() || allow_crossing() || allow_a_slower_speed();
}

/// As many channels, faster: rings both within and across, trees within, NVLS across.
void ChannelSearch::look_faster() {
  const std::vector<float>& speeds = allowed_.speeds;
  now_ = best_;
  speed_ = 0;
  while (speeds[speed_] > best_.bw_across && speed_ + 1 < speeds.size()) ++speed_;
  now_.bw_within = now_.bw_across = speeds[speed_];
  now_.min_channels = best_.plan.channels;
  steps_ = kNoStepsNeeded;
  while (steps_ != 0 && speed_ > 0) {
    if (best_.plan.pattern == ChannelPattern::ring) {
      now_.bw_within = now_.bw_across = speeds[--speed_];
    } else if (best_.plan.pattern == ChannelPattern::nvls && now_.bw_across == best_.bw_across &&
               now_.bw_across < now_.bw_within * 2) {
      now_.min_channels = now_.max_channels = best_.plan.channels;
      now_.bw_across = speeds[--speed_];
    } else if (now_.bw_within == best_.bw_within && now_.bw_within < now_.bw_across * 2) {
      now_.bw_within = speeds[--speed_];
    } else {
      break;
    }
    (void)look();
  }
}

Draft ChannelSearch::compute(Draft best, int cross_nic) {
  allowed_ = allowances(best.plan.pattern, cross_nic);
  if (allowed_.nvls && (!has_switches() || graph_.generation < GpuGeneration::hopper)) return best;
  now_ = best_ = first_draft(std::move(best));
  speed_ = first_speed();
  now_.bw_within = now_.bw_across = allowed_.speeds[speed_];
  steps_left_ = kAllSteps;
  while (!look() && allow_more()) {
  }
  double_channels(best_, graph_.generation);
  look_faster();
  if (best_.plan.channels == 0 && !allowed_.nvls) {  // NCCL's way out: one channel in the order of the ranks
    best_.plan.channels = 1;
    best_.bw_within = best_.bw_across = kNoPlan;
  }
  return best_;
}

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
