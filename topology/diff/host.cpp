// diff_host_facts() of parts.hpp: the machine itself.
// diff_numa_nodes() of parts.hpp: memory, CPUs, and which devices are next to them.
#include <algorithm>
#include <map>
#include <set>

#include "base/units.hpp"
#include "topology/diff/parts.hpp"
#include "topology/graph/cpu_list.hpp"
#include "topology/graph/lookup.hpp"

namespace collbench::topology {
namespace {

void add_different(FindingList& findings, std::string_view code, std::string_view device,
                   const Fact<std::string>& a, const Fact<std::string>& b) {
  if (!lesser(a, b)) return;
  findings.add_named(code, Side::b, std::string(device), {}, instead(Side::b, a, b, ""));
}

void diff_fabric_manager(const HostPair& pair, FindingList& findings) {
  const Fact<std::string>& a = pair.a.fabric_manager;
  const Fact<std::string>& b = pair.b.fabric_manager;
  if (!lesser(a, b)) return;
  const Side side = *a.value == "active" ? Side::b : Side::a;
  findings.add_named("fabric-manager", side, "fabric manager", {}, instead(side, a, b, ""));
}

/// A module under another name serves as well.
bool has_peer_memory(const Fact<std::string>& module) { return *module.value != "none"; }

/// One cause, read in three places: the module, and what NCCL found of GPUs and NICs.
void diff_gpudirect(const HostPair& pair, FindingList& findings) {
  for (const Side side : {Side::a, Side::b}) {
    std::vector<DevicePair> without;
    const auto look = [&](const DevicePair& devices, const auto& in_a, const auto& in_b) {
      const Fact<bool>& mine = side == Side::a ? in_a.gpudirect : in_b.gpudirect;
      const Fact<bool>& theirs = side == Side::a ? in_b.gpudirect : in_a.gpudirect;
      if (mine.known() && theirs.known() && !*mine.value && *theirs.value) without.push_back(devices);
    };
    each_pair(pair, pair.match.gpus, &Host::gpus, look);
    each_pair(pair, pair.match.nics, &Host::nics, look);
    const Fact<std::string>& module = pair.of(side).peer_memory;
    const Fact<std::string>& there = pair.of(other(side)).peer_memory;
    if (module.known() && there.known() && !has_peer_memory(module) && has_peer_memory(there)) {
      findings.add_named("gpudirect-missing", side, "GPUDirect RDMA", without,
                         "no kernel module, " + *there.value + " on the other");
    } else if (!without.empty()) {
      findings.add("gpudirect-missing", side, without, "without GPUDirect RDMA");
    }
  }
}

/// CPUs or NUMA nodes of a mask; none when the text is no list.
std::optional<std::set<int>> mask(const Fact<std::string>& fact) {
  if (!fact.known() || fact.value->empty()) return std::nullopt;
  const auto list = parse_cpu_list(*fact.value);
  if (!list) return std::nullopt;
  return std::set<int>(list->begin(), list->end());
}

void diff_mask(FindingList& findings, const DevicePair& devices, const Fact<std::string>& a,
               const Fact<std::string>& b, std::string_view unit) {
  const auto in_a = mask(a);
  const auto in_b = mask(b);
  if (!in_a || !in_b || *in_a == *in_b) return;
  const auto difference = [&](Side side) { return fmt::format("{} {}", unit, instead(side, a, b, "")); };
  if (std::includes(in_a->begin(), in_a->end(), in_b->begin(), in_b->end())) {
    findings.add("affinity-cut", Side::b, {devices}, difference(Side::b));
  } else if (std::includes(in_b->begin(), in_b->end(), in_a->begin(), in_a->end())) {
    findings.add("affinity-cut", Side::a, {devices}, difference(Side::a));
  } else {
    findings.add("affinity-differs", Side::b, {devices}, difference(Side::b));
  }
}

/// Whether NUMA nodes can be told to correspond. A reference machine's numbers mean nothing on a host that
/// lists no nodes (a matrix), and one divided into four has no counterpart of one divided into two.
bool counterparts_known(const HostPair& pair) {
  if (!pair.a_is_reference || !pair.b.numa_nodes.empty()) return true;
  const auto pairs = paired_numa_numbers(pair.a, pair.b, pair.match);
  std::set<int> in_b;
  for (const auto& [a, counts] : pairs) {
    for (const auto& [b, count] : counts) in_b.insert(b);
  }
  return pairs.size() == in_b.size();
}

/// The number on b of the NUMA node that has a's number `in_a`.
int number_in_b(const HostPair& pair, int in_a) {
  int number = in_a;
  if (pair.a_is_reference && pair.b.numa_nodes.empty()) {
    const auto pairs = paired_numa_numbers(pair.a, pair.b, pair.match);
    if (const auto found = pairs.find(in_a); found != pairs.end()) {
      number = std::ranges::max_element(found->second, [](const auto& one, const auto& other) {
                 return one.second < other.second;
               })->first;
    }
    return number;
  }
  each_pair(pair, pair.match.numa_nodes, &Host::numa_nodes,
            [&](const DevicePair&, const NumaNode& a, const NumaNode& b) {
              if (a.index == in_a) number = b.index;
            });
  return number;
}

/// The list with a's numbers of NUMA nodes replaced by those of their counterparts.
Fact<std::string> with_numbers_of_b(const HostPair& pair, const Fact<std::string>& nodes) {
  const auto numbers = mask(nodes);
  if (!numbers) return {};
  std::set<int> translated;
  for (const int number : *numbers) {
    translated.insert(number_in_b(pair, number));
  }
  return {format_cpu_list({translated.begin(), translated.end()}), nodes.source};
}

void diff_affinities(const HostPair& pair, FindingList& findings) {
  each_pair(pair, pair.match.numa_nodes, &Host::numa_nodes,
            [&](const DevicePair& devices, const NumaNode& a, const NumaNode& b) {
              diff_mask(findings, devices, a.cpus, b.cpus, "CPUs");
            });
  // Of a device that is attached elsewhere, other CPUs and NUMA nodes are the same finding.
  each_pair(pair, pair.match.gpus, &Host::gpus, [&](const DevicePair& devices, const Gpu& a, const Gpu& b) {
    if (has_moved(pair, devices)) return;
    diff_mask(findings, devices, a.cpu_affinity, b.cpu_affinity, "CPUs");
    diff_mask(findings, devices, with_numbers_of_b(pair, a.numa_affinity), b.numa_affinity, "NUMA nodes");
  });
  each_pair(pair, pair.match.nics, &Host::nics, [&](const DevicePair& devices, const Nic& a, const Nic& b) {
    if (has_moved(pair, devices)) return;
    diff_mask(findings, devices, a.cpu_affinity, b.cpu_affinity, "CPUs");
  });
}

struct NumaMove {
  int expected = 0;  ///< in b's numbers
  int found = 0;
};

std::optional<NumaMove> numa_move(const HostPair& pair, const DevicePair& devices) {
  if (!devices.a || !devices.b) return std::nullopt;
  const auto in_a = numa_node_of(pair.a, *devices.a);
  const auto in_b = numa_node_of(pair.b, *devices.b);
  if (!in_a || !in_b || number_in_b(pair, *in_a) == *in_b) return std::nullopt;
  if (!counterparts_known(pair)) return std::nullopt;
  return NumaMove{number_in_b(pair, *in_a), *in_b};
}

void diff_numa_nodes_of_devices(const HostPair& pair, FindingList& findings) {
  for (const DevicePair& devices : gpus_and_nics_on_both(pair.match)) {
    if (const auto move = numa_move(pair, devices)) {
      findings.add("numa-moved", Side::b, {devices},
                   fmt::format("attached to NUMA {} instead of {}", move->found, move->expected));
    }
  }
}

void diff_node(FindingList& findings, const DevicePair& devices, const NumaNode& a, const NumaNode& b) {
  add_if_less_memory(findings, "numa-memory", devices, a.memory_bytes, b.memory_bytes, "");
  std::vector<std::string> words;
  const auto compare = [&words](const auto& in_a, const auto& in_b, std::string_view name) {
    if (lesser(in_a, in_b)) words.push_back(fmt::format("{} {}", name, instead(Side::b, in_a, in_b, "")));
  };
  compare(a.architecture, b.architecture, "architecture");
  compare(a.cpu_vendor, b.cpu_vendor, "vendor");
  compare(a.cpu_family, b.cpu_family, "family");
  compare(a.cpu_model, b.cpu_model, "model");
  compare(a.package, b.package, "socket");
  compare(a.cpu_name, b.cpu_name, "name");
  if (!words.empty()) findings.add("cpu-model", Side::b, {devices}, "CPU " + join_words(words));
}

/// The NUMA nodes that devices say they are next to. A matrix has no list of the nodes.
std::size_t named_numa_nodes(const Host& host) {
  std::set<int> numbers;
  for (const Device& device : gpus_and_nics(host))
    if (const auto node = numa_node_of(host, device)) numbers.insert(*node);
  return numbers.size();
}

}  // namespace

std::map<int, std::map<int, int>> paired_numa_numbers(const Host& a, const Host& b,
                                                      const DeviceMatch& match) {
  std::map<int, std::map<int, int>> pairs;
  for (const DevicePair& devices : gpus_and_nics_on_both(match)) {
    const auto in_a = numa_node_of(a, *devices.a);
    const auto in_b = numa_node_of(b, *devices.b);
    if (in_a && in_b) ++pairs[*in_a][*in_b];
  }
  return pairs;
}

void add_if_less_memory(FindingList& findings, std::string_view code, const DevicePair& devices,
                        const Fact<std::uint64_t>& a, const Fact<std::uint64_t>& b, std::string_view what) {
  constexpr double kNotable = 0.02;
  if (!a.known() || !b.known()) return;
  const auto in_a = static_cast<double>(*a.value);
  const auto in_b = static_cast<double>(*b.value);
  const auto [less, more] = std::minmax(in_a, in_b);
  if (more - less <= kNotable * more) return;
  findings.add(code, in_a < in_b ? Side::a : Side::b, {devices},
               fmt::format("{:.4g} GiB{} instead of {:.4g}", less / static_cast<double>(kGiB), what,
                           more / static_cast<double>(kGiB)));
}

void diff_host_facts(const HostPair& pair, FindingList& findings) {
  diff_fabric_manager(pair, findings);
  diff_gpudirect(pair, findings);
  add_different(findings, "driver-version", "NVIDIA driver", pair.a.driver_version, pair.b.driver_version);
  // The CUDA version is that of the driver: by itself only where the driver's is not known.
  if (!lesser(pair.a.driver_version, pair.b.driver_version)) {
    add_different(findings, "driver-version", "CUDA of the driver", pair.a.cuda_version, pair.b.cuda_version);
  }
  if (!pair.a_is_reference) add_different(findings, "product", "product", pair.a.product, pair.b.product);
}

bool same_numa_nodes(const HostPair& pair) {
  // NPS4 and SNC are settings, and no reference machine prescribes them.
  if (pair.a_is_reference && pair.b.numa_nodes.empty() && named_numa_nodes(pair.b) > pair.a.numa_nodes.size())
    return false;
  return pair.a.numa_nodes.empty() || pair.b.numa_nodes.empty() ||
         pair.a.numa_nodes.size() == pair.b.numa_nodes.size();
}

bool has_moved(const HostPair& pair, const DevicePair& devices) {
  return numa_move(pair, devices).has_value();
}

void diff_numa_nodes(const HostPair& pair, FindingList& findings) {
  each_pair(pair, pair.match.gpus, &Host::gpus, [&](const DevicePair& devices, const Gpu& a, const Gpu& b) {
    // The number is the system's; whether there is such a node is the GPU's.
    const auto has = [](const Gpu& gpu) { return gpu.gpu_numa_node.value_or("N/A") != "N/A"; };
    if (!a.gpu_numa_node.known() || !b.gpu_numa_node.known() || has(a) == has(b)) return;
    findings.add("numa-nodes", has(a) ? Side::b : Side::a, {devices}, "its memory is not a NUMA node");
  });
  if (!same_numa_nodes(pair)) {
    if (pair.a_is_reference) return;
    const bool fewer_in_a = pair.a.numa_nodes.size() < pair.b.numa_nodes.size();
    std::vector<DevicePair> lost;
    for (const DevicePair& devices : pair.match.numa_nodes) {
      if (!devices.a || !devices.b) lost.push_back(devices);
    }
    findings.add_named("numa-nodes", fewer_in_a ? Side::a : Side::b, "NUMA nodes", lost,
                       fmt::format("{} instead of {}; without {}",
                                   std::min(pair.a.numa_nodes.size(), pair.b.numa_nodes.size()),
                                   std::max(pair.a.numa_nodes.size(), pair.b.numa_nodes.size()),
                                   finding_devices(pair, Side::b, lost)));
    return;
  }
  each_pair(pair, pair.match.numa_nodes, &Host::numa_nodes,
            [&](const DevicePair& devices, const NumaNode& a, const NumaNode& b) {
              diff_node(findings, devices, a, b);
            });
  diff_affinities(pair, findings);
  diff_numa_nodes_of_devices(pair, findings);
}

}  // namespace collbench::topology
