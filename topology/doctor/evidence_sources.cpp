// evidence_sources() of evidence.hpp: which texts there are, how each is recognized, and how this machine
// gives it.
#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <ranges>
#include <utility>

#include "topology/doctor/evidence.hpp"
#include "topology/doctor/look.hpp"
#include "topology/doctor/nccl_messages.hpp"

namespace collbench::topology {
namespace {

template <class Holds>
bool any_line(const std::vector<Line>& lines, Holds holds) {
  return std::ranges::any_of(lines, [&](const Line& line) { return holds(trim(line.text)); });
}

using Recognizer = std::function<bool(const std::vector<Line>& lines)>;

/// A line has one of the words, between which | stands; begins(): as its start.
Recognizer has(std::string_view words, bool at_start = false) {
  return [words, at_start](const std::vector<Line>& lines) {
    return any_line(lines, [&](std::string_view line) {
      return std::ranges::any_of(words | std::views::split('|'), [&](auto each) {
        const std::string_view word(each.begin(), each.end());
        return at_start ? line.starts_with(word) : has_text(line, word);
      });
    });
  };
}
Recognizer begins(std::string_view words) { return has(words, true); }

Recognizer either(Recognizer one, Recognizer other) {
  return [one = std::move(one), other = std::move(other)](const std::vector<Line>& lines) {
    return one(lines) || other(lines);
  };
}

bool is_module_list(const std::vector<Line>& lines) {
  return any_line(lines, [](std::string_view line) {
    const std::vector<std::string> words = split_words(line);
    // "nvidia 54566912 3 …" of lsmod or /proc/modules: a name, a size, a count of users.
    return words.size() >= 3 &&
           (words[0].starts_with("nvidia") || words[0].starts_with("nv_peer") ||
            words[0].starts_with("mlx5_") || words[0].starts_with("ib_")) &&
           parse_integer(words[1], 1024, 1'000'000'000) && parse_integer(words[2], -1, 1'000'000);
  });
}

/// More than the modules that somebody asked grep for.
bool is_whole_module_list(const std::vector<Line>& lines) {
  return any_line(lines, [](std::string_view line) {
    const std::vector<std::string> words = split_words(line);
    return words.size() >= 3 && parse_integer(words[1], 1024, 1'000'000'000) &&
           parse_integer(words[2], -1, 1'000'000) && !words[0].starts_with("nv") &&
           !words[0].starts_with("mlx") && !words[0].starts_with("ib_");
  });
}

/// Or the answer to `ulimit -l`.
bool is_limits(const std::vector<Line>& lines) {
  return any_line(lines, [before = std::string_view()](std::string_view line) mutable {
    const bool asked = std::exchange(before, line).ends_with("ulimit -l");
    return line.starts_with("Max locked memory") || line.starts_with("max locked memory") ||
           (asked && (line == "unlimited" || parse_integer(line, 0, INT64_MAX)));
  });
}

bool is_shm(const std::vector<Line>& lines) {
  return any_line(lines, [](std::string_view line) { return line.ends_with(" /dev/shm"); });
}

bool is_ibv_devinfo(const std::vector<Line>& lines) {
  return any_line(lines, [](std::string_view line) {
    return line.starts_with("hca_id:") || line.starts_with("active_mtu:") || line.starts_with("sm_lid:") ||
           (line.starts_with("GID[") && has_text(line, "RoCE v"));
  });
}

bool is_environment(const std::vector<Line>& lines) {
  return any_line(lines, [](std::string_view line) {
    const std::size_t end = line.find('=');
    if (!line.starts_with("NCCL_") || end == std::string_view::npos) return false;
    return std::all_of(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(end), [](unsigned char c) {
      return std::isupper(c) != 0 || std::isdigit(c) != 0 || c == '_';
    });
  });
}

/// "NCCL version 2.18.5+cuda12.2"
bool names_nccl_version(std::string_view line) {
  constexpr std::string_view kBefore = "NCCL version ";
  const std::size_t at = line.find(kBefore);
  const std::string_view rest = at == std::string_view::npos ? "" : line.substr(at + kBefore.size());
  return !rest.empty() && std::isdigit(static_cast<unsigned char>(rest.front())) != 0;
}

bool is_nccl_log(const std::vector<Line>& lines) {
  return any_line(lines, [](std::string_view line) {
    const LogLine parts = log_line(line);
    const bool is_said_by_job = parts.level == LogLevel::info || parts.level == LogLevel::warning ||
                                own_error(line) != std::string_view::npos;
    return is_said_by_job || has_text(line, "# nThread") || has_text(line, "# Avg bus bandwidth") ||
           has_text(line, "via NET/") || has_text(line, "INFO NET/IB : ") || names_nccl_version(line) ||
           !nccl_wheel(line).empty() || !message_code(line, parts).empty();
  });
}

bool is_whole_lspci(const std::vector<Line>& lines) {
  return begins("DevCtl:")(lines) && has(" bridge: ")(lines);
}

/// As many GPUs as it says itself, and the sections that are judged: -d PERFORMANCE shows one of them only.
bool is_whole_query(const std::vector<Line>& lines) {
  std::int64_t attached = -1;
  std::int64_t listed = 0;
  bool has_clocks = false;
  bool has_rows = false;
  for (const Line& line : lines) {
    const std::string_view text = trim(line.text);
    if (text.starts_with("Attached GPUs"))
      attached = parse_integer(trim(text.substr(text.rfind(':') + 1)), 0, 1024).value_or(-1);
    if (text.starts_with("GPU 0")) ++listed;
    has_clocks = has_clocks || text == "Clocks Event Reasons" || text == "Clocks Throttle Reasons";
    has_rows = has_rows || text.starts_with("Remapped Rows");
    if (text == "</nvidia_smi_log>") return true;
  }
  return attached == listed && has_clocks && has_rows;
}

bool never_whole(const std::vector<Line>& /*lines*/) { return false; }

/// What grep or -d leaves of "nvidia-smi -q": "Fabric", and below it "State : Completed"; "Remapped Rows",
/// and below it "Correctable Error : 0".
bool is_section_of_query(const std::vector<Line>& lines) {
  std::string_view section;
  for (const Line& line : lines) {
    const std::string_view text = trim(line.text);
    if ((section == "Fabric" && text.starts_with("State ")) ||
        (section == "Remapped Rows" && text.starts_with("Correctable Error ")))
      return true;
    section = text;
  }
  return false;
}

/// IMEX logs in the same form, and names itself.
bool is_fabric_manager_log(const std::vector<Line>& lines) {
  const Recognizer is_imex =
      has("IMEX Log |IMEX version |IMEX Library |IP addresses in the node configuration file");
  return !is_imex(lines) && any_line(lines, [](std::string_view line) {
    return has_text(line, "] [tid ") && (has_text(line, "[INFO]") || has_text(line, "[ERROR]"));
  });
}

bool is_gid_table(const std::vector<Line>& lines) {
  return any_line(lines, [](std::string_view line) {
    const std::vector<std::string> words = split_words(line);
    return words.size() >= 4 && words[0] == "DEV" && words[1] == "PORT" && words[2] == "INDEX";
  });
}

bool is_rdma_link(const std::vector<Line>& lines) {
  return any_line(lines, [](std::string_view line) {
    return line.starts_with("link ") && has_text(line, " physical_state ");
  });
}

/// What grep prints of files of sysfs, "PATH:VALUE", where `part` is in the path.
Recognizer of_sysfs(std::string_view part) {
  return [part](const std::vector<Line>& lines) {
    return any_line(lines, [part](std::string_view line) {
      return line.starts_with("/sys/") && has_text(line.substr(0, line.find(':')), part);
    });
  };
}

/// What cannot be cut by a grep that would leave it recognizable.
bool always_whole(const std::vector<Line>& /*lines*/) { return true; }

constexpr std::string_view kKernelLog =
    "NVRM:|mlx5_core|mlx4_core|SXid (PCI:|nvidia-nvswitch|DMAR:|: lost carrier|nvidia_peermem: |nv_peer_mem: "
    "| Gb/s available PCIe bandwidth, |] infiniband |kernel: infiniband |pcieport |PCIe Bus Error: | AER: |] "
    "Linux version |kernel: Linux version ";
/// From the kernel's start: nothing has left its ring buffer.
constexpr std::string_view kWholeKernelLog = "Linux version ";
/// Of /proc/PID/limits or ulimit -a, or by name.
constexpr std::string_view kWholeLimits = "Max |max locked memory";
constexpr std::string_view kSmiFailure =
    "NVIDIA-SMI has failed|Failed to initialize NVML|Unable to determine the device handle|No devices were "
    "found";
constexpr std::string_view kVersions =
    "Failed to initialize NVML: Driver/library version mismatch|nvml error: driver/library version mismatch";

const std::array<EvidenceSource, 33> kSources{{
    {"lspci", "lspci -vvv (as root)", begins("ACSCtl:|LnkSta:|DevCtl:"), is_whole_lspci, {"lspci", "-vvv"}},
    {"lsmod", "lsmod", is_module_list, is_whole_module_list, {"/proc/modules"}},
    {"kernel-command-line",
     "cat /proc/cmdline",
     either(begins("BOOT_IMAGE=|GRUB_CMDLINE_LINUX"), has("Kernel command line:")),
     always_whole,
     {"/proc/cmdline"}},
    {"kernel-version", "uname -r", nullptr, nullptr, {"/proc/sys/kernel/osrelease"}},
    {"numa-balancing",
     "cat /proc/sys/kernel/numa_balancing",
     nullptr,
     nullptr,
     {"/proc/sys/kernel/numa_balancing"}},
    {"limits", "cat /proc/self/limits", is_limits, begins(kWholeLimits), {"/proc/self/limits"}},
    {"shm", "df -B1 /dev/shm", is_shm, always_whole, {"df", "-B1", "/dev/shm"}},
    {"governor", "cat /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor", nullptr, nullptr, {}},
    {"cpus", "cat /sys/devices/system/cpu/online", nullptr, nullptr, {"/sys/devices/system/cpu/online"}},
    {"status", "cat /proc/self/status", begins("Cpus_allowed_list:|CapBnd:"), nullptr, {"/proc/self/status"}},
    {"meminfo", "cat /proc/meminfo", begins("HugePages_Total:"), always_whole, {"/proc/meminfo"}},
    {"transparent-hugepages",
     "cat /sys/kernel/mm/transparent_hugepage/enabled",
     begins("[always] madvise never|always [madvise] never|always madvise [never]"),
     always_whole,
     {"/sys/kernel/mm/transparent_hugepage/enabled"}},
    {"idle-states",
     "grep . /sys/devices/system/cpu/cpu0/cpuidle/state*/{name,latency,disable}",
     of_sysfs("/cpuidle/state"),
     nullptr,
     {}},
    {"iommu-groups", "grep . /sys/kernel/iommu_groups/*/type", of_sysfs("/iommu_groups/"), nullptr, {}},
    {"environment", "env | grep NCCL_", is_environment, nullptr, {}},
    {"nvidia-module",
     "cat /proc/driver/nvidia/version",
     begins("NVRM version:"),
     always_whole,
     {"/proc/driver/nvidia/version"}},
    {"nvidia-smi-q",
     "nvidia-smi -q",
     either(has("NVSMI LOG|<nvidia_smi_log>"), is_section_of_query),
     is_whole_query,
     {"nvidia-smi", "-q"}},
    {"nvidia-smi-failure", "nvidia-smi", either(begins(kSmiFailure), has(kVersions)), never_whole, {}},
    {"fabric-manager",
     "systemctl is-active nvidia-fabricmanager",
     nullptr,
     nullptr,
     {"systemctl", "is-active", "nvidia-fabricmanager"}},
    {"fabric-manager-version",
     "nv-fabricmanager --version",
     begins("Fabric Manager version is"),
     always_whole,
     {"nv-fabricmanager", "--version"}},
    {"fabric-manager-log",
     "/var/log/fabricmanager.log",
     is_fabric_manager_log,
     nullptr,
     {"/var/log/fabricmanager.log"}},
    {"ibv_devinfo", "ibv_devinfo -v", is_ibv_devinfo, always_whole, {"ibv_devinfo", "-v"}},
    {"rdma-link", "rdma link", is_rdma_link, always_whole, {"rdma", "link"}},
    {"gids", "show_gids", is_gid_table, always_whole, {}},
    {"partition-keys", "grep . /sys/class/infiniband/*/ports/*/pkeys/*", of_sysfs("/pkeys/"), nullptr, {}},
    // "ip link", "ip addr" and their brief forms all show this flag.
    {"interfaces", "ip link", has("<LOOPBACK,"), always_whole, {"ip", "link"}},
    {"mlxconfig", "mlxconfig -d DEVICE q", begins("PCI_WR_ORDERING"), begins("PCI_WR_ORDERING"), {}},
    {"mlnx_qos", "mlnx_qos -i INTERFACE", begins("PFC configuration:"), always_whole, {}},
    {"kernel-log", "dmesg", has(kKernelLog), has(kWholeKernelLog), {"dmesg"}},
    {"imex", "nvidia-imex-ctl -N", begins("Domain State:"), always_whole, {"nvidia-imex-ctl", "-N"}},
    {"nccl-library", "ls -l /usr/lib/*/libnccl.so.2*", has("libnccl.so.2."), always_whole, {}},
    {"ucx", "ucx_info -v", begins("# Library version:"), always_whole, {"ucx_info", "-v"}},
    {"nccl-log", "a log with NCCL_DEBUG=INFO", is_nccl_log, has("Init COMPLETE"), {}},
}};

}  // namespace

std::span<const EvidenceSource> evidence_sources() { return kSources; }

}  // namespace collbench::topology
