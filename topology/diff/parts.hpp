#pragma once
#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topology/diff/finding.hpp"
#include "topology/graph/facts.hpp"

// The parts of diff_hosts(): one per kind of device. Private to topology/diff.

namespace collbench::topology {

void diff_devices(const HostPair& pair, FindingList& findings);  ///< what is missing, or too many
void diff_host_facts(const HostPair& pair, FindingList& findings);
void diff_numa_nodes(const HostPair& pair, FindingList& findings);
void diff_gpus(const HostPair& pair, FindingList& findings);
void diff_nvlinks(const HostPair& pair, FindingList& findings);
void diff_nics(const HostPair& pair, FindingList& findings);
void diff_pcie(const HostPair& pair, FindingList& findings);
void diff_paths(const HostPair& pair, FindingList& findings);
void diff_graphs(const HostPair& pair, FindingList& findings);

/// "8 × V100 SXM instead of 8 × H100 SXM" where no GPU of b is of a model that a has; else empty, also where
/// the models of one are not known.
[[nodiscard]] std::string different_gpus(const Host& a, const Host& b);

/// "no GPU and no fast NIC instead of 8 × H100 SXM and 8 NICs of 400 Gb/s" where all sources of b list
/// neither a GPU nor a NIC that may be one of a's fabric: not a node that lost its GPUs. Else empty, also
/// where a has no fast NIC.
[[nodiscard]] std::string without_gpus_and_fabric(const Host& a, const Host& b);

/// "16 NICs of 200 Gb/s instead of 8 of 400" where the two networks have neither the number of fast NICs in
/// common, by a factor of two, nor their rate: not a NIC that is missing or slow. Else empty.
[[nodiscard]] std::string different_nics(const Host& a, const Host& b);

/// Whether it has no NIC and nothing but nvidia-smi was asked: a container does not see them, so they may be
/// there.
[[nodiscard]] bool lists_no_nic(const Host& host);

/// Whether both hosts have as many NUMA nodes; else everything next to one has moved, which is one finding.
[[nodiscard]] bool same_numa_nodes(const HostPair& pair);

/// Whether it is a Grace or another ARM host: there nvidia-smi says SYS of any two devices (paths.cpp).
[[nodiscard]] bool has_arm_cpu(const Host& host);

/// Whether a device is next to another NUMA node than its counterpart.
[[nodiscard]] bool has_moved(const HostPair& pair, const DevicePair& devices);

/// The GPUs, then the NICs, that both hosts have.
[[nodiscard]] std::vector<DevicePair> gpus_and_nics_on_both(const DeviceMatch& match);

/// How often a device next to a NUMA node of a has its counterpart next to one of b, by their numbers.
[[nodiscard]] std::map<int, std::map<int, int>> paired_numa_numbers(const Host& a, const Host& b,
                                                                    const DeviceMatch& match);

/// The element of `items` at each side of `devices`: visit(pair, in_a, in_b), only where both
/// slots are taken.
template <class Item, class Visit>
void each_pair(const HostPair& pair, const std::vector<DevicePair>& devices, std::vector<Item> Host::* items,
               Visit&& visit) {
  for (const DevicePair& each : devices) {
    if (!each.a || !each.b) continue;
    visit(each, (pair.a.*items).at(static_cast<std::size_t>(each.a->index)),
          (pair.b.*items).at(static_cast<std::size_t>(each.b->index)));
  }
}

/// The side whose fact is the lesser; none when they are equal or one is not known.
template <class T>
[[nodiscard]] std::optional<Side> lesser(const Fact<T>& a, const Fact<T>& b) {
  if (!a.known() || !b.known() || *a.value == *b.value) return std::nullopt;
  return *a.value < *b.value ? Side::a : Side::b;
}

/// "17 NVLinks instead of 18".
template <class T>
[[nodiscard]] std::string instead(Side side, const Fact<T>& a, const Fact<T>& b, std::string_view unit) {
  const Fact<T>& worse = side == Side::a ? a : b;
  const Fact<T>& better = side == Side::a ? b : a;
  return fmt::format("{}{}{} instead of {}", fact_text(*worse.value), unit.empty() ? "" : " ", unit,
                     fact_text(*better.value));
}

/// Adds a finding on side b where both are known and not equal.
template <class T>
void add_if_different(FindingList& findings, std::string_view code, const std::vector<DevicePair>& devices,
                      const Fact<T>& a, const Fact<T>& b, std::string_view name) {
  if (!lesser(a, b)) return;
  findings.add(code, Side::b, devices, fmt::format("{} {}", name, instead(Side::b, a, b, "")));
}

template <class T>
void add_if_less(FindingList& findings, std::string_view code, const std::vector<DevicePair>& devices,
                 const Fact<T>& a, const Fact<T>& b, std::string_view unit) {
  if (const auto side = lesser(a, b)) findings.add(code, *side, devices, instead(*side, a, b, unit));
}

/// Adds a finding on the side with less memory. Equal machines differ by the pages that their firmware keeps,
/// and by what is kept for ECC or by a driver.
void add_if_less_memory(FindingList& findings, std::string_view code, const DevicePair& devices,
                        const Fact<std::uint64_t>& a, const Fact<std::uint64_t>& b, std::string_view what);

/// Two slots between which something is otherwise on one host.
template <class What>
struct ChangedPair {
  DevicePair from;
  DevicePair to;
  What what;
};

/// One device and the changed pairs that it explains.
template <class What>
struct Explained {
  DevicePair device;
  std::vector<ChangedPair<What>> pairs;
};

/// The fewest devices that explain all changed pairs, about: always the one next that is part of most. A
/// device that moved changes its pairs with many; those many are not at fault.
template <class What>
[[nodiscard]] std::vector<Explained<What>> explain_pairs(std::vector<ChangedPair<What>> pairs) {
  const auto has = [](const ChangedPair<What>& pair, const DevicePair& device) {
    return pair.from == device || pair.to == device;
  };
  std::vector<Explained<What>> explained;
  while (!pairs.empty()) {
    Explained<What> most;
    for (const ChangedPair<What>& pair : pairs) {
      for (const DevicePair& device : {pair.from, pair.to}) {
        std::vector<ChangedPair<What>> of_device;
        for (const ChangedPair<What>& each : pairs) {
          if (has(each, device)) of_device.push_back(each);
        }
        if (of_device.size() > most.pairs.size()) most = {device, std::move(of_device)};
      }
    }
    std::erase_if(pairs, [&](const ChangedPair<What>& pair) { return has(pair, most.device); });
    explained.push_back(std::move(most));
  }
  return explained;
}

}  // namespace collbench::topology
