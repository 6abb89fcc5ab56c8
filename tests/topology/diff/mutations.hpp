#pragma once
#include <fmt/format.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "topology/graph/facts.hpp"
#include "topology/graph/lookup.hpp"
#include "topology/graph/path.hpp"
#include "topology/machines/reference_machines.hpp"

namespace collbench::topology {

/// A machine with one attribute made worse.
struct Mutation {
  std::string attribute;  ///< "GPU.mig"
  std::string device;
  Host host;
};

namespace mutation_details {

/// What a healthy machine has where the reference does not say, and what the sick one has instead.
struct Values {
  const char* healthy;
  const char* sick;
};

inline const std::map<std::string, Values>& texts() {
  static const std::map<std::string, Values> values{
      {"host.product", {"maker's box", "another box"}},
      {"host.fabric_manager", {"active", "failed"}},
      {"host.driver_version", {"550.54.15", "535.161.08"}},
      {"host.cuda_version", {"12.4", "12.2"}},
      {"host.peer_memory", {"nvidia_peermem", "none"}},
      {"NUMA.cpus", {"0-55,112-167", "0-55"}},
      {"NUMA.architecture", {"x86_64", "arm64"}},
      {"NUMA.cpu_vendor", {"GenuineIntel", "AuthenticAMD"}},
      {"NUMA.cpu_name", {"Xeon", "EPYC"}},
      {"PCI.class", {"0x020000", "0x020700"}},
      {"PCI.vendor", {"0x15b3", "0x10de"}},
      {"PCI.device", {"0x1021", "0x101b"}},
      {"PCI.subsystem_vendor", {"0x10de", "0x1028"}},
      {"PCI.subsystem_device", {"0x16c1", "0x16c0"}},
      {"GPU.model", {"", "NVIDIA L40S"}},
      {"GPU.cpu_affinity", {"0-55,112-167", "0-13"}},
      {"GPU.numa_affinity", {"0-1", "0"}},
      {"GPU.gpu_numa_node", {"2", "N/A"}},
      {"GPU.nvlink_state", {"", "NVML: Unable to retrieve NVLink information as all links are inActive"}},
      {"GPU.fabric_state", {"Completed", "In Progress"}},
      {"GPU.fabric_status", {"Success", "System not initialized"}},
      {"GPU.virtualization", {"None", "Pass-Through"}},
      {"NIC.driver", {"mlx5_core", "mlx4_core"}},
      {"NIC.board", {"MT_0000000838", "MT_0000000223"}},
      {"NIC.firmware", {"28.39.1002", "28.36.1010"}},
      {"NIC.cpu_affinity", {"0-55,112-167", "56-111"}},
      {"port.link_layer", {"InfiniBand", "Ethernet"}},
      {"port.state", {"ACTIVE", "DOWN"}},
      {"port.physical_state", {"LinkUp", "Polling"}},
      {"peer.state", {"OK", "CNS"}}};
  return values;
}

/// Where a number is not known, and is not simply halved.
inline const std::map<std::string, double>& numbers() {
  static const std::map<std::string, double> values{{"NUMA.memory_bytes", 1024.0 * (1 << 30)},
                                                    {"NUMA.package", 0},
                                                    {"NUMA.cpu_family", 6},
                                                    {"NUMA.cpu_model", 143},
                                                    {"GPU.sm", 90},
                                                    {"GPU.memory_bytes", 80.0 * (1 << 30)},
                                                    {"GPU.mig_devices", 0},
                                                    {"GPU.partitions", 1},
                                                    {"GPU.c2c_links", 4},
                                                    {"GPU.c2c_gigabytes_per_second", 450},
                                                    {"port.mtu_bytes", 4096},
                                                    {"PCI.link_bandwidth_max", 63},
                                                    {"GPU.nvlink_gigabytes_per_second", 25}};
  return values;
}

template <class T>
void make_healthy(const std::string& attribute, Fact<T>& fact) {
  if (fact.known()) return;
  if constexpr (std::same_as<T, std::string>) {
    const auto found = texts().find(attribute);
    if (found != texts().end() && *found->second.healthy != '\0') fact.value = found->second.healthy;
  } else if constexpr (std::same_as<T, bool>) {
    fact.value = attribute.ends_with("gpudirect");
  } else if constexpr (!std::same_as<T, PathType>) {
    const auto found = numbers().find(attribute);
    if (found != numbers().end()) fact.value = static_cast<T>(found->second);
  }
}

/// False where the attribute cannot get worse here.
template <class T>
bool make_sick(const std::string& attribute, Fact<T>& fact) {
  const Fact<T> before = fact;
  if constexpr (std::same_as<T, std::string>) {
    const auto found = texts().find(attribute);
    if (found == texts().end()) return false;
    if (attribute == "NUMA.cpus" || attribute == "GPU.cpu_affinity") {
      fact.value = fact.value->substr(0, fact.value->find('-'));  // the first CPU alone
      return true;
    }
    fact.value = fact.value == found->second.sick ? found->second.healthy : found->second.sick;
  } else if constexpr (std::same_as<T, bool>) {
    fact.value = !fact.value_or(false);
  } else if constexpr (std::same_as<T, PathType>) {
    if (!fact.known()) return false;
    fact.value = fact.value == PathType::sys ? PathType::pix : PathType::sys;
  } else if (attribute == "PCI.link_width_now") {
    fact.value = 8;
  } else if (attribute == "GPU.mig_devices" || attribute == "GPU.partitions" || attribute == "NUMA.package") {
    fact.value = fact.value_or(T{}) + 5;
  } else if (attribute.ends_with("numa_node")) {
    if (!fact.known()) return false;
    fact.value = *fact.value == 0 ? T{1} : T{0};
  } else {
    if (!fact.known()) return false;
    fact.value = *fact.value / 2;
  }
  return !(before == fact);
}

/// visit("GPU.mig", "GPU 3", fact) for every fact that findings are read from.
template <class Visit>
void each_attribute(Host& host, Visit&& visit) {
  const auto all = [&visit](std::string_view kind, auto& items) {
    int number = 0;
    for (auto& item : items) {
      each_fact(
          [&](const char* name, auto& fact) {
            visit(fmt::format("{}.{}", kind, name), fmt::format("{} {}", kind, number), fact);
          },
          item);
      ++number;
    }
  };
  each_fact([&](const char* name, auto& fact) { visit(fmt::format("host.{}", name), "host", fact); }, host);
  all("NUMA", host.numa_nodes);
  all("PCI", host.pci_devices);
  all("GPU", host.gpus);
  all("NIC", host.nics);
  for (Nic& nic : host.nics) all("port", nic.ports);
  all("NVLink", host.nvlinks);
  all("path", host.stated_paths);
  all("peer", host.peer_access);
  all("graph", host.nccl_graphs);
}

}  // namespace mutation_details

/// A ring of two channels, each through all GPUs and, where there are NICs, from and to one of them.
inline ChannelGraph healthy_ring(const Host& host) {
  ChannelGraph ring;
  ring.pattern.value = 4;
  ring.cross_nic.value = false;
  ring.same_channels.value = false;
  ring.intra_gigabytes_per_second.value = 20;
  ring.intra_type.value = PathType::nvl;
  if (!host.nics.empty()) {
    ring.inter_gigabytes_per_second.value = 20;
    ring.inter_type.value = PathType::pix;
  }
  for (int channel = 0; channel < 2; ++channel) {
    std::vector<Device> way;
    for (int gpu = 0; gpu < static_cast<int>(host.gpus.size()); ++gpu) way.push_back({DeviceKind::gpu, gpu});
    if (!host.nics.empty()) {
      const Device nic{DeviceKind::nic, channel % static_cast<int>(host.nics.size())};
      way.insert(way.begin(), nic);
      way.push_back(nic);
    }
    ring.channels.push_back(std::move(way));
  }
  return ring;
}

/// The machine with every fact that a healthy one shows: all that findings are read from is known.
inline Host healthy_machine(const ReferenceMachine& machine) {
  Host host = reference_host(machine);
  host.sources.front() = {"test", "healthy", ""};
  mutation_details::each_attribute(host, [](const std::string& attribute, const std::string&, auto& fact) {
    mutation_details::make_healthy(attribute, fact);
  });
  const auto cpus_of = [](int node) { return fmt::format("{}-{}", 56 * node, 56 * node + 55); };
  for (NumaNode& node : host.numa_nodes) node.cpus.value = cpus_of(node.index);
  for (int i = 0; i < static_cast<int>(host.gpus.size()); ++i) {
    host.gpus[static_cast<std::size_t>(i)].cpu_affinity.value =
        cpus_of(numa_node_of(host, {DeviceKind::gpu, i}).value_or(0));
  }
  for (int i = 0; i < static_cast<int>(host.nics.size()); ++i) {
    Nic& nic = host.nics[static_cast<std::size_t>(i)];
    nic.name.value = fmt::format("mlx5_{}", i);
    nic.numa_node.value = numa_node_of(host, {DeviceKind::nic, i});
  }
  for (NvLinkBundle& bundle : host.nvlinks)
    bundle.gigabytes_per_second.value = 25.0 * bundle.count.value_or(0);
  const int gpus = static_cast<int>(host.gpus.size());
  for (int from = 0; from < gpus; ++from) {
    for (int to = 0; to < gpus; ++to) {
      if (from != to) host.peer_access.push_back({{DeviceKind::gpu, from}, {DeviceKind::gpu, to}, {"OK"}});
    }
    for (int nic = 0; nic < static_cast<int>(host.nics.size()); ++nic) {
      const Device a{DeviceKind::gpu, from};
      const Device b{DeviceKind::nic, nic};
      host.stated_paths.push_back({a, b, {pci_path_type(host, a, b)}, {}});
    }
  }
  host.nccl_graphs.push_back(healthy_ring(host));
  return host;
}

/// The machine as nvidia-smi topo -m shows its NVLinks: by pairs of GPUs, through switches or not.
inline Host with_stated_nvlinks(Host host) {
  const int gpus = static_cast<int>(host.gpus.size());
  for (int from = 0; from < gpus; ++from) {
    for (int to = 0; to < gpus; ++to) {
      const int links = nvlinks_between(host, {DeviceKind::gpu, from}, {DeviceKind::gpu, to});
      if (links == 0) continue;
      host.stated_paths.push_back({{DeviceKind::gpu, from}, {DeviceKind::gpu, to}, {PathType::nvl}, {links}});
    }
  }
  host.nvlinks.clear();
  host.nvswitches.clear();
  return host;
}

/// For each attribute, the machine with that of one device made worse; which device goes round from one
/// attribute to the next.
inline std::vector<Mutation> mutations_of(const Host& healthy) {
  std::map<std::string, std::vector<Mutation>> by_attribute;
  Host host = healthy;
  mutation_details::each_attribute(host,
                                   [&](const std::string& attribute, const std::string& device, auto& fact) {
                                     const auto before = fact;
                                     if (mutation_details::make_sick(attribute, fact))
                                       by_attribute[attribute].push_back({attribute, device, host});
                                     fact = before;
                                   });
  std::vector<Mutation> chosen;
  std::size_t turn = 0;
  for (auto& [attribute, all] : by_attribute) chosen.push_back(std::move(all[turn++ % all.size()]));
  return chosen;
}

}  // namespace collbench::topology
