#pragma once
#include <fmt/format.h>

#include <concepts>
#include <string>
#include <type_traits>

#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// The value of a fact for a person: "H100", "yes", "PIX", "18".
[[nodiscard]] inline std::string fact_text(const std::string& value) { return value; }
[[nodiscard]] inline std::string fact_text(bool value) { return value ? "yes" : "no"; }
[[nodiscard]] inline std::string fact_text(PathType value) { return std::string(path_type_name(value)); }
template <class Number>
[[nodiscard]] std::string fact_text(Number value) {
  return fmt::format("{}", value);
}

template <class T, class U>
concept Either = std::same_as<std::remove_const_t<T>, U>;  ///< U, const or not

/// The one list of each device's attributes: `each_fact(visit, a, b)` calls visit("name", a.name, b.name) for
/// every fact, of one device or of several side by side. Saving, loading, merging, comparing and showing all
/// go through it, so a new attribute is added here and in topology.hpp only.
template <class Visit, Either<PcieLink>... Links>
void each_link_fact(const char* rate, const char* width, const char* bandwidth, Visit&& visit,
                    Links&... link) {
  visit(rate, link.gigatransfers_per_second...);
  visit(width, link.width...);
  visit(bandwidth, link.gigabytes_per_second...);
}

template <class Visit, Either<PciDevice>... Devices>
  requires(sizeof...(Devices) > 0)
void each_fact(Visit&& visit, Devices&... device) {
  visit("host_bridge", device.host_bridge...);
  visit("numa_node", device.numa_node...);
  visit("class", device.class_code...);
  visit("vendor", device.vendor...);
  visit("device", device.device...);
  visit("subsystem_vendor", device.subsystem_vendor...);
  visit("subsystem_device", device.subsystem_device...);
  visit("acs", device.acs...);
  each_link_fact("link_rate_now", "link_width_now", "link_bandwidth_now", visit, device.link_now...);
  each_link_fact("link_rate_max", "link_width_max", "link_bandwidth_max", visit, device.link_max...);
}

template <class Visit, Either<NumaNode>... Nodes>
  requires(sizeof...(Nodes) > 0)
void each_fact(Visit&& visit, Nodes&... node) {
  visit("cpus", node.cpus...);
  visit("memory_bytes", node.memory_bytes...);
  visit("package", node.package...);
  visit("architecture", node.architecture...);
  visit("cpu_vendor", node.cpu_vendor...);
  visit("cpu_family", node.cpu_family...);
  visit("cpu_model", node.cpu_model...);
  visit("cpu_name", node.cpu_name...);
}

template <class Visit, Either<Gpu>... Gpus>
  requires(sizeof...(Gpus) > 0)
void each_fact(Visit&& visit, Gpus&... gpu) {
  visit("index", gpu.index...);
  visit("pci_address", gpu.pci_address...);
  visit("uuid", gpu.uuid...);
  visit("serial", gpu.serial...);
  visit("model", gpu.model...);
  visit("sm", gpu.sm...);
  visit("memory_bytes", gpu.memory_bytes...);
  visit("mig", gpu.mig...);
  visit("mig_devices", gpu.mig_devices...);
  visit("partitions", gpu.partitions...);
  visit("gpudirect", gpu.gpudirect...);
  visit("nccl_rank", gpu.nccl_rank...);
  visit("cpu_affinity", gpu.cpu_affinity...);
  visit("numa_affinity", gpu.numa_affinity...);
  visit("gpu_numa_node", gpu.gpu_numa_node...);
  visit("nvlinks_active", gpu.nvlinks_active...);
  visit("nvlinks_inactive", gpu.nvlinks_inactive...);
  visit("nvlink_state", gpu.nvlink_state...);
  visit("nvlink_gigabytes_per_second", gpu.nvlink_gigabytes_per_second...);
  visit("c2c_links", gpu.c2c_links...);
  visit("c2c_gigabytes_per_second", gpu.c2c_gigabytes_per_second...);
  visit("fabric_state", gpu.fabric_state...);
  visit("fabric_status", gpu.fabric_status...);
  visit("virtualization", gpu.virtualization...);
}

template <class Visit, Either<NvSwitch>... Switches>
  requires(sizeof...(Switches) > 0)
void each_fact(Visit&& visit, Switches&... nvswitch) {
  visit("pci_address", nvswitch.pci_address...);
}

template <class Visit, Either<NvLinkBundle>... Bundles>
  requires(sizeof...(Bundles) > 0)
void each_fact(Visit&& visit, Bundles&... bundle) {
  visit("count", bundle.count...);
  visit("gigabytes_per_second", bundle.gigabytes_per_second...);
}

template <class Visit, Either<NicPort>... Ports>
  requires(sizeof...(Ports) > 0)
void each_fact(Visit&& visit, Ports&... port) {
  visit("link_layer", port.link_layer...);
  visit("gigabits_per_second", port.gigabits_per_second...);
  visit("state", port.state...);
  visit("physical_state", port.physical_state...);
  visit("mtu_bytes", port.mtu_bytes...);
  visit("gid", port.gid...);
}

template <class Visit, Either<Nic>... Nics>
  requires(sizeof...(Nics) > 0)
void each_fact(Visit&& visit, Nics&... nic) {
  visit("name", nic.name...);
  visit("label", nic.label...);
  visit("interfaces", nic.interfaces...);
  visit("pci_address", nic.pci_address...);
  visit("guid", nic.guid...);
  visit("system_guid", nic.system_guid...);
  visit("driver", nic.driver...);
  visit("board", nic.board...);
  visit("firmware", nic.firmware...);
  visit("numa_node", nic.numa_node...);
  visit("cpu_affinity", nic.cpu_affinity...);
  visit("gpudirect", nic.gpudirect...);
  visit("nccl_net", nic.nccl_net...);
}

template <class Visit, Either<StatedPath>... Paths>
  requires(sizeof...(Paths) > 0)
void each_fact(Visit&& visit, Paths&... path) {
  visit("type", path.type...);
  visit("nvlinks", path.nvlinks...);
}

template <class Visit, Either<PeerAccess>... Accesses>
  requires(sizeof...(Accesses) > 0)
void each_fact(Visit&& visit, Accesses&... access) {
  visit("state", access.state...);
}

template <class Visit, Either<ChannelGraph>... Graphs>
  requires(sizeof...(Graphs) > 0)
void each_fact(Visit&& visit, Graphs&... graph) {
  visit("pattern", graph.pattern...);
  visit("cross_nic", graph.cross_nic...);
  visit("same_channels", graph.same_channels...);
  visit("intra_gigabytes_per_second", graph.intra_gigabytes_per_second...);
  visit("inter_gigabytes_per_second", graph.inter_gigabytes_per_second...);
  visit("inter_latency", graph.inter_latency...);
  visit("intra_type", graph.intra_type...);
  visit("inter_type", graph.inter_type...);
}

/// The facts of the machine itself, not of its devices.
template <class Visit, Either<Host>... Hosts>
  requires(sizeof...(Hosts) > 0)
void each_fact(Visit&& visit, Hosts&... host) {
  visit("name", host.name...);
  visit("product", host.product...);
  visit("fabric_manager", host.fabric_manager...);
  visit("driver_version", host.driver_version...);
  visit("cuda_version", host.cuda_version...);
  visit("peer_memory", host.peer_memory...);
}

}  // namespace collbench::topology
