// pcie_checks() of checks.hpp: the way between GPUs, NICs and memory.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "topology/doctor/look.hpp"
#include "topology/graph/lookup.hpp"

namespace collbench::topology {
namespace {

/// What takes requests between peers up to the host. SrcValid alone only checks who sends.
bool redirects_peers(std::string_view line) {
  return line.starts_with("ACSCtl:") &&
         (has_text(line, "ReqRedir+") || has_text(line, "CmpltRedir+") || has_text(line, "UpstreamFwd+"));
}

/// Of a text in which no function is named: the first, and of how many.
std::vector<DoctorObservation> redirecting_lines(const Evidence& evidence) {
  std::vector<DoctorObservation> found;
  for (const EvidenceLine& line : evidence.of("lspci"))
    if (redirects_peers(line.text)) found.push_back(quoted(line));
  if (found.size() < 2) return found;
  return {{fmt::format("{} of the listed bridges: {}", found.size(), found.front().what),
           found.front().location}};
}

/// The bridges above a device, neither the device itself nor the root port.
std::vector<const PciDevice*> bridges_above(const Host& host, const Device& device) {
  const std::vector<const PciDevice*> way = way_to_root(host, device);
  return way.size() > 2 ? std::vector(way.begin() + 1, way.end() - 1) : std::vector<const PciDevice*>{};
}

/// Of GPUs that are each below a root port of their own, without a switch or NVLink: what they say to each
/// other passes these ports.
std::vector<std::pair<Device, const PciDevice*>> root_ports_between(const Host& host) {
  std::vector<std::pair<Device, const PciDevice*>> ports;
  for (std::size_t i = 0; i < host.gpus.size(); ++i) {
    if (host.gpus[i].nvlinks_active.value_or(0) > 0) return {};
    const Device gpu{DeviceKind::gpu, static_cast<int>(i)};
    const std::vector<const PciDevice*> way = way_to_root(host, gpu);
    if (way.size() == 2) ports.emplace_back(gpu, way.back());
  }
  return ports.size() < 2 ? std::vector<std::pair<Device, const PciDevice*>>() : ports;
}

/// Of a whole listing, bridges above a GPU or a NIC; of the output of a grep, all lines. A root port has ACS
/// on by itself where the IOMMU is, and peers below one switch do not pass it.
DoctorVerdict look_at_acs(const Evidence& evidence) {
  const std::vector<PciDevice>& functions = evidence.host.pci_devices;
  if (!evidence.has("lspci") &&
      std::ranges::none_of(functions, [](const PciDevice& device) { return device.acs.known(); }))
    return std::nullopt;
  std::vector<DoctorObservation> found;
  if (functions.empty()) found = redirecting_lines(evidence);
  bool seen = false;
  for (const Device& device : gpus_and_nics(evidence.host)) {
    for (const PciDevice* bridge : bridges_above(evidence.host, device)) {
      seen = seen || bridge->acs.known();
      if (!bridge->acs.value_or(false)) continue;
      const std::string what =
          fmt::format("bridge {} above {}", bridge->address, device_label(evidence.host, device));
      if (found.empty() || found.back().what != what) found.push_back({what, ""});
    }
  }
  for (const auto& [gpu, port] : root_ports_between(evidence.host)) {
    seen = seen || port->acs.known();
    if (port->acs.value_or(false))
      found.push_back({fmt::format("root port {} above {}, which has no switch in common with another GPU",
                                   port->address, device_label(evidence.host, gpu)),
                       ""});
  }
  return seen || !found.empty() ? DoctorVerdict(found) : std::nullopt;
}

int most_lanes_of_model(const Host& host, const Device& device) {
  if (device.kind != DeviceKind::gpu) return 0;
  const std::string model = host.gpus.at(static_cast<std::size_t>(device.index)).model.value_or("");
  int most = 0;
  for (const Gpu& gpu : host.gpus) {
    const PciDevice* function = find_pci_device(host, gpu.pci_address.value_or(""));
    if (function != nullptr && !model.empty() && gpu.model.value_or("") == model)
      most = std::max(most, function->link_now.width.value_or(0));
  }
  return most;
}

/// The width of an idle link is that of a busy one, unlike its rate. What the port above allows is often less
/// than what the card could: slots of eight lanes are usual. Where that port is not known, GPUs of the same
/// model say what is usual.
DoctorVerdict look_at_width(const Evidence& evidence) {
  std::vector<DoctorObservation> found;
  bool seen = false;
  for (const Device& device : gpus_and_nics(evidence.host)) {
    const PciDevice* function = find_pci_device(evidence.host, device);
    if (function == nullptr || !function->link_now.width.known()) continue;
    const PciDevice* above = find_pci_device(evidence.host, function->parent);
    const bool both_ends =
        above != nullptr && above->link_max.width.known() && function->link_max.width.known();
    const int now = *function->link_now.width.value;
    const int usual = both_ends ? std::min(*above->link_max.width.value, *function->link_max.width.value)
                                : most_lanes_of_model(evidence.host, device);
    if (usual == 0 || (!both_ends && evidence.host.gpus.size() < 2)) continue;
    seen = true;
    if (now > 0 && now < usual)
      found.push_back(
          {fmt::format("{} ({}): x{}, {} x{}", device_label(evidence.host, device), function->address, now,
                       both_ends ? "and both ends allow" : "and a GPU of its model has", usual),
           ""});
  }
  return found_where(seen, found);
}

bool is_fast_nic(std::string_view title) {
  return has_text(title, "Mellanox") && (has_text(title, "ConnectX-5") || has_text(title, "ConnectX-6") ||
                                         has_text(title, "ConnectX-7") || has_text(title, "ConnectX-8"));
}

/// The lines "DevCtl" and what follows it of the NICs, each with `holds`.
template <class Holds>
DoctorVerdict nics_that(const Evidence& evidence, std::string_view detail, Holds holds) {
  std::vector<DoctorObservation> found;
  bool seen = false;
  for (const LspciFunction& function : lspci_functions(evidence)) {
    if (!is_fast_nic(function.title)) continue;
    for (const EvidenceLine* line : function.details) {
      if (!has_text(line->text, detail)) continue;
      seen = true;
      if (holds(std::string_view(line->text)))
        found.push_back(
            {fmt::format("{}: {}", excerpt(function.title, 60), quoted(*line).what), line->location});
      break;
    }
  }
  return found_where(seen, found);
}

DoctorVerdict look_at_relaxed_ordering(const Evidence& evidence) {
  return nics_that(evidence, "RlxdOrd", [](std::string_view line) { return has_text(line, "RlxdOrd-"); });
}

DoctorVerdict look_at_read_request(const Evidence& evidence) {
  constexpr double kSlowBytes = 512;
  return nics_that(evidence, "MaxReadReq ", [](std::string_view line) {
    const auto bytes = number_behind(line, "MaxReadReq ");
    return bytes && *bytes <= kSlowBytes;
  });
}

/// The kinds of the groups as the kernel has them now: "DMA" and "DMA-FQ" translate, "identity" passes. Where
/// any passes, that is the default, and single groups (a device that may not be trusted) differ.
DoctorVerdict look_at_iommu_groups(const Evidence& evidence) {
  std::size_t translating = 0;
  const EvidenceLine* first = nullptr;
  for (const EvidenceLine& line : evidence.of("iommu-groups")) {
    if (line.text.ends_with(":identity") || line.text.ends_with(" is empty")) return healthy();
    if (!line.text.ends_with(":DMA") && !line.text.ends_with(":DMA-FQ")) continue;
    ++translating;
    if (first == nullptr) first = &line;
  }
  if (first == nullptr) return std::nullopt;
  return finding({fmt::format("{} groups translate, none passes: {}", translating, quoted(*first).what),
                  first->location});
}

/// The kernel's own words decide; of its command line, what asks for one or the other. Without a word the
/// default of the kernel and of the vendor's driver holds, which no text here shows.
DoctorVerdict look_at_iommu(const Evidence& evidence) {
  if (DoctorVerdict by_groups = look_at_iommu_groups(evidence)) return by_groups;
  for (const EvidenceLine& line : evidence.of("kernel-log")) {
    if (has_text(line.text, "iommu: Default domain type: Passthrough")) return healthy();
    if (has_text(line.text, "iommu: Default domain type: Translated")) return finding(quoted(line));
  }
  for (const EvidenceLine& line : evidence.of("kernel-command-line")) {
    for (const std::string_view passes : {"iommu=pt", "iommu.passthrough=1", "iommu=off"})
      if (has_text(line.text, passes)) return healthy();
    for (const std::string_view translates :
         {"intel_iommu=on", "amd_iommu=on", "iommu=force", "iommu.passthrough=0"})
      if (has_text(line.text, translates)) return finding(quoted(line));
  }
  return std::nullopt;
}

DoctorVerdict look_at_virtual_bridges(const Evidence& evidence) {
  std::vector<DoctorObservation> found;
  bool seen = false;
  for (const Device& device : gpus_and_nics(evidence.host)) {
    const std::vector<const PciDevice*> way = way_to_root(evidence.host, device);
    for (std::size_t i = 1; i < way.size(); ++i) {
      const bool is_virtual = is_virtual_bridge(evidence.host, *way[i]);
      seen = seen || is_virtual || way[i]->link_max.gigatransfers_per_second.known();
      if (is_virtual)
        found.push_back({fmt::format("bridge {} above {}: {}", way[i]->address,
                                     device_label(evidence.host, device), virtual_link_text(*way[i])),
                         ""});
    }
  }
  return found_where(seen, found);
}

/// All pairs of at least four GPUs behind the same host bridge, and no NVLink: a virtual machine without
/// the provider's topology. A file for NCCL cures it.
DoctorVerdict look_at_hidden_switches(const Evidence& evidence) {
  constexpr std::size_t kMinGpus = 4;
  if (evidence.host.gpus.size() < kMinGpus || evidence.host.stated_paths.empty()) return std::nullopt;
  std::size_t pairs = 0;
  for (const StatedPath& path : evidence.host.stated_paths) {
    if (path.from.kind != DeviceKind::gpu || path.to.kind != DeviceKind::gpu || path.from == path.to)
      continue;
    if (path.type.value_or(PathType::loc) != PathType::phb) return healthy();
    ++pairs;
  }
  if (pairs == 0) return std::nullopt;
  if (environment_setting(evidence, "NCCL_TOPO_FILE")) return healthy();
  return finding({fmt::format("all {} pairs of {} GPUs are PHB, and NCCL_TOPO_FILE is not known to be set",
                              pairs, evidence.host.gpus.size()),
                  ""});
}

constexpr std::array<DoctorCheck, 7> kPcieChecks{{
    {"acs-on", DoctorSeverity::slow,
     "ACS on PCIe switches, or on the root ports between two GPUs, sends what GPUs and NICs say to each "
     "other up to the CPU: GPUDirect crawls, fails or hangs.",
     "lspci -vvv (as root)", "lspci -vvv | grep ACSCtl",
     "disable ACS in the BIOS or by setpci on the ports that are named; not where virtual machines use the "
     "devices",
     "nccl#304 and nccl#2079 (confirmed); NCCL user guide, troubleshooting, PCI access control services",
     look_at_acs},
    {"pcie-narrow", DoctorSeverity::slow,
     "The PCIe link has fewer lanes than both of its ends allow, or than a sibling's.",
     "lspci -vvv (as root), or nvidia-smi -q -x", "lspci -vv -s ADDRESS | grep -E 'LnkCap|LnkSta'",
     "reseat the card or riser, then suspect the slot",
     "PCI Express: link training lowers the width on bad lanes", look_at_width},
    {"relaxed-ordering-off", DoctorSeverity::risk,
     "The NIC may not write with relaxed ordering: on some CPUs that halves what it receives.",
     "lspci -vvv (as root)", "lspci -vvv -s ADDRESS | grep RlxdOrd",
     "turn on PCIe relaxed ordering in the BIOS; the NIC's PCI_WR_ORDERING stays per_mkey (mlxconfig)",
     "ucx#10955 (confirmed by the vendor), ucx#8062 (150 instead of 200 Gb/s)", look_at_relaxed_ordering},
    {"read-request-small", DoctorSeverity::risk,
     "The NIC reads at most 512 bytes per PCIe request: sends may stay below the line rate.",
     "lspci -vvv (as root)", "lspci -vvv -s ADDRESS | grep MaxReadReq",
     "setpci -s ADDRESS CAP_EXP+8.w, its first digit 5 (4096 bytes)",
     "NVIDIA, ConnectX performance tuning: MaxReadReq 4096", look_at_read_request},
    {"iommu-translates", DoctorSeverity::risk,
     "The IOMMU translates what devices say to each other: peer access between GPUs may be slow or wrong.",
     "/sys/kernel/iommu_groups, or cat /proc/cmdline",
     "grep . /sys/kernel/iommu_groups/*/type ; cat /proc/cmdline ; dmesg | grep -i iommu",
     "boot with iommu=pt, or turn the IOMMU off where no virtual machine needs it",
     "nccl#1285 (confirmed); NCCL user guide, troubleshooting", look_at_iommu},
    {"virtual-bridge", DoctorSeverity::slow,
     "A virtual machine shows a bridge with a link that no real one has: NCCL takes it for real and plans "
     "around it.",
     "lspci -vvv, or NCCL's topology XML", "lspci -vv -s ADDRESS | grep LnkSta ; echo $NCCL_TOPO_FILE",
     "set NCCL_TOPO_FILE to the provider's file", "nccl#749 (maintainer)", look_at_virtual_bridges},
    {"switches-hidden", DoctorSeverity::slow,
     "No two GPUs share a PCIe switch: a virtual machine hides the switches, and NCCL pairs devices blindly.",
     "nvidia-smi topo -m", "nvidia-smi topo -m ; echo $NCCL_TOPO_FILE",
     "set NCCL_TOPO_FILE to the provider's file (aws-ofi-nccl, Azure and others have one)",
     "nccl#1298 (confirmed: training 7 h to 4.5 h)", look_at_hidden_switches},
}};

}  // namespace

std::span<const DoctorCheck> pcie_checks() { return kPcieChecks; }

}  // namespace collbench::topology
