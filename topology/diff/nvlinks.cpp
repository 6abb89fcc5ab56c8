// diff_nvlinks() of parts.hpp: NVLinks, C2C links and peer access.
#include <algorithm>

#include "base/text_input.hpp"
#include "base/units.hpp"
#include "topology/catalog/gpus.hpp"
#include "topology/diff/parts.hpp"
#include "topology/graph/device_slots.hpp"

namespace collbench::topology {
namespace {

// Drivers print one rate as 25, 25.781 or 26.562 GB/s: only what is clearly less is slower.
constexpr double kClearlyLess = 0.9;

struct Counts {
  int worse = 0;
  int better = 0;

  bool operator==(const Counts&) const = default;
};
using ChangedLinks = ChangedPair<Counts>;

bool nvlink_state_contains(const Gpu& gpu, std::string_view word) {
  return lower(gpu.nvlink_state.value_or("")).find(word) != std::string::npos;
}

/// A GPU in MIG mode has no links; that is a finding of its own.
bool in_mig_mode(const Gpu& gpu) {
  return gpu.mig.value_or(false) || nvlink_state_contains(gpu, "in mig mode");
}

/// The links from each GPU to each other one and to each NVSwitch that both hosts have, on `side` and on the
/// other one.
std::vector<ChangedLinks> all_links(const HostPair& pair, Side side, NvLinkCount count) {
  const auto links = [&](Side at, const DevicePair& from, const DevicePair& to) {
    return counted_nvlinks(pair.of(at), *from.of(at), *to.of(at), count);
  };
  std::vector<ChangedLinks> all;
  for (const DevicePair& from : pair.match.gpus) {
    if (!from.a || !from.b) continue;
    for (const auto* list : {&pair.match.gpus, &pair.match.nvswitches}) {
      for (const DevicePair& to : *list) {
        if (to.a && to.b && from != to)
          all.push_back({from, to, {links(side, from, to), links(other(side), from, to)}});
      }
    }
  }
  return all;
}

/// No GPU has a link on one side: that is one finding, not one for each.
bool none_left(const HostPair& pair, Side side, NvLinkCount count) {
  return std::ranges::none_of(all_links(pair, side, count),
                              [](const ChangedLinks& each) { return each.what.worse > 0; });
}

std::vector<ChangedLinks> changed_links(const HostPair& pair, Side side, NvLinkCount count) {
  std::vector<ChangedLinks> changed = all_links(pair, side, count);
  std::erase_if(changed, [](const ChangedLinks& each) { return each.what.worse >= each.what.better; });
  return changed;
}

/// All pairs of the device have lost alike.
bool lost_alike(const Explained<Counts>& explained) {
  return explained.pairs.size() > 2 && std::ranges::all_of(explained.pairs, [&](const ChangedLinks& each) {
           return each.what == explained.pairs.front().what;
         });
}

std::string link_counts(const HostPair& pair, Side side, const Explained<Counts>& explained) {
  if (lost_alike(explained)) {
    const Counts& each = explained.pairs.front().what;
    std::vector<DevicePair> peers;
    for (const ChangedLinks& one : explained.pairs) {
      const DevicePair& peer = one.from == explained.device ? one.to : one.from;
      if (std::ranges::find(peers, peer) == peers.end()) peers.push_back(peer);
    }
    return fmt::format("{} instead of {} with each of {}",
                       each.worse == 0 ? "no NVLinks" : counted(each.worse, "NVLink"), each.better,
                       finding_devices(pair, side, peers));
  }
  std::vector<std::string> parts;
  for (const ChangedLinks& each : explained.pairs) {
    const bool outward = each.from == explained.device;
    parts.push_back(fmt::format("{} {} {} instead of {}", each.what.worse, outward ? "to" : "from",
                                finding_devices(pair, side, {outward ? each.to : each.from}),
                                each.what.better));
  }
  return "NVLinks: " + join_words(parts);
}

bool has_none(const HostPair& pair, Side side, const DevicePair& gpu, NvLinkCount count) {
  for (const auto* list : {&pair.match.gpus, &pair.match.nvswitches}) {
    for (const DevicePair& to : *list) {
      if (gpu == to || !to.of(side)) continue;
      if (counted_nvlinks(pair.of(side), *gpu.of(side), *to.of(side), count) > 0) return false;
      if (counted_nvlinks(pair.of(side), *to.of(side), *gpu.of(side), count) > 0) return false;
    }
  }
  return true;
}

/// The GPUs of which fewer links are listed than between them and others.
std::vector<DevicePair> diff_counts(const HostPair& pair, FindingList& findings) {
  std::vector<DevicePair> explained_gpus;
  const NvLinkCount count = common_nvlink_count(pair.a, pair.b);
  if (count == NvLinkCount::not_at_all) return explained_gpus;
  for (const Side side : {Side::a, Side::b}) {
    const auto changed = changed_links(pair, side, count);
    if (changed.size() > 2 && none_left(pair, side, count)) {
      findings.add("nvlink-off", side, pair.match.gpus, "no NVLink between any two GPUs");
      return pair.match.gpus;
    }
    for (const Explained<Counts>& each : explain_pairs(changed)) {
      std::vector<DevicePair> devices{each.device};
      for (const ChangedLinks& one : each.pairs) {
        const DevicePair& peer = one.from == each.device ? one.to : one.from;
        const bool listed = std::ranges::find(devices, peer) != devices.end();
        if (!listed && each.pairs.size() <= 2) devices.push_back(peer);
      }
      explained_gpus.insert(explained_gpus.end(), devices.begin(), devices.end());
      const bool off = each.device.of(side)->kind == DeviceKind::gpu && each.pairs.size() > 2 &&
                       has_none(pair, side, each.device, count);
      findings.add_named(off ? "nvlink-off" : "nvlink-fewer", side,
                         finding_devices(pair, side, {each.device}), devices, link_counts(pair, side, each));
    }
  }
  return explained_gpus;
}

/// Links that the model has in use; 0 where nothing is known.
int links_of_model(const Gpu& gpu) {
  const GpuModel* model = find_gpu_model(gpu.model.value_or(""));
  return model == nullptr ? 0 : model->nvlinks;
}

void check_links(const HostPair& pair, FindingList& findings, const DevicePair& devices, Side side) {
  const Gpu& mine = pair.of(side).gpus.at(static_cast<std::size_t>(devices.of(side)->index));
  const Gpu& theirs = pair.of(other(side)).gpus.at(static_cast<std::size_t>(devices.of(other(side))->index));
  if (in_mig_mode(mine)) return;
  const int there = std::max(theirs.nvlinks_active.value_or(0), links_of_model(mine));
  const bool off_there = theirs.nvlink_state.known() && theirs.nvlinks_active.value_or(0) == 0;
  // A card that has links and no bridge nvlink_state_contains the same: only one that should have some is at
  // fault.
  if (mine.nvlink_state.known() && there > 0 && (nvlink_state_contains(mine, "inactive") || !off_there)) {
    findings.add("nvlink-off", side, {devices}, *mine.nvlink_state.value);
  } else if (mine.nvlinks_active.known() && *mine.nvlinks_active.value < there) {
    findings.add(
        "nvlink-fewer", side, {devices},
        fmt::format("{} active instead of {}", counted(*mine.nvlinks_active.value, "NVLink"), there));
  }
}

bool clearly_less(const Fact<double>& a, const Fact<double>& b) {
  return a.known() && b.known() && *a.value < kClearlyLess * *b.value;
}

/// Of one link, so that a missing one is not a slow one as well.
Fact<double> per_link(const NvLinkBundle& bundle) {
  if (!bundle.gigabytes_per_second.known() || bundle.count.value_or(0) < 1) return {};
  return {*bundle.gigabytes_per_second.value / *bundle.count.value, 0};
}

void diff_rates(const HostPair& pair, FindingList& findings) {
  const auto compare = [&](std::string_view code, const std::vector<DevicePair>& devices,
                           const Fact<double>& a, const Fact<double>& b, std::string_view unit) {
    if (clearly_less(a, b)) findings.add(code, Side::a, devices, instead(Side::a, a, b, unit));
    if (clearly_less(b, a)) findings.add(code, Side::b, devices, instead(Side::b, a, b, unit));
  };
  each_pair(pair, pair.match.gpus, &Host::gpus, [&](const DevicePair& devices, const Gpu& a, const Gpu& b) {
    compare("nvlink-slower", {devices}, a.nvlink_gigabytes_per_second, b.nvlink_gigabytes_per_second,
            "GB/s per NVLink");
    if (lesser(a.c2c_links, b.c2c_links)) {
      add_if_less(findings, "c2c-slower", {devices}, a.c2c_links, b.c2c_links, "C2C links");
    } else {
      compare("c2c-slower", {devices}, a.c2c_gigabytes_per_second, b.c2c_gigabytes_per_second, "GB/s of C2C");
    }
  });
  for (const NvLinkBundle& in_a : pair.a.nvlinks) {
    const auto from = pair.match.in_b(in_a.from);
    const auto to = pair.match.in_b(in_a.to);
    if (!from || !to) continue;
    for (const NvLinkBundle& in_b : pair.b.nvlinks) {
      if (in_b.from != *from || in_b.to != *to || lesser(in_a.count, in_b.count)) continue;
      compare("nvlink-slower", {{in_a.from, from}, {in_a.to, to}}, per_link(in_a), per_link(in_b),
              "GB/s per NVLink between them");
    }
  }
}

void diff_peer_access(const HostPair& pair, FindingList& findings) {
  for (const PeerAccess& in_a : pair.a.peer_access) {
    const auto from = pair.match.in_b(in_a.from);
    const auto to = pair.match.in_b(in_a.to);
    if (!from || !to) continue;
    for (const PeerAccess& in_b : pair.b.peer_access) {
      if (in_b.from != *from || in_b.to != *to || !lesser(in_a.state, in_b.state)) continue;
      const Side side = *in_b.state.value == "OK" ? Side::a : Side::b;
      findings.add("peer-access", side, {{in_a.from, from}, {in_a.to, to}},
                   "peer access " + instead(side, in_a.state, in_b.state, ""));
    }
  }
}

}  // namespace

void diff_nvlinks(const HostPair& pair, FindingList& findings) {
  const std::vector<DevicePair> explained = diff_counts(pair, findings);
  for (const DevicePair& devices : pair.match.gpus) {
    if (!devices.a || !devices.b) continue;
    if (std::ranges::find(explained, devices) != explained.end()) continue;
    for (const Side side : {Side::a, Side::b}) check_links(pair, findings, devices, side);
  }
  diff_rates(pair, findings);
  diff_peer_access(pair, findings);
}

}  // namespace collbench::topology
