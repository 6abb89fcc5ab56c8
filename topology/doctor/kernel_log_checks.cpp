// kernel_log_checks() of checks.hpp: what drivers of GPUs and NICs write into the kernel's log.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <set>
#include <string>

#include "topology/doctor/look.hpp"
#include "topology/graph/pci.hpp"

namespace collbench::topology {
namespace {

/// nvidia-smi's own words; where it answers as a whole, what it once said was mended.
DoctorVerdict look_at_mismatch(const Evidence& evidence) {
  if (evidence.whole.contains("nvidia-smi-q")) return healthy();
  return lines_that(evidence, "nvidia-smi-failure",
                    [](std::string_view line) { return has_text(line, "river/library version mismatch"); });
}

/// What the kernel module says of any program whose libraries have another version: of the machine, or of one
/// container. Only what came after the module was last loaded is about the module that runs.
DoctorVerdict look_at_logged_mismatch(const Evidence& evidence) {
  const DoctorVerdict by_nvidia_smi = look_at_mismatch(evidence);
  if (by_nvidia_smi && !by_nvidia_smi->empty()) return std::nullopt;  // said there, and more surely
  if (evidence.whole.contains("nvidia-smi-q")) return healthy();
  const auto is_loading = [](std::string_view line) { return has_text(line, "NVRM: loading "); };
  const auto& log = evidence.of("kernel-log");
  auto loads_to_come =
      std::ranges::count_if(log, [&](const EvidenceLine& line) { return is_loading(line.text); });
  return lines_that(evidence, "kernel-log", [&](std::string_view line) {
    if (is_loading(line)) --loads_to_come;
    return loads_to_come == 0 && has_text(line, "NVRM: API mismatch");
  });
}

/// A GPU that the driver could not start, or that is gone, by the kernel ("NVRM: The NVIDIA GPU
/// 0000:4f:00.0", and some lines on "NVRM: fallen off the bus") or by nvidia-smi ("Unable to determine the
/// device handle for GPU 0000:4F:00.0: GPU is lost"). Where the log has Xid 79, xid says it.
DoctorVerdict look_at_lost_gpus(const Evidence& evidence) {
  static constexpr std::array<std::string_view, 3> kWords{
      "RmInitAdapter failed", "NVRM: The NVIDIA probe routine failed",
      "NVRM: This PCI I/O region assigned to your NVIDIA device is invalid"};
  const auto& log = evidence.of("kernel-log");
  const bool by_xid = std::ranges::any_of(log, [](const EvidenceLine& line) {
    return has_text(line.text, "NVRM: Xid") && has_text(line.text, ": 79,");
  });
  std::vector<DoctorObservation> found;
  std::set<std::string> known;
  const auto add = [&](std::string what, const EvidenceLine& line) {
    if (known.insert(what).second) found.push_back({std::move(what), line.location});
  };
  std::string named;
  for (const EvidenceLine& line : log) {
    if (const auto name = text_behind(line.text, "NVRM: The NVIDIA GPU ", " ")) named = *name;
    const bool gone = has_text(line.text, "NVRM: GPU ") && has_text(line.text, "has fallen off the bus");
    if (has_text(line.text, "NVRM: fallen off the bus")) {
      add((named.empty() ? "" : fmt::format("GPU {}: ", excerpt(named, 20))) + quoted(line).what, line);
    } else if (has_one_of(line.text, kWords) || (gone && !by_xid)) {
      add(quoted(line).what, line);
    }
  }
  for (const EvidenceLine& line : evidence.of("nvidia-smi-failure"))
    if (line.text.starts_with("Unable to determine the device handle")) add(quoted(line).what, line);
  return found_in(evidence, "kernel-log", found);
}

/// The module asks for a function of the RDMA driver that this one lacks, or has in another version.
DoctorVerdict look_at_refused_peer_memory(const Evidence& evidence) {
  const bool loaded = has_module(evidence, "nvidia_peermem ") || has_module(evidence, "nv_peer_mem ");
  if (loaded || exports_dma_buf(evidence)) return healthy();
  return lines_that(evidence, "kernel-log", [](std::string_view line) {
    const bool of_module = has_text(line, "nvidia_peermem: ") || has_text(line, "nv_peer_mem: ");
    return of_module && (has_text(line, "Unknown symbol") || has_text(line, "disagrees about version"));
  });
}

/// Linux, drivers/net/ethernet/mellanox: mlx5/core/health.c, cmd.c for "status limits", and the ends of
/// mlx4's and mlx5's starts.
DoctorVerdict look_at_failed_nics(const Evidence& evidence) {
  static constexpr std::array<std::string_view, 9> kWords{
      "device's health compromised",  "irisc not responding",           "firmware internal error",
      "unrecoverable hardware error", "FW fatal error reported by PCI", "status limits exceeded",
      "mlx5_init_one failed",         "mlx5_load_one failed",           "handle_hca_cap failed"};
  return lines_that(evidence, "kernel-log", [](std::string_view line) {
    const bool of_mlx4 = has_text(line, "mlx4_core ") && has_text(line, ", aborting");
    return of_mlx4 || (has_text(line, "mlx5_core") && has_one_of(line, kWords));
  });
}

/// Linux, drivers/net/ethernet/mellanox/mlx5/core/events.c; without "[error]" a cable was plugged or
/// unplugged.
bool is_module_error(std::string_view line) { return has_text(line, "Port module event[error]"); }

/// The same file's reasons that are not the module's fault: power, and what the NIC accepts.
bool is_refused_module(std::string_view line) {
  static constexpr std::array<std::string_view, 4> kWords{"power on the PCIe slot", "Power budget exceeded",
                                                          "Enforce part number list",
                                                          "Long Range for non MLNX"};
  return is_module_error(line) && has_one_of(line, kWords);
}

DoctorVerdict look_at_refused_modules(const Evidence& evidence) {
  return lines_that(evidence, "kernel-log", is_refused_module);
}

DoctorVerdict look_at_cables(const Evidence& evidence) {
  return lines_that(evidence, "kernel-log",
                    [](std::string_view line) { return is_module_error(line) && !is_refused_module(line); });
}

/// "mlx5_core 0000:5e:00.0: 63.008 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x8 link at
/// 0000:5d:00.0 (capable of 126.016 Gb/s with 8.0 GT/s PCIe x16 link)", drivers/pci/pci.c.
struct LimitedLink {
  std::string address;  ///< of the card; empty where none stands before the words
  double available = 0;
  double lanes = 0;
  double capable_lanes = 0;
};

std::optional<LimitedLink> limited_link(std::string_view line) {
  const std::size_t words = line.find(" Gb/s available PCIe bandwidth, limited by ");
  const std::size_t capable = line.find("(capable of ");
  if (words == std::string_view::npos || capable == std::string_view::npos || capable < words)
    return std::nullopt;
  const std::vector<std::string> before = split_words(line.substr(0, words));
  if (before.empty()) return std::nullopt;
  LimitedLink link;
  link.available = leading_number(before.back()).value_or(0);
  for (const std::string& word : before)
    if (const auto address = canonical_pci_address(word.substr(0, word.rfind(':')))) link.address = *address;
  const auto lanes = number_behind(line.substr(words, capable - words), "PCIe x");
  const auto capable_lanes = number_behind(line.substr(capable), "PCIe x");
  if (!lanes || !capable_lanes) return std::nullopt;
  link.lanes = *lanes;
  link.capable_lanes = *capable_lanes;
  return link;
}

/// The functions that the log calls a GPU or NIC of NVIDIA: by the driver, or by the IDs when they were
/// found.
std::set<std::string> gpus_and_nics(const Evidence& evidence) {
  static constexpr std::array<std::string_view, 4> kSigns{"mlx5_core ", "nvidia ", "[15b3:", "[10de:"};
  std::set<std::string> addresses;
  for (const EvidenceLine& line : evidence.of("kernel-log")) {
    if (!has_one_of(line.text, kSigns)) continue;
    for (const std::string& word : split_words(line.text)) {
      if (!word.ends_with(':')) continue;
      if (const auto address = canonical_pci_address(word.substr(0, word.size() - 1)))
        addresses.insert(*address);
    }
  }
  return addresses;
}

/// The rate of the fastest port of the NIC at the address, in Gb/s; 0 where it is not known.
double port_rate(const Host& host, const std::string& address) {
  double fastest = 0;
  for (const Nic& nic : host.nics)
    if (nic.pci_address.value_or("") == address)
      for (const NicPort& port : nic.ports) fastest = std::max(fastest, port.gigabits_per_second.value_or(0));
  return fastest;
}

/// Fewer lanes than the card has, which the slot's wiring may mean; or less than a port of the NIC carries.
/// An idle GPU is slow by itself, so its rate says nothing.
DoctorVerdict look_at_limited_links(const Evidence& evidence) {
  std::vector<DoctorObservation> found;
  const std::set<std::string> known = gpus_and_nics(evidence);
  for (const EvidenceLine& line : evidence.of("kernel-log")) {
    const auto link = limited_link(line.text);
    if (!link || !known.contains(link->address)) continue;
    const bool narrow = link->lanes < link->capable_lanes;
    if (narrow || link->available < port_rate(evidence.host, link->address)) found.push_back(quoted(line));
  }
  return found_in(evidence, "kernel-log", found);
}

/// Linux, drivers/infiniband/hw/efa.
DoctorVerdict look_at_refused_registrations(const Evidence& evidence) {
  return lines_that(evidence, "kernel-log", [](std::string_view line) {
    return (has_text(line, "infiniband efa") || has_text(line, "infiniband rdmap")) &&
           (has_text(line, " REG_MR ") || has_text(line, "Failed to register mr"));
  });
}

/// By device, "pcieport 0000:00:03.0: PCIe Bus Error: severity=Corrected, type=…" (Correctable of newer
/// kernels); where a grep left none, "… AER: Corrected error received: 0000:00:03.0".
DoctorVerdict look_at_pcie_errors(const Evidence& evidence,
                                  std::initializer_list<std::string_view> severities) {
  const auto has_severity = [&severities](const EvidenceLine& line) {
    return std::ranges::any_of(severities,
                               [&line](std::string_view each) { return has_text(line.text, each); });
  };
  std::map<std::string, std::pair<const EvidenceLine*, std::size_t>> by_device;
  const auto count = [&](std::string_view before, std::string_view behind) {
    for (const EvidenceLine& line : evidence.of("kernel-log")) {
      if (!has_text(line.text, before) || !has_severity(line) || !has_text(line.text, behind)) continue;
      std::string device = "a device";
      for (const std::string& word : split_words(line.text))
        device = canonical_pci_address(word.substr(0, word.find_last_not_of(':') + 1)).value_or(device);
      ++by_device.try_emplace(device, &line, 0).first->second.second;
    }
  };
  count("PCIe Bus Error: severity=", "");
  if (by_device.empty()) count("AER: ", " received");
  std::vector<DoctorObservation> found;
  for (const auto& [device, seen] : by_device)
    found.push_back({fmt::format("{}, {} time{}: {}", device, seen.second, seen.second == 1 ? "" : "s",
                                 quoted(*seen.first).what),
                     seen.first->location});
  return found_in(evidence, "kernel-log", found);
}

DoctorVerdict look_at_corrected_errors(const Evidence& evidence) {
  return look_at_pcie_errors(evidence, {"Correct", "(Non-Fatal)"});
}

DoctorVerdict look_at_uncorrected_errors(const Evidence& evidence) {
  return look_at_pcie_errors(evidence, {"(Fatal)"});
}

constexpr std::array<DoctorCheck, 11> kKernelLogChecks{{
    {"driver-mismatch", DoctorSeverity::broken,
     "nvidia-smi's library and the running kernel module have different versions: what loads that library "
     "finds no GPU.",
     "nvidia-smi", "cat /proc/driver/nvidia/version ; nvidia-smi",
     "reboot, or unload the nvidia modules when nothing uses them, and load them again; in one container "
     "only: its image must not bring the driver's libraries",
     "machine-shop-maintenance#60 (confirmed: a reboot); NVIDIA, nvidia-smi", look_at_mismatch},
    {"driver-mismatch-logged", DoctorSeverity::risk,
     "A program's libraries and the kernel module had different versions; the log does not say whether they "
     "still do, or whether it was one container.",
     "dmesg, from the boot on",
     "nvidia-smi (on the host, and in the container) ; cat /proc/driver/nvidia/version",
     "nvidia-smi fails on the host: as driver-mismatch; only in a container: its image must not bring the "
     "driver's libraries; nowhere: it was mended",
     "machine-shop-maintenance#60; NVIDIA, open kernel modules", look_at_logged_mismatch},
    {"gpu-lost", DoctorSeverity::broken,
     "The driver could not start a GPU, or lost it: jobs find fewer, or none.", "dmesg, from the boot on",
     "dmesg | grep NVRM ; lspci -d 10de:",
     "power-cycle the node, then reseat or replace the GPU; on a new machine large BARs (above 4G decoding) "
     "in the BIOS, and the open kernel modules for Blackwell",
     "NVSentinel#155 and open-gpu-kernel-modules#862 (confirmed)", look_at_lost_gpus},
    {"peermem-refused", DoctorSeverity::slow,
     "The peer memory module does not fit the NVIDIA driver (nvidia_p2p_*) or the RDMA driver (ib_*): "
     "GPUDirect RDMA is off.",
     "dmesg, from the boot on", "dmesg | grep -E 'peermem|peer_mem' ; lsmod | grep peermem",
     "nvidia_peermem: install the NVIDIA driver again after the RDMA driver (DOCA or MLNX_OFED); "
     "nv_peer_mem: build it again for this kernel and driver (dkms), or load nvidia_peermem in its place; or "
     "DMA-BUF (open kernel modules, Linux 5.12)",
     "nv_peer_memory#8, #39 and #79 (confirmed), gpu-operator#2868", look_at_refused_peer_memory},
    {"nic-failed", DoctorSeverity::broken,
     "A NIC's firmware or its driver's start failed, or it ran out of what jobs need from it.",
     "dmesg, from the boot on", "dmesg | grep -E 'mlx[45]_core' ; mlxfwmanager --query",
     "reset the NIC (mlxfwreset) or reboot, then update its firmware; handle_hca_cap or error -22: a driver "
     "older than the firmware, so a newer kernel or DOCA; limits exceeded: fewer registrations or ranks, of "
     "ALLOC_UAR a larger PF_LOG_BAR_SIZE (mlxconfig); UAR pages of mlx4 on a kernel of 64 KiB pages: "
     "mlx4_core enable_4k_uar=1",
     "charm#2635, ucx#6264, ucx#6049 (confirmed); Linux, mlx5 health.c", look_at_failed_nics},
    {"cable-error", DoctorSeverity::broken, "A NIC reports an error of its cable or transceiver.",
     "dmesg, from the boot on", "dmesg | grep 'Port module' ; mlxlink -d DEVICE -m",
     "reseat, cool or replace the cable or transceiver", "Linux, mlx5 events.c", look_at_cables},
    {"port-module-refused", DoctorSeverity::broken,
     "A NIC has too little power for a port or its module, or does not accept the module, which need not be "
     "faulty.",
     "dmesg, from the boot on", "dmesg | grep -E 'Port module|PCIe slot' ; mlxlink -d DEVICE -m",
     "slot power: a slot that gives the watts of the NIC's manual, or its auxiliary power; power budget: a "
     "module that takes less; part number list or long range: a module that the NIC's maker lists",
     "Linux, mlx5 events.c", look_at_refused_modules},
    {"pcie-limited", DoctorSeverity::risk,
     "The kernel found a PCIe link with fewer lanes than the card has, or less than its port carries: the "
     "slot's wiring, or a fault.",
     "dmesg, from the boot on", "lspci -vv -s ADDRESS | grep -E 'LnkCap|LnkSta'",
     "put the card into a slot with all lanes, or reseat it; compare with a sibling node",
     "Linux, drivers/pci/pci.c, pcie_print_link_status", look_at_limited_links},
    {"efa-registration-refused", DoctorSeverity::broken,
     "EFA refused to register memory: jobs that need more of it fail.", "dmesg, from the boot on",
     "dmesg | grep -E 'REG_MR|register mr' ; ulimit -l",
     "comp_status 1 is the device's own limit: fewer peers, communicators or buffers, or buffers in huge "
     "pages; a newer EFA installer",
     "nccl#563 (reported), libfabric#9739 (maintainer); Linux, efa_admin_defs.h",
     look_at_refused_registrations},
    {"pcie-errors", DoctorSeverity::broken, "PCIe errors were fatal: the link of that device failed.",
     "dmesg, from the boot on", "dmesg | grep -E 'AER|PCIe Bus Error' ; lspci -tv",
     "reseat the card or riser below that port, then another slot; compare with a sibling node; of a device "
     "that no job uses it does not matter",
     "PCI Express, advanced error reporting; Linux, drivers/pci/pcie/aer.c", look_at_uncorrected_errors},
    {"pcie-errors-corrected", DoctorSeverity::risk,
     "PCIe errors were corrected (transfers were repeated), or lost a transfer and not the link (Non-Fatal): "
     "where there are many, the link is unreliable.",
     "dmesg, from the boot on", "dmesg | grep -E 'AER|PCIe Bus Error' ; lspci -tv",
     "a few need nothing; many, or a GPU or NIC below that port that was lost: reseat the card or riser, and "
     "compare with a sibling node",
     "PCI Express, advanced error reporting; Linux, drivers/pci/pcie/aer.c", look_at_corrected_errors},
}};

}  // namespace

std::span<const DoctorCheck> kernel_log_checks() { return kKernelLogChecks; }

}  // namespace collbench::topology
