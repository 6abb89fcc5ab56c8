// gather_live_texts(), live_evidence() and collective_environment() of evidence.hpp.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/child_process.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/secrets/secrets.hpp"
#include "topology/doctor/evidence.hpp"

namespace collbench::topology {
namespace {

namespace fs = std::filesystem;

constexpr double kSecondsPerCommand = 8;

struct LiveText {
  std::string_view source;
  std::string text;  ///< empty: nothing to go by
};

/// What a command or a file of the kernel says; empty where it is not there, with a note where it is and
/// fails or is cut: half of an output would clear what its other half shows. systemctl prints a state and
/// exits with another status than 0.
LiveText live_text(const EvidenceSource& source, std::vector<std::string>& notes) {
  if (source.live.front().starts_with('/')) {
    std::error_code failure;
    if (!fs::exists(source.live.front(), failure)) return {};
    try {
      return {source.name, read_file(fs::path(source.live.front()), kMaxInputBytes)};
    } catch (const Error& error) {
      notes.push_back(fmt::format("{}: {}", source.live.front(), error.what()));
      return {};
    }
  }
  const std::vector<std::string> arguments(source.live.begin(), source.live.end());
  const ChildLimits limits{.seconds = kSecondsPerCommand, .max_bytes = kMaxInputBytes};
  const ChildResult result = run_child(arguments, limits);
  const bool prints_a_state = source.live.front() == "systemctl" && result.end == ChildEnd::exited;
  if ((result.succeeded() && !result.cut) || (prints_a_state && trim(result.err).empty()))
    return {source.name, result.out};
  // nvidia-smi says on stdout that it has failed: that is evidence, too, and of nothing else.
  if (result.out.starts_with("NVIDIA-SMI has failed")) return {"nvidia-smi-failure", result.out};
  if (result.end != ChildEnd::not_started) {
    const std::string_view said = trim(result.err);
    notes.push_back(fmt::format("{}: {}{}", source.description, describe_end(result, limits),
                                said.empty() ? "" : fmt::format(", \"{}\"", excerpt(said, 80))));
  }
  return {};
}

/// None where the folder is not there.
std::vector<fs::path> entries(const fs::path& folder) {
  std::error_code ignored;
  return entries_of(folder, ignored);
}

/// As grep prints a file of one line: "PATH:VALUE\n"; nothing for one that is empty or cannot be read.
std::string grep_line(const fs::path& path) {
  const std::string value = first_line(path);
  return value.empty() ? "" : fmt::format("{}:{}\n", path.string(), value);
}

/// The governors of all CPUs, one line for each that is in use.
std::string governors() {
  std::set<std::string> governors;
  for (const fs::path& cpu : entries("/sys/devices/system/cpu")) {
    const std::string governor = first_line(cpu / "cpufreq" / "scaling_governor");
    if (!governor.empty()) governors.insert(governor);
  }
  std::string text;
  for (const std::string& governor : governors) text += governor + "\n";
  return text;
}

std::string idle_states() {
  std::string text;
  for (const fs::path& state : entries("/sys/devices/system/cpu/cpu0/cpuidle"))
    for (const char* file : {"name", "latency", "disable"}) text += grep_line(state / file);
  return text;
}

/// Without any group nothing is translated: that is said, too.
std::string iommu_groups() {
  constexpr const char* kFolder = "/sys/kernel/iommu_groups";
  std::string text;
  for (const fs::path& group : entries(kFolder)) text += grep_line(group / "type");
  std::error_code error;
  return text.empty() && fs::is_directory(kFolder, error) ? fmt::format("{} is empty\n", kFolder) : text;
}

/// All ports of all RDMA devices, by their folders in sysfs.
std::vector<fs::path> rdma_ports() {
  std::vector<fs::path> ports;
  for (const fs::path& device : entries("/sys/class/infiniband"))
    for (const fs::path& port : entries(device / "ports")) ports.push_back(port);
  return ports;
}

std::string partition_keys() {
  std::string text;
  for (const fs::path& port : rdma_ports())
    for (const fs::path& key : entries(port / "pkeys"))
      if (first_line(key) != "0x0000") text += grep_line(key);
  return text;
}

/// What show_gids prints, which is a script of MLNX_OFED over the same files.
std::string gid_table() {
  std::string text;
  for (const fs::path& port : rdma_ports()) {
    for (const fs::path& gid : entries(port / "gids")) {
      const std::string value = first_line(gid);
      const std::string type = first_line(port / "gid_attrs" / "types" / gid.filename());
      if (type.empty() || value.find_first_not_of("0:") == std::string::npos) continue;
      text += fmt::format("{} {} {} {} {} {}\n", port.parent_path().parent_path().filename().string(),
                          port.filename().string(), gid.filename().string(), value,
                          type.ends_with("v2") ? "v2" : "v1",
                          first_line(port / "gid_attrs" / "ndevs" / gid.filename()));
    }
  }
  return text.empty() ? text : "DEV PORT INDEX GID VER DEV\n" + text;
}

/// The library that a program finds where distributions put it, by the name of the file behind its links.
std::string nccl_library() {
  for (const char* folder : {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64",
                             "/usr/local/lib", "/usr/local/cuda/lib64"}) {
    std::error_code error;
    const fs::path file = fs::canonical(fs::path(folder) / "libnccl.so.2", error);
    if (!error) return file.string() + "\n";
  }
  return {};
}

/// What takes several files.
constexpr std::array<std::pair<std::string_view, std::string (*)()>, 6> kFromSeveralFiles{{
    {"governor", governors},
    {"idle-states", idle_states},
    {"iommu-groups", iommu_groups},
    {"partition-keys", partition_keys},
    {"gids", gid_table},
    {"nccl-library", nccl_library},
}};

}  // namespace

std::string collective_environment(std::span<const std::string> variables) {
  constexpr std::array<std::string_view, 6> kPrefixes{
      "NCCL_", "UCX_", "FI_", "OMPI_MCA_", "CUDA_VISIBLE_DEVICES=", "CUDA_LAUNCH_BLOCKING="};
  std::vector<std::string> kept;
  for (const std::string& variable : variables) {
    const bool named = std::ranges::any_of(kPrefixes, [&variable](std::string_view prefix) {
      return std::string_view(variable).starts_with(prefix);
    });
    if (named) kept.push_back(variable);
  }
  std::ranges::sort(kept);
  std::string text;
  for (const std::string& variable : kept) {
    const std::size_t equals = std::min(variable.find('='), variable.size());
    const std::string name = variable.substr(0, equals);
    text += name;
    if (equals < variable.size()) text += "=" + recorded_value(name, variable.substr(equals + 1));
    text += "\n";
  }
  return text;
}

LiveTexts gather_live_texts(LiveScope scope) {
  LiveTexts live;
  std::vector<std::string> variables;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) variables.emplace_back(*each);
  for (const EvidenceSource& source : evidence_sources()) {
    if (source.live.empty()) continue;
    if (scope == LiveScope::files && !source.live.front().starts_with('/')) continue;
    LiveText answer = live_text(source, live.notes);
    if (!answer.text.empty()) live.texts.emplace(answer.source, std::move(answer.text));
  }
  live.texts.emplace("environment", collective_environment(variables));
  for (const auto& [source, gather] : kFromSeveralFiles)
    if (std::string text = gather(); !text.empty()) live.texts.emplace(source, std::move(text));
  return live;
}

Evidence live_evidence(const Host& host, LiveScope scope) {
  const LiveTexts live = gather_live_texts(scope);
  Evidence evidence;
  evidence.host = host;
  for (const auto& [source, text] : live.texts) add_evidence(evidence, text, source, source);
  evidence.notes = live.notes;
  return evidence;
}

}  // namespace collbench::topology
