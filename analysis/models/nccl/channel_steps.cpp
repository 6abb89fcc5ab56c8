#include "analysis/models/nccl/channel_steps.hpp"

#include <cmath>

namespace collbench::analysis {
namespace {

constexpr int kStepsInPciOrder = 1 << 10;  // NCCL 2.30 src/graph/search.cc

}  // namespace

void ChannelSearch::find_max_rates() {
  const auto devices = static_cast<int>(graph_.all(NodeKind::device).size());
  if (!inter_ && gpus() == 1) {
    max_rate_ = total_rate_ = 5000;
    return;
  }
  const NodeKind to = inter_ ? NodeKind::net : NodeKind::device;
  for (int device = 0; device < devices; ++device) {
    for (int i = 0; i < static_cast<int>(graph_.all(to).size()); ++i) {
      const GraphPath& path = paths_.path(NodeKind::device, device, to, i);
      if (path.hops() > 0) max_rate_ = std::max(max_rate_, path.rate);
    }
    float nvlinks = 0;
    float pcie = 0;
    for (const GraphLink& link : graph_.nodes[at(graph_.all(NodeKind::device)[at(device)])].links) {
      if (link.kind == LinkKind::nvlink) nvlinks += link.rate;
      if (link.kind == LinkKind::pcie) pcie = link.rate;
    }
    total_rate_ = std::max({total_rate_, nvlinks, pcie});
  }
}

/// The NICs to try, of one GPU or (-1) of all: their own first, then those that are near enough.
const std::vector<int>& ChannelSearch::nets(Distance farthest, int gpu) {
  auto& known = nets_of_[static_cast<std::size_t>(farthest) * (used_.size() + 1) + at(gpu + 1)];
  if (known) return *known;
  std::vector<int> found;
  const auto add = [&found](int net) {
    if (std::find(found.begin(), found.end(), net) == found.end()) found.push_back(net);
  };
  const int first = gpu < 0 ? 0 : gpu;
  const int last = gpu < 0 ? gpus() : gpu + 1;
  for (int g = first; g < last; ++g) {
    const int start = paths_.net_of(g, 0);
    if (start < 0) continue;
    add(start);
    for (int channel = 1; channel < kMaxChannelsOfNccl; ++channel) {
      const int each = paths_.net_of(g, channel);
      if (each == start) break;
      add(each);
    }
  }
  for (int distance = 0; distance <= static_cast<int>(farthest); ++distance) {
    for (int g = first; g < last; ++g) {
      for (int n = 0; n < static_cast<int>(net_rates_.size()); ++n) {
        if (paths_.path(NodeKind::gpu, g, NodeKind::net, n).distance == static_cast<Distance>(distance))
          add(n);
      }
    }
  }
  known = std::move(found);
  return *known;
}

/// Takes `rate` (or gives it back where negative) from the first `hops` links of a path; the number that had
/// it.
int ChannelSearch::follow(const GraphPath& path, NodeKind from_kind, float rate, int hops) {
  float pcie = rate;  // peers through an Intel CPU send smaller packets
  if (path.distance == Distance::phb && from_kind == NodeKind::gpu && graph_.x86 &&
      graph_.cpu == CpuKind::intel) {
    pcie = rate * 6 / 5;
  }
  // As std::roundf, which is a call of the library and took a tenth of a search; in double the sum is exact.
  const auto rounded = [](float value) {
    const double thousandths = value * 1000;
    return static_cast<float>(static_cast<int>(thousandths + (thousandths < 0 ? -0.5 : 0.5))) / 1000;
  };
  for (int i = 0; i < hops; ++i) {
    const int index = path.links[at(i)];
    const PlacedLink& link = paths_.links()[at(index)];
    const float wanted = link.link.kind == LinkKind::pcie ? pcie : rate;
    // Before Ampere, what a NIC writes into a GPU takes of the other direction, too.
    const bool both = graph_.generation < GpuGeneration::ampere && from_kind != NodeKind::gpu &&
                      graph_.nodes[at(link.link.to)].kind == NodeKind::device;
    const int back = both ? reverse_[at(index)] : -1;
    const float wanted_back = back >= 0 ? wanted / 8 : 0;
    if (rates_[at(index)] < wanted || (back >= 0 && wanted_back != 0 && rates_[at(back)] < wanted_back))
      return i;
    rates_[at(index)] = rounded(rates_[at(index)] - wanted);
    if (back >= 0) rates_[at(back)] = rounded(rates_[at(back)] - wanted_back);
  }
  return hops;
}

/// Takes a channel's rate from the way between two nodes; false, and nothing taken, where it is too far or
/// has no more room. `times` below 0 gives back.
bool ChannelSearch::go(NodeKind start_kind, int start, NodeKind end_kind, int end, float times) {
  const GraphPath& path = paths_.path(start_kind, start, end_kind, end);
  const bool within = start_kind != NodeKind::net && end_kind != NodeKind::net;
  const Distance farthest = within ? now_.plan.farthest_gpu : now_.plan.farthest_net;
  if (path.distance >= Distance::network) return false;
  if (times == 1) {
    if (path.distance > farthest) return false;
    const bool both_ways = now_.plan.pattern == ChannelPattern::balanced_tree ||
                           now_.plan.pattern == ChannelPattern::tree ||
                           now_.plan.pattern == ChannelPattern::split_tree;
    if (both_ways && paths_.path(end_kind, end, start_kind, start).distance > farthest) return false;
  }
  const float rate = (within ? now_.bw_within : now_.bw_across) * times;
  const int done = follow(path, start_kind, rate, path.hops());
  if (done < path.hops()) {
    follow(path, start_kind, -rate, done);
    return false;
  }
  now_.hops += (times < 0 ? -1 : 1) * static_cast<int>(std::fabs(times)) * path.hops();
  return true;
}

int ChannelSearch::pci_rate(int gpu) const {
  const int device = graph_.nodes[at(graph_.all(NodeKind::gpu)[at(gpu)])].links.front().to;
  for (const GraphLink& up : graph_.nodes[at(device)].links) {
    if (up.kind != LinkKind::pcie) continue;
    for (const GraphLink& down : graph_.nodes[at(up.to)].links) {
      if (down.to == device) return static_cast<int>(std::min(up.rate, down.rate));
    }
  }
  return -1;
}

/// Behind switches the neighbors only, which keeps few flows on each: of the two that the pattern looks at,
/// the second comes first.
ChannelSearch::Neighbors ChannelSearch::neighbors(int gpu) const {
  const std::uint64_t flag = std::uint64_t{1} << now_.plan.channels;
  const int before = (gpu - 1 + gpus()) % gpus();
  const int after = (gpu + 1) % gpus();
  const bool ring = now_.plan.pattern == ChannelPattern::ring;
  const bool one = now_.plan.pattern == ChannelPattern::tree || before == after;
  Neighbors found;
  const auto add = [&](int other) {
    const bool reached = paths_.path(NodeKind::gpu, gpu, NodeKind::gpu, other).hops() > 0;
    if (reached && (used_[at(other)] & flag) == 0) found.gpus[found.count++] = other;
  };
  if (one) {
    add(after);
  } else {
    add(ring ? before : after);
    add(ring ? after : before);
  }
  return found;
}

/// The GPUs to try after one, best first.
std::vector<int> ChannelSearch::next_gpus(int gpu, ByNet by_net) const {
  struct Score {
    int gpu, start, hops, rate, net_hops, pci_rate, net_rate;
  };
  const std::uint64_t flag = std::uint64_t{1} << now_.plan.channels;
  std::vector<Score> scores;
  for (int i = 1; i < gpus(); ++i) {
    const int other = (gpu + i) % gpus();
    const GraphPath& path = paths_.path(NodeKind::gpu, gpu, NodeKind::gpu, other);
    if (path.hops() == 0 || (used_[at(other)] & flag) != 0) continue;
    Score score{other, i, path.hops(), static_cast<int>(path.rate), 0, 0, 0};
    if (by_net != ByNet::no) {
      const GraphPath& net =
          paths_.path(NodeKind::net, now_.plan.nets[at(now_.plan.channels)].first, NodeKind::gpu, other);
      score.net_hops = net.hops();
      score.pci_rate = pci_rate(other);
      score.net_rate = static_cast<int>(net.rate);
    }
    scores.push_back(score);
  }
  std::sort(scores.begin(), scores.end(), [](const Score& a, const Score& b) {
    return std::tie(b.net_rate, b.pci_rate, a.net_hops, b.rate, a.hops, a.start) <
           std::tie(a.net_rate, a.pci_rate, b.net_hops, a.rate, b.hops, b.start);
  });
  const bool alike = std::all_of(scores.begin(), scores.end(), [&](const Score& score) {
    return score.rate == scores.front().rate && score.hops == scores.front().hops;
  });
  if (by_net == ByNet::later && alike) std::reverse(scores.begin(), scores.end());
  std::vector<int> found;
  for (const Score& score : scores) found.push_back(score.gpu);
  return found;
}

bool ChannelSearch::better() const {
  const int channels = now_.plan.channels;
  const int least = best_.plan.channels;
  if (channels < now_.min_channels) return false;
  if (now_.plan.pattern == ChannelPattern::nvls) {
    return (channels > least && channels <= gpus()) ||
           static_cast<float>(channels) * now_.bw_across > static_cast<float>(least) * best_.bw_across;
  }
  const float rate = static_cast<float>(channels) * now_.bw_within;
  const float old = static_cast<float>(least) * best_.bw_within;
  if (rate != old) return rate > old;
  return now_.plan.pattern == best_.plan.pattern && now_.plan.cross_nic == best_.plan.cross_nic &&
         now_.hops < best_.hops;
}

int ChannelSearch::step_to_net() const {
  if (!inter_) return -1;
  if (now_.plan.pattern == ChannelPattern::ring) return gpus() - 1;
  return now_.plan.pattern == ChannelPattern::split_tree ? 1 : 0;
}

int ChannelSearch::step_to_first() const {
  return !inter_ && now_.plan.pattern == ChannelPattern::ring ? gpus() - 1 : -1;
}

void ChannelSearch::try_gpu(std::optional<int> from_net, std::optional<int> from_gpu, int gpu, int step,
                            int to_net, int to_first, Order order, int& steps) {
  const NodeKind kind = from_net ? NodeKind::net : NodeKind::gpu;
  const std::optional<int> from = from_net ? from_net : from_gpu;
  if (from && !go(kind, *from, NodeKind::gpu, gpu, 1)) return;
  const std::uint64_t flag = std::uint64_t{1} << now_.plan.channels;
  used_[at(gpu)] ^= flag;
  at_gpu(gpu, step, to_net, to_first, order, steps);
  used_[at(gpu)] ^= flag;
  if (from) go_back(kind, *from, NodeKind::gpu, gpu, 1);
}

void ChannelSearch::complete_channel(int& steps) {
  ++now_.plan.channels;
  if (better()) {
    best_ = now_;
    if (now_.plan.channels == now_.max_channels) steps = kNoStepsNeeded;
  }
  if (now_.plan.channels < now_.max_channels) search(steps);
  --now_.plan.channels;
}

void ChannelSearch::to_next_gpu(int gpu, int step, int to_net, int to_first, Order order, int& steps) {
  const auto try_next = [&](int next) { try_gpu({}, gpu, next, step + 1, to_net, to_first, order, steps); };
  if (order == Order::by_pci) {
    try_next(step + 1);
  } else if (order == Order::as_before) {
    try_next(now_.plan.gpus[at(now_.plan.channels - 1)][at(step + 1)]);
  } else if (has_switches()) {
    const Neighbors next = neighbors(gpu);
    for (std::size_t i = 0; i < next.count; ++i) try_next(next.gpus[i]);
  } else {
    const ByNet by_net = to_net == -1 ? ByNet::no : to_net == step + 1 ? ByNet::next : ByNet::later;
    for (const int next : next_gpus(gpu, by_net)) try_next(next);
  }
}

void ChannelSearch::at_gpu(int gpu, int step, int to_net, int to_first, Order order, int& steps) {
  if (steps <= 0) return;
  --steps;
  if (step == gpus()) {
    complete_channel(steps);
    return;
  }
  now_.plan.gpus[at(now_.plan.channels)][at(step)] = gpu;
  if (step == to_net) {
    if (inter_) back_to_net(gpu, step, to_first, order, steps);
  } else if (now_.plan.pattern == ChannelPattern::nvls) {
    through_switches(gpu, steps);
  } else if (step < gpus() - 1) {
    to_next_gpu(gpu, step, to_net, to_first, order, steps);
  } else if (step == to_first) {
    const int first = now_.plan.gpus[at(now_.plan.channels)][0];
    if (go(NodeKind::gpu, gpu, NodeKind::gpu, first, 1)) {
      at_gpu(first, step + 1, to_net, -1, order, steps);
      go_back(NodeKind::gpu, gpu, NodeKind::gpu, first, 1);
    }
  } else {
    at_gpu(gpu, gpus(), -1, -1, order, steps);
  }
}

bool ChannelSearch::may_leave_by(int n, int step) const {
  const int channel = now_.plan.channels;
  const int start = now_.plan.nets[at(channel)].first;
  if (now_.plan.pattern == ChannelPattern::tree && n != start) return false;
  if (now_.plan.pattern == ChannelPattern::ring && now_.plan.cross_nic == 2) {
    if (channel % 2 == 1 && n != now_.plan.nets[at(channel - 1)].first) return false;
  } else if (now_.plan.cross_nic == 0 && !same_port(n, start)) {
    return false;
  }
  return now_.plan.pattern != ChannelPattern::balanced_tree || step == 0 ||
         n == now_.plan.nets[at(channel)].second;
}

void ChannelSearch::back_to_net(int gpu, int step, int to_first, Order order, int& steps) {
  for (const int n : nets(now_.plan.farthest_net, gpu)) {
    if (!may_leave_by(n, step)) continue;
    // A balanced tree leaves half by each of its first two GPUs.
    const bool halves = now_.plan.pattern == ChannelPattern::balanced_tree;
    const float whole = now_.bw_across;
    if (halves) now_.bw_across /= 2;
    const bool reached = go(NodeKind::gpu, gpu, NodeKind::net, n, 1);
    now_.bw_across = whole;
    if (!reached) continue;
    now_.plan.nets[at(now_.plan.channels)].second = n;
    at_gpu(gpu, step, halves && step == 0 ? 1 : -1, to_first, order, steps);
    if (halves) now_.bw_across /= 2;
    go_back(NodeKind::gpu, gpu, NodeKind::net, n, 1);
    now_.bw_across = whole;
  }
}

/// NVLS: the head sends and receives twice what the other GPUs do.
void ChannelSearch::through_switches(int head, int& steps) {
  const auto times = [head](int gpu) { return gpu == head ? 2.0F : 1.0F; };
  int down = 0;
  while (down < gpus() && go(NodeKind::nvswitch, 0, NodeKind::gpu, down, times(down))) ++down;
  if (down == gpus()) {
    int up = 0;
    while (up < gpus() && go(NodeKind::gpu, up, NodeKind::nvswitch, 0, times(up))) ++up;
    if (up == gpus()) at_gpu(-1, gpus(), -1, -1, Order::free, steps);
    while (up > 0) {
      --up;
      go_back(NodeKind::gpu, up, NodeKind::nvswitch, 0, times(up));
    }
  }
  while (down > 0) {
    --down;
    go_back(NodeKind::nvswitch, 0, NodeKind::gpu, down, times(down));
  }
}

void ChannelSearch::search(int& steps) {
  if (inter_) {
    from_net(steps);
    return;
  }
  const int channel = now_.plan.channels;
  const int to_first = step_to_first();
  if (now_.plan.pattern == ChannelPattern::nvls) {
    try_gpu({}, {}, channel, 0, -1, to_first, Order::free, steps);
    return;
  }
  if (channel == 0) {
    try_gpu({}, {}, 0, 0, -1, to_first, Order::by_pci, steps);
  } else {
    try_gpu({}, {}, now_.plan.gpus[at(channel - 1)][0], 0, -1, to_first, Order::as_before, steps);
  }
  if (now_.plan.same_channels && channel > 0) return;
  for (int gpu = 0; gpu < gpus(); ++gpu) try_gpu({}, {}, gpu, 0, -1, to_first, Order::free, steps);
}

void ChannelSearch::from_net(int& steps) {
  const auto rate = static_cast<float>(static_cast<int>(now_.bw_across));
  const std::vector<int>& tried = nets(now_.plan.farthest_net, -1);
  const int channel = now_.plan.channels;
  bool found = false;
  const auto take = [&](int n, float part) {
    for (int other = 0; other < static_cast<int>(net_rates_.size()); ++other) {
      if (same_port(other, n)) net_rates_[at(other)] -= part;
    }
  };
  for (std::size_t i = 0; i < tried.size(); ++i) {
    const bool heads = now_.plan.pattern == ChannelPattern::nvls;
    if (heads && found) break;
    const int n = tried[(at(channel) + i) % tried.size()];
    if (net_rates_[at(n)] < rate) continue;
    if (now_.plan.pattern == ChannelPattern::ring && now_.plan.cross_nic == 2 && channel % 2 == 1 &&
        n != now_.plan.nets[at(channel - 1)].second)
      continue;
    now_.plan.nets[at(channel)].first = n;
    take(n, rate);
    if (heads) {
      const int gpu = paths_.gpu_of(n);
      bool duplicate = gpu < 0 || channel >= static_cast<int>(tried.size());
      for (int c = 0; c < channel && !duplicate; ++c) duplicate = now_.plan.gpus[at(c)][0] == gpu;
      if (!duplicate) {
        try_gpu(n, {}, gpu, 0, step_to_net(), -1, Order::free, steps);
        found = true;
      }
    } else {
      channel_at(n, steps);
    }
    take(n, -rate);
  }
}

void ChannelSearch::channel_at(int n, int& steps) {
  const int channel = now_.plan.channels;
  const int to_net = step_to_net();
  if (channel > 0 && now_.plan.same_channels) {
    try_gpu(n, {}, now_.plan.gpus[at(channel - 1)][0], 0, to_net, -1, Order::as_before, steps);
    return;
  }
  if (channel == 0 && !has_switches()) {
    int few = kStepsInPciOrder;
    try_gpu(n, {}, 0, 0, to_net, -1, Order::by_pci, few);
    if (few == kNoStepsNeeded) steps = kNoStepsNeeded;
  }
  const int own = paths_.gpu_of(n);
  if (own >= 0) try_gpu(n, {}, own, 0, to_net, -1, Order::free, steps);
  for (const int gpu : paths_.gpus_beside(n)) {
    if (gpu != own) try_gpu(n, {}, gpu, 0, to_net, -1, Order::free, steps);
  }
}

}  // namespace collbench::analysis
