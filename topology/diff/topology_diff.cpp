#include "topology/diff/topology_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "topology/catalog/finding_kinds.hpp"
#include "topology/diff/parts.hpp"
#include "topology/graph/nics.hpp"
#include "topology/graph/port_state.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology {
namespace {

/// Versions by reader; several sources of one reader may have several.
std::map<std::string, std::set<std::string>> versions_of(const Host& host) {
  std::map<std::string, std::set<std::string>> versions;
  for (const Source& source : host.sources) {
    // What stands there for a reference machine is where it comes from.
    if (!source.version.empty() && source.reader != kReferenceMachine)
      versions[source.reader].insert(source.version);
  }
  return versions;
}

std::vector<std::string> differing_versions(const Host& a, const Host& b) {
  std::vector<std::string> lines;
  const auto in_b = versions_of(b);
  for (const auto& [reader, versions] : versions_of(a)) {
    const auto found = in_b.find(reader);
    if (found == in_b.end() || found->second == versions) continue;
    lines.push_back(fmt::format("{}: {} against {}", reader, join_words({versions.begin(), versions.end()}),
                                join_words({found->second.begin(), found->second.end()})));
  }
  return lines;
}

/// A reference machine cannot be the worse one of the two: what it has less of, the machine has more of.
void turn_around(const HostPair& pair, std::vector<Finding>& findings) {
  FindingList turned(pair);
  for (Finding& finding : findings) {
    if (finding.side == Side::b || finding_kind(finding.code).severity > Severity::degraded) {
      turned.add_named(finding.code, finding.side, finding.device, finding.devices, finding.what);
    } else {
      turned.add_named("exceeds-reference", Side::b, finding_devices(pair, Side::b, finding.devices),
                       finding.devices, fmt::format("the reference machine has {}", finding.what));
    }
  }
  findings = turned.take();
}

/// What is a fault of one host whatever the other one is: what is found when it is compared with itself.
void add_own_faults(const HostPair& pair, Side side, FindingList& findings) {
  const Host& host = pair.of(side);
  for (const Finding& finding : diff_hosts(pair_hosts(host, host, false)).findings) {
    if (finding.side != side) continue;
    std::vector<DevicePair> devices;
    for (const DevicePair& each : finding.devices) {
      devices.push_back(side == Side::a ? DevicePair{each.a, std::nullopt}
                                        : DevicePair{std::nullopt, each.b});
    }
    findings.add_named(finding.code, side, finding.device, std::move(devices), finding.what);
  }
}

/// What files of one machine disagree on, a sentence for each side. What a machine itself says through two
/// tools at one time is of that machine, whichever is right: only files can be of two machines.
void add_disagreements(const HostPair& pair, FindingList& findings) {
  for (const Side side : {Side::a, Side::b}) {
    const Host& host = pair.of(side);
    const auto location = [&host](int source) {
      const auto index = static_cast<std::size_t>(source);
      return index < host.sources.size() ? host.sources[index].location : std::string("?");
    };
    std::vector<std::string> sentences;
    for (const Disagreement& each : host.disagreements) {
      const std::string kept = location(each.kept_source);
      const std::string other = location(each.other_source);
      if (kept == other) continue;
      sentences.push_back(fmt::format("{} {}: {} in {}, {} in {}", each.device, each.attribute, each.kept,
                                      kept, each.other, other));
    }
    if (sentences.empty()) continue;
    const std::string more =
        sentences.size() > 1 ? fmt::format("; and on {} more, which topo show lists", sentences.size() - 1)
                             : "";
    findings.add_named("sources-disagree", side, "Disagree", {}, sentences.front() + more);
  }
}

}  // namespace

HostPair pair_hosts(const Host& a, const Host& b, bool a_is_reference) {
  HostPair pair{
      a, b, {}, a_is_reference, different_gpus(a, b), a_is_reference ? different_nics(a, b) : std::string()};
  if (a_is_reference && pair.other_gpus.empty()) pair.other_gpus = without_gpus_and_fabric(a, b);
  if (!pair.other_gpus.empty()) return pair;  // no device has a counterpart
  pair.match = match_devices(a, b, a_is_reference);
  if (!pair.other_nics.empty()) pair.match.nics.clear();
  return pair;
}

TopologyDiff diff_hosts(const HostPair& pair) {
  FindingList findings(pair);
  if (!pair.other_gpus.empty()) {
    findings.add_named("different-machine", Side::b, "GPUs", {}, pair.other_gpus);
    if (!pair.a_is_reference) add_own_faults(pair, Side::a, findings);
    add_own_faults(pair, Side::b, findings);
    return {findings.take(), differing_versions(pair.a, pair.b)};
  }
  if (!pair.other_nics.empty()) findings.add_named("different-machine", Side::b, "NICs", {}, pair.other_nics);
  for (const auto part : {diff_devices, diff_host_facts, diff_numa_nodes, diff_gpus, diff_nvlinks, diff_nics,
                          diff_pcie, diff_paths, diff_graphs}) {
    part(pair, findings);
  }
  add_disagreements(pair, findings);
  std::vector<Finding> found = findings.take();
  if (pair.a_is_reference) turn_around(pair, found);
  return {std::move(found), differing_versions(pair.a, pair.b)};
}

std::vector<std::string> not_compared(const HostPair& pair) {
  const auto any = [](const auto& items, auto states) { return std::ranges::any_of(items, states); };
  // A machine without any device of the kind has nothing to state of it, where its sources would list it.
  const bool none_to_list = !any(pair.a.nics, is_rdma) && !any(pair.b.nics, is_rdma);
  const auto lists_nics = [none_to_list](const Host& host) {
    return !host.nics.empty() || (lists_all(host, DeviceKind::nic) && (none_to_list || !lists_no_nic(host)));
  };
  const bool nics_compared = lists_nics(pair.a) && lists_nics(pair.b);
  // Of NICs that are not compared, nothing is.
  const auto states_nics = [&](const Host& host, auto states) {
    return !nics_compared || host.nics.empty() ||
           any(host.nics, [&](const Nic& nic) { return any(nic.ports, states); });
  };
  const auto states_gpus = [&](const Host& host, auto states) {
    return (host.gpus.empty() && lists_all(host, DeviceKind::gpu)) || any(host.gpus, states);
  };
  struct Item {
    std::string_view name;
    std::function<bool(const Host&)> stated;
  };
  const std::vector<Item> items{
      {"GPU models",
       [&](const Host& host) {
         return states_gpus(host, [](const Gpu& gpu) { return gpu.model.known() || gpu.sm.known(); });
       }},
      {"NVLinks",
       [&](const Host& host) {
         return !host.nvlinks.empty() ||
                any(host.stated_paths, [](const StatedPath& path) { return path.nvlinks.known(); }) ||
                states_gpus(host, [](const Gpu& gpu) {
                  return gpu.nvlinks_active.known() || gpu.nvlink_state.known();
                });
       }},
      {"NICs", [&](const Host&) { return nics_compared; }},
      {"NIC rates",
       [&](const Host& host) {
         return states_nics(host, [](const NicPort& port) { return port.gigabits_per_second.known(); });
       }},
      {"states of NIC ports",
       [&](const Host& host) {
         return states_nics(host, [](const NicPort& port) { return carries_traffic(port).has_value(); });
       }},
      {"PCIe links",
       [&](const Host& host) {
         return any(host.pci_devices, [](const PciDevice& device) {
           return device.link_now.width.known() || device.link_max.width.known() ||
                  device.link_max.gigabytes_per_second.known();
         });
       }},
  };
  std::vector<std::string> names;
  for (const Item& item : items) {
    if (!item.stated(pair.a) || !item.stated(pair.b)) names.emplace_back(item.name);
  }
  return names;
}

}  // namespace collbench::topology
