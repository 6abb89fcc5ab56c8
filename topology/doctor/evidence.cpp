#include "topology/doctor/evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "base/error.hpp"
#include "base/files.hpp"
#include "topology/graph/merge.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kModules = "lsmod";  // all of them, however few a machine has

template <class Holds>
bool any_line(const std::vector<Line>& lines, Holds holds) {
  return std::any_of(lines.begin(), lines.end(), [&](const Line& line) { return holds(trim(line.text)); });
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_lspci(const std::vector<Line>& lines) {
  return any_line(lines, [](std::string_view line) {
    return line.starts_with("ACSCtl:") || line.starts_with("LnkSta:") || line.starts_with("DevCtl:");
  });
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

bool is_boot_command(const std::vector<Line>& lines) {
  return any_line(lines, [](std::string_view line) {
    return line.starts_with("BOOT_IMAGE=") || contains(line, "Kernel command line:") ||
           line.starts_with("GRUB_CMDLINE_LINUX");
  });
}

bool is_limits(const std::vector<Line>& lines) {
  return any_line(lines, [](std::string_view line) {
    return line.starts_with("Max locked memory") || line.starts_with("max locked memory");
  });
}

bool is_shm(const std::vector<Line>& lines) {
  return any_line(lines, [](std::string_view line) { return line.ends_with(" /dev/shm"); });
}

bool is_ibv_devinfo(const std::vector<Line>& lines) {
  return any_line(lines, [](std::string_view line) {
    return line.starts_with("hca_id:") || line.starts_with("active_mtu:") || line.starts_with("sm_lid:");
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

bool is_nccl_log(const std::vector<Line>& lines) {
  return any_line(lines, [](std::string_view line) {
    return contains(line, "NCCL INFO") || contains(line, "NCCL WARN") || contains(line, "# nThread") ||
           contains(line, "# Avg bus bandwidth") || contains(line, "Failed to bind NVLink SHARP") ||
           contains(line, "via NET/");
  });
}

bool is_kernel_log(const std::vector<Line>& lines) {
  return any_line(lines, [](std::string_view line) {
    return contains(line, "NVRM:") || contains(line, "mlx5_core") || contains(line, "DMAR:") ||
           contains(line, ": lost carrier");
  });
}

/// From the start of the kernel: nothing has left its ring buffer.
bool is_whole_kernel_log(const std::vector<Line>& lines) {
  return any_line(lines, [](std::string_view line) { return contains(line, "Linux version "); });
}

bool is_whole_lspci(const std::vector<Line>& lines) {
  return any_line(lines, [](std::string_view line) { return line.starts_with("DevCtl:"); }) &&
         any_line(lines, [](std::string_view line) { return contains(line, " bridge: "); });
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

bool is_nvidia_smi_failure(const std::vector<Line>& lines) {
  return any_line(lines, [](std::string_view line) { return line.starts_with("NVIDIA-SMI has failed"); });
}

bool is_whole_nccl_log(const std::vector<Line>& lines) {
  return any_line(lines, [](std::string_view line) { return contains(line, "Init COMPLETE"); });
}

bool never_whole(const std::vector<Line>& /*lines*/) { return false; }

bool is_nvidia_smi_query(const std::vector<Line>& lines) {
  return any_line(lines, [](std::string_view line) {
    return contains(line, "NVSMI LOG") || contains(line, "<nvidia_smi_log>");
  });
}

bool is_kernel_module_version(const std::vector<Line>& lines) {
  return any_line(lines, [](std::string_view line) { return line.starts_with("NVRM version:"); });
}

bool is_mlnx_qos(const std::vector<Line>& lines) {
  return any_line(lines, [](std::string_view line) { return line.starts_with("PFC configuration:"); });
}

bool is_fabric_manager_version(const std::vector<Line>& lines) {
  return any_line(lines, [](std::string_view line) { return line.starts_with("Fabric Manager version is"); });
}

bool is_fabric_manager_log(const std::vector<Line>& lines) {
  return any_line(lines, [](std::string_view line) {
    return contains(line, "] [tid ") && (contains(line, "[INFO]") || contains(line, "[ERROR]"));
  });
}

/// What cannot be cut by a grep that would leave it recognizable.
bool always_whole(const std::vector<Line>& /*lines*/) { return true; }

const std::array<EvidenceSource, 21> kSources{{
    {"lspci", "lspci -vvv (as root)", is_lspci, is_whole_lspci, {"lspci", "-vvv"}},
    {kModules, "lsmod", is_module_list, is_whole_module_list, {"/proc/modules"}},
    {"kernel-command-line", "cat /proc/cmdline", is_boot_command, always_whole, {"/proc/cmdline"}},
    {"kernel-version", "uname -r", nullptr, nullptr, {"/proc/sys/kernel/osrelease"}},
    {"numa-balancing",
     "cat /proc/sys/kernel/numa_balancing",
     nullptr,
     nullptr,
     {"/proc/sys/kernel/numa_balancing"}},
    {"limits", "cat /proc/self/limits", is_limits, always_whole, {"/proc/self/limits"}},
    {"shm", "df -B1 /dev/shm", is_shm, always_whole, {"df", "-B1", "/dev/shm"}},
    {"governor", "cat /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor", nullptr, nullptr, {}},
    {"cpus", "cat /sys/devices/system/cpu/online", nullptr, nullptr, {"/sys/devices/system/cpu/online"}},
    {"status", "cat /proc/self/status", nullptr, nullptr, {"/proc/self/status"}},
    {"environment", "env | grep NCCL_", is_environment, nullptr, {}},
    {"nvidia-module",
     "cat /proc/driver/nvidia/version",
     is_kernel_module_version,
     always_whole,
     {"/proc/driver/nvidia/version"}},
    {"nvidia-smi-q", "nvidia-smi -q", is_nvidia_smi_query, is_whole_query, {"nvidia-smi", "-q"}},
    {"nvidia-smi-failure", "nvidia-smi", is_nvidia_smi_failure, never_whole, {}},
    {"fabric-manager",
     "systemctl is-active nvidia-fabricmanager",
     nullptr,
     nullptr,
     {"systemctl", "is-active", "nvidia-fabricmanager"}},
    {"fabric-manager-version",
     "nv-fabricmanager --version",
     is_fabric_manager_version,
     always_whole,
     {"nv-fabricmanager", "--version"}},
    {"fabric-manager-log",
     "/var/log/fabricmanager.log",
     is_fabric_manager_log,
     nullptr,
     {"/var/log/fabricmanager.log"}},
    {"ibv_devinfo", "ibv_devinfo -v", is_ibv_devinfo, always_whole, {"ibv_devinfo", "-v"}},
    {"mlnx_qos", "mlnx_qos -i INTERFACE", is_mlnx_qos, always_whole, {}},
    {"kernel-log", "dmesg", is_kernel_log, is_whole_kernel_log, {"dmesg"}},
    {"nccl-log", "a log with NCCL_DEBUG=INFO", is_nccl_log, is_whole_nccl_log, {}},
}};

std::vector<EvidenceLine> evidence_lines(const std::vector<Line>& lines, std::string_view file) {
  std::vector<EvidenceLine> kept;
  for (const Line& line : lines) {
    if (const std::string_view text = trim(line.text); !text.empty())
      kept.push_back({std::string(text), location(file, line.number)});
  }
  return kept;
}

/// What the readers of topologies make of the text; none where it is nothing of theirs.
std::optional<Topology> as_topology(std::string_view text, std::string_view file, std::string& why) {
  try {
    return read_any_topology(text, file);
  } catch (const Error& error) {
    why = error.what();
    return std::nullopt;
  }
}

/// What a machine says once; ibstat may be asked for each card, and lspci for each device.
bool is_of_one_machine(const Source& source) {
  return source.reader != kIbstatReader.name && source.reader != kLspciReader.name;
}

void merge_into(Evidence& evidence, Topology topology, std::string_view file) {
  for (Host& host : topology.hosts) {
    const bool other =
        evidence.host.name.known() && host.name.known() && *evidence.host.name.value != *host.name.value;
    if (other) {
      throw usage_error(std::string(file),
                        fmt::format("is of host {}, other files are of host {}", *host.name.value,
                                    *evidence.host.name.value),
                        "give each host a folder of its own");
    }
    for (const Source& source : host.sources) {
      const bool twice = std::any_of(evidence.host.sources.begin(), evidence.host.sources.end(),
                                     [&](const Source& each) { return each.reader == source.reader; });
      if (!twice || !is_of_one_machine(source)) continue;
      throw usage_error(std::string(file),
                        fmt::format("is a second output of {}: of another machine?", source.reader),
                        "give each machine a folder of its own, or one file at a time");
    }
    evidence.host = evidence.host.sources.empty() ? std::move(host) : merge_hosts({evidence.host, host});
  }
}

std::vector<fs::path> files_of(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path, error))
    if (entry.is_regular_file(error)) files.push_back(entry.path());
  if (error) throw usage_error(path.string(), error.message(), "give a folder that can be read");
  std::sort(files.begin(), files.end());
  return files;
}

/// The source that a saved folder's file is called after; empty for a file of another name.
std::string_view source_of(const fs::path& file) {
  const auto* found = std::find_if(kSources.begin(), kSources.end(), [&file](const EvidenceSource& source) {
    return file.filename() == std::string(source.name) + ".txt";
  });
  return found == kSources.end() ? std::string_view() : found->name;
}

}  // namespace

std::span<const EvidenceSource> evidence_sources() { return kSources; }

const std::vector<EvidenceLine>& Evidence::of(std::string_view source) const {
  static const std::vector<EvidenceLine> no_lines;
  const auto found = lines.find(source);
  return found == lines.end() ? no_lines : found->second;
}

bool add_evidence(Evidence& evidence, std::string_view text, std::string_view file, std::string_view source) {
  const std::vector<Line> lines = clean_lines(text);
  bool used = false;
  for (const EvidenceSource& each : kSources) {
    const bool named = each.name == source;
    const bool is_it = named || (source.empty() && each.recognizes != nullptr && each.recognizes(lines));
    if (!is_it) continue;
    const bool whole_by_name = named && (each.is_whole == nullptr || each.name == kModules);
    if (whole_by_name || (each.is_whole != nullptr && each.is_whole(lines)))
      evidence.whole.emplace(each.name);
    std::vector<EvidenceLine> kept = evidence_lines(lines, file);
    std::vector<EvidenceLine>& all = evidence.lines[std::string(each.name)];
    all.insert(all.end(), kept.begin(), kept.end());
    used = true;
  }
  std::string why;
  if (auto topology = as_topology(text, file, why)) {
    merge_into(evidence, std::move(*topology), file);
    used = true;
  } else if (!used) {
    evidence.notes.push_back(fmt::format("left out: {}: {}", file, why));
  }
  return used;
}

Evidence read_evidence(const fs::path& path) {
  Evidence evidence;
  bool used = false;
  std::error_code error;
  const bool folder = fs::is_directory(path, error);
  if (folder && is_sysfs(path)) {
    evidence.host = read_sysfs(path);
    used = true;
  }
  for (const fs::path& file : files_of(path)) {
    const std::string_view source = source_of(file);
    std::string text;
    try {
      text = read_file(file, kMaxInputBytes);
      if (source.empty()) require_text(text, file.string(), "the output of a command");
    } catch (const Error& unreadable) {
      if (!folder) throw;
      evidence.notes.push_back(fmt::format("left out: {}: {}", file.string(), unreadable.what()));
      continue;
    }
    used = add_evidence(evidence, text, file.string(), source) || used;
  }
  if (!used) {
    const std::string why = evidence.notes.empty() ? "the folder is empty" : evidence.notes.front();
    throw usage_error(path.string(), folder ? "no file in it is evidence; " + why : why,
                      "save a folder on the machine with: collbench doctor save FOLDER");
  }
  return evidence;
}

}  // namespace collbench::topology
