#include "topology/diff/finding.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "topology/diff/parts.hpp"
#include "topology/graph/device_slots.hpp"
#include "topology/graph/lookup.hpp"

namespace collbench::topology {
namespace {

// What two slots disagree in; the weights only order candidates.
constexpr int kOtherGpuModel = 6000;
constexpr int kOtherNearness = 4000;
constexpr int kCloserThanReference = 500;
constexpr int kOtherWiring = 4000;
constexpr int kOtherLinkCount = 1000;
constexpr int kOtherNumaNode = 1000;
// What only tells twins apart: each weighs less than one disagreement; all of it together may weigh more (8
// GPUs in reverse order, where nothing else tells: 28 × 40).
constexpr int kOtherName = 2;   // where another device has one of the two names
constexpr int kOtherOrder = 1;  // two devices that changed places, by address, else as they are listed
// nvidia-smi numbers GPUs by PCI address, and the kernel finds NICs in any order: where either two GPUs
// without addresses or the NICs beside them (up to four each, 4 × 2 names and 4 × 4 in another order) have
// changed places, it is the NICs.
constexpr int kOtherGpuOrder = 40;
constexpr int kMaxSteps = 4000;  // of the search; 40 devices of one kind are matched in some ten milliseconds
constexpr std::size_t kMaxStarts = 600;  // ways to leave out as many slots as are empty
constexpr int kNone = -1;                // no counterpart

/// Looks for the assignment of the slots of `a` to those of `b` that disagree least: one slot after another,
/// the cheapest candidate first, and never beyond what the best one so far costs.
class Search {
 public:
  Search(const SlotPlan& a, const SlotPlan& b, bool a_is_reference, bool far_says_nothing)
      : a_(a),
        b_(b),
        a_is_reference_(a_is_reference),
        far_says_nothing_(far_says_nothing),
        taken_(b.slots.size()) {
    for (const DeviceKind kind : {DeviceKind::gpu, DeviceKind::nvswitch, DeviceKind::nic}) {
      const auto of_kind = [kind](const DeviceSlot& slot) { return slot.device.kind == kind; };
      const auto in_a = std::ranges::count_if(a.slots, of_kind);
      const auto in_b = std::ranges::count_if(b.slots, of_kind);
      empty_.push_back(static_cast<int>(std::max<std::ptrdiff_t>(0, in_a - in_b)));
    }
    for (const DeviceSlot& slot : b.slots) {
      addresses_.insert(slot.address);
      if (!slot.name.empty()) names_.insert(slot.name);
    }
    for (const DeviceSlot& slot : a.slots) {
      if (!slot.name.empty()) names_of_a_.insert(slot.name);
    }
    addresses_.erase("");
    trust_addresses();
  }

  /// Position in b's slots for each of a's, or kNone.
  std::vector<int> best() {
    start_from_addresses();
    start_in_order();
    descend(0);
    return best_;
  }

 private:
  struct Candidate {
    int cost;
    int rank;  ///< among equals: the same address, then an empty slot where the address is gone, then by rank
    int slot;
  };

  /// Two machines of one type have the same bus numbers, or one was renumbered and few are left: those say
  /// nothing, as do those of a reference machine, which are made up.
  void trust_addresses() {
    const auto shared = static_cast<std::size_t>(std::ranges::count_if(
        a_.slots, [this](const DeviceSlot& slot) { return addresses_.contains(slot.address); }));
    if (2 * shared < std::min(a_.slots.size(), b_.slots.size())) addresses_.clear();
  }

  [[nodiscard]] bool same_address(const DeviceSlot& mine, const DeviceSlot& theirs) const {
    return mine.address == theirs.address && addresses_.contains(mine.address);
  }

  /// The first assignment: by address, the rest by rank. On equal machines it is the right one, and another
  /// has to disagree less to be taken instead.
  void start_from_addresses() {
    std::vector<int> slots(a_.slots.size(), kNone);
    std::vector<bool> taken(b_.slots.size());
    for (const bool by_address : {true, false}) {
      for (std::size_t i = 0; i < slots.size(); ++i) {
        for (std::size_t j = 0; j < taken.size() && slots[i] == kNone; ++j) {
          const DeviceSlot& mine = a_.slots[i];
          const DeviceSlot& theirs = b_.slots[j];
          if (taken[j] || mine.device.kind != theirs.device.kind) continue;
          if (by_address && !same_address(mine, theirs)) continue;
          taken[j] = true;
          slots[i] = static_cast<int>(j);
        }
      }
    }
    take_if_better(slots);
  }

  void take_if_better(const std::vector<int>& slots) {
    int cost = 0;
    for (std::size_t i = 0; i < slots.size() && cost < best_cost_; ++i) {
      if (slots[i] != kNone) cost += cost_of(i, static_cast<std::size_t>(slots[i]));
      chosen_.push_back(slots[i]);
    }
    if (cost < best_cost_) {
      best_cost_ = cost;
      best_ = chosen_;
    }
    chosen_.clear();
  }

  /// Where slots are empty: all others in the order in which they are, for each choice of the empty ones that
  /// is one of not too many.
  void start_in_order() {
    std::vector<std::vector<int>> starts{{}};
    for (const DeviceKind kind : {DeviceKind::gpu, DeviceKind::nvswitch, DeviceKind::nic}) {
      const auto count = std::ranges::count_if(
          a_.slots, [kind](const DeviceSlot& slot) { return slot.device.kind == kind; });
      const auto first =
          std::ranges::find_if(b_.slots, [kind](const DeviceSlot& slot) { return slot.device.kind == kind; });
      const int in_b = static_cast<int>(std::ranges::count_if(
          b_.slots, [kind](const DeviceSlot& slot) { return slot.device.kind == kind; }));
      std::vector<std::vector<int>> longer;
      for (const std::vector<int>& start : starts) {
        for (const std::vector<bool>& empty : choices(static_cast<int>(count), empty_of(kind))) {
          std::vector<int> slots = start;
          int next = static_cast<int>(first - b_.slots.begin());
          const int end = next + in_b;
          for (const bool left_out : empty) slots.push_back(left_out || next == end ? kNone : next++);
          longer.push_back(std::move(slots));
          if (longer.size() > kMaxStarts) return;
        }
      }
      starts = std::move(longer);
    }
    for (const std::vector<int>& start : starts) take_if_better(start);
  }

  /// All ways to choose `chosen` of `count`; the last ones alone where there are too many.
  static std::vector<std::vector<bool>> choices(int count, int chosen) {
    std::vector<bool> mask(static_cast<std::size_t>(count));
    std::fill(mask.end() - std::min(chosen, count), mask.end(), true);
    std::vector<std::vector<bool>> all{mask};
    while (std::next_permutation(mask.begin(), mask.end())) {
      all.push_back(mask);
      if (all.size() > kMaxStarts) return {all.front()};
    }
    return all;
  }

  int& empty_of(DeviceKind kind) {
    return empty_[kind == DeviceKind::gpu ? 0 : kind == DeviceKind::nvswitch ? 1 : 2];
  }

  [[nodiscard]] int cost_of(std::size_t i, std::size_t j) const {
    const DeviceSlot& mine = a_.slots[i];
    const DeviceSlot& theirs = b_.slots[j];
    int cost =
        !mine.model.empty() && !theirs.model.empty() && mine.model != theirs.model ? kOtherGpuModel : 0;
    if (mine.numa_node >= 0 && theirs.numa_node >= 0 && mine.numa_node != theirs.numa_node)
      cost += kOtherNumaNode;
    if (!mine.name.empty() && !theirs.name.empty() && mine.name != theirs.name &&
        (names_.contains(mine.name) || names_of_a_.contains(theirs.name)))
      cost += kOtherName;
    for (std::size_t k = 0; k < chosen_.size(); ++k) {
      if (chosen_[k] == kNone) continue;
      const auto counterpart = static_cast<std::size_t>(chosen_[k]);
      if (counterpart > j && a_.slots[k].device.kind == mine.device.kind)
        cost += is_by_number(mine, theirs) ? kOtherGpuOrder : kOtherOrder;
      const Nearness near = a_.near[i][k];
      const Nearness there = b_.near[j][counterpart];
      cost += nearness_cost(near, there);
      cost += wiring_cost(a_.nvlinks[i][k], b_.nvlinks[j][counterpart]);
      cost += wiring_cost(a_.nvlinks[k][i], b_.nvlinks[counterpart][j]);
    }
    return cost;
  }

  /// Two GPUs of real machines of which no address, and no UUID that both machines have, says what they are
  /// the counterparts of.
  [[nodiscard]] bool is_by_number(const DeviceSlot& mine, const DeviceSlot& theirs) const {
    return mine.device.kind == DeviceKind::gpu && !a_is_reference_ &&
           (mine.address.empty() || theirs.address.empty()) && !names_.contains(mine.name) &&
           !names_of_a_.contains(theirs.name);
  }

  [[nodiscard]] int nearness_cost(Nearness near, Nearness there) const {
    if (near == Nearness::unknown || there == Nearness::unknown || near == there) return 0;
    if (!a_is_reference_) return kOtherNearness;
    if (there == Nearness::far && far_says_nothing_) return 0;
    return there < near ? kCloserThanReference : kOtherNearness;
  }

  static int wiring_cost(int links, int there) {
    if (links == there) return 0;
    return links == 0 || there == 0 ? kOtherWiring : kOtherLinkCount;
  }

  std::vector<Candidate> candidates(std::size_t i) {
    std::vector<Candidate> all;
    const DeviceSlot& mine = a_.slots[i];
    for (std::size_t j = 0; j < b_.slots.size(); ++j) {
      if (taken_[j] || b_.slots[j].device.kind != mine.device.kind) continue;
      const bool same = same_address(mine, b_.slots[j]);
      all.push_back({cost_of(i, j), same ? 0 : static_cast<int>(j) + 2, static_cast<int>(j)});
    }
    if (empty_of(mine.device.kind) > 0) {
      const bool gone = !addresses_.empty() && !mine.address.empty() && !addresses_.contains(mine.address);
      all.push_back({0, gone ? 1 : std::numeric_limits<int>::max(), kNone});
    }
    std::ranges::sort(all, [](const Candidate& x, const Candidate& y) {
      return std::tie(x.cost, x.rank) < std::tie(y.cost, y.rank);
    });
    return all;
  }

  void descend(int cost) {
    if (cost >= best_cost_) return;
    const std::size_t i = chosen_.size();
    if (i == a_.slots.size()) {
      best_cost_ = cost;
      best_ = chosen_;
      return;
    }
    for (const Candidate& candidate : candidates(i)) {
      if (best_cost_ == 0 || ++steps_ > kMaxSteps) return;
      choose(i, candidate.slot, true);
      descend(cost + candidate.cost);
      choose(i, candidate.slot, false);
    }
  }

  void choose(std::size_t i, int slot, bool take) {
    if (slot == kNone) {
      empty_of(a_.slots[i].device.kind) += take ? -1 : 1;
    } else {
      taken_[static_cast<std::size_t>(slot)] = take;
    }
    if (take) {
      chosen_.push_back(slot);
    } else {
      chosen_.pop_back();
    }
  }

  const SlotPlan& a_;
  const SlotPlan& b_;
  bool a_is_reference_;
  bool far_says_nothing_;            ///< of a pair in b
  std::vector<bool> taken_;          ///< of b's slots
  std::vector<int> empty_;           ///< how many slots of a are empty in b: GPUs, NVSwitches, NICs
  std::set<std::string> addresses_;  ///< of b; empty where they are not those of a
  std::set<std::string> names_;      ///< of b
  std::set<std::string> names_of_a_;
  std::vector<int> chosen_;
  std::vector<int> best_;
  int best_cost_ = std::numeric_limits<int>::max();
  int steps_ = 0;
};

std::vector<DevicePair>& list_of(DeviceMatch& match, DeviceKind kind) {
  switch (kind) {
    case DeviceKind::gpu:
      return match.gpus;
    case DeviceKind::nic:
      return match.nics;
    case DeviceKind::nvswitch:
      return match.nvswitches;
    case DeviceKind::numa_node:
      break;
  }
  return match.numa_nodes;
}

/// The NUMA nodes of b that have no counterpart yet, by number.
class FreeNumaNodes {
 public:
  explicit FreeNumaNodes(const Host& host) : host_(host), taken_(host.numa_nodes.size()) {}

  /// Its position, once; none where there is no such node, or it has a counterpart.
  std::optional<Device> take(int number) {
    for (std::size_t i = 0; i < taken_.size(); ++i) {
      if (host_.numa_nodes[i].index != number || taken_[i]) continue;
      taken_[i] = true;
      return Device{DeviceKind::numa_node, static_cast<int>(i)};
    }
    return std::nullopt;
  }

 private:
  const Host& host_;
  std::vector<bool> taken_;
};

/// A NUMA node's counterpart is the one next to the counterparts of its devices; without devices, the one of
/// its number.
void match_numa_nodes(const Host& a, const Host& b, DeviceMatch& match) {
  const auto votes = paired_numa_numbers(a, b, match);
  FreeNumaNodes free(b);
  for (int i = 0; i < static_cast<int>(a.numa_nodes.size()); ++i) {
    DevicePair devices{Device{DeviceKind::numa_node, i}, std::nullopt};
    if (const auto found = votes.find(a.numa_nodes[static_cast<std::size_t>(i)].index);
        found != votes.end()) {
      const auto most = std::ranges::max_element(
          found->second, [](const auto& one, const auto& other) { return one.second < other.second; });
      devices.b = free.take(most->first);
    }
    match.numa_nodes.push_back(devices);
  }
  for (DevicePair& devices : match.numa_nodes) {
    if (!devices.b) devices.b = free.take(a.numa_nodes[static_cast<std::size_t>(devices.a->index)].index);
  }
  for (const NumaNode& node : b.numa_nodes) {
    if (const auto rest = free.take(node.index)) match.numa_nodes.push_back({std::nullopt, rest});
  }
}

/// The bridges above a device correspond to those above its counterpart, where both paths have as many,
/// leaving out those that a hypervisor made up where it takes that.
void match_bridges(const Host& a, const Host& b, DeviceMatch& match) {
  for (const DevicePair& devices : gpus_and_nics_on_both(match)) {
    auto way_a = way_to_root(a, *devices.a);
    auto way_b = way_to_root(b, *devices.b);
    if (way_a.size() != way_b.size()) {
      std::erase_if(way_a, [&a](const PciDevice* step) { return is_virtual_bridge(a, *step); });
      std::erase_if(way_b, [&b](const PciDevice* step) { return is_virtual_bridge(b, *step); });
    }
    if (way_a.size() != way_b.size()) continue;
    for (std::size_t i = 1; i < way_a.size(); ++i)
      match.bridges.emplace(way_a[i]->address, way_b[i]->address);
  }
}

}  // namespace

std::optional<Device> DeviceMatch::in_b(const Device& of_a) const {
  for (const auto* list : {&gpus, &nics, &nvswitches, &numa_nodes}) {
    for (const DevicePair& devices : *list) {
      if (devices.a == of_a) return devices.b;
    }
  }
  return std::nullopt;
}

DeviceMatch match_devices(const Host& a, const Host& b, bool a_is_reference) {
  const NvLinkCount count = common_nvlink_count(a, b);
  const SlotPlan plan_a = slot_plan(a, count);
  const SlotPlan plan_b = slot_plan(b, count);
  const std::vector<int> found =
      Search(plan_a, plan_b, a_is_reference, has_arm_cpu(a) || has_arm_cpu(b)).best();
  DeviceMatch match;
  std::vector<bool> taken(plan_b.slots.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    DevicePair devices{plan_a.slots[i].device, std::nullopt};
    if (found[i] != kNone) {
      devices.b = plan_b.slots[static_cast<std::size_t>(found[i])].device;
      taken[static_cast<std::size_t>(found[i])] = true;
    }
    list_of(match, devices.a->kind).push_back(devices);
  }
  for (std::size_t j = 0; j < taken.size(); ++j) {
    if (!taken[j])
      list_of(match, plan_b.slots[j].device.kind).push_back({std::nullopt, plan_b.slots[j].device});
  }
  match_numa_nodes(a, b, match);
  match_bridges(a, b, match);
  return match;
}

}  // namespace collbench::topology
