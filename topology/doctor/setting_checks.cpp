// setting_checks() of checks.hpp: the environment that NCCL reads, and versions with known defects.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "topology/doctor/look.hpp"

namespace collbench::topology {
namespace {

/// A setting that costs bandwidth on a healthy machine. NCCL user guide, environment variables.
struct CostlySetting {
  std::string_view name;
  std::string_view values;  ///< blank-separated; empty: any value
  std::string_view consequence;
};
constexpr std::array<CostlySetting, 18> kCostly{{
    {"NCCL_P2P_DISABLE", "1", "GPUs of a node do not use NVLink or PCIe between them"},
    {"NCCL_P2P_LEVEL", "LOC 0", "the same"},
    {"NCCL_SHM_DISABLE", "1", "ranks of a node speak through the network"},
    {"NCCL_IB_DISABLE", "1", "sockets instead of RDMA: less than a tenth of the rate"},
    {"NCCL_NET", "Socket socket", "sockets instead of RDMA: less than a tenth of the rate"},
    {"NCCL_NET_GDR_LEVEL", "LOC 0", "GPUDirect RDMA is off"},
    {"NCCL_IB_CUDA_SUPPORT", "0", "GPUDirect RDMA is off"},
    {"NCCL_DMABUF_ENABLE", "0", "GPUDirect RDMA needs nvidia-peermem then"},
    {"NCCL_NVLS_ENABLE", "0", "no reduction in NVSwitches"},
    {"NCCL_ALGO", "", "NCCL's choice is overridden for every size: left over from a test?"},
    {"NCCL_PROTO", "", "NCCL's choice is overridden for every size: left over from a test?"},
    {"NCCL_MAX_NCHANNELS", "1 2", "one or two channels cannot fill the links"},
    {"NCCL_MAX_CTAS", "1 2", "one or two channels cannot fill the links"},
    {"NCCL_IB_PCI_RELAXED_ORDERING", "0", "the NIC may not write with relaxed ordering"},
    {"NCCL_PXN_DISABLE", "1", "GPUs cannot use each other's NICs: AllToAll crosses rails in the switches"},
    {"NCCL_DEBUG", "TRACE", "every call is logged"},
    {"CUDA_LAUNCH_BLOCKING", "1", "every kernel is waited for: nothing overlaps"},
    {"FI_PROVIDER", "tcp sockets", "sockets instead of RDMA"},
}};

bool has_word(std::string_view words, std::string_view word) {
  const std::vector<std::string> all = split_words(words);
  return std::find(all.begin(), all.end(), word) != all.end();
}

DoctorVerdict look_at_costly_settings(const Evidence& evidence) {
  std::vector<DoctorObservation> found;
  for (const CostlySetting& setting : kCostly) {
    const auto set = environment_setting(evidence, setting.name);
    if (!set || set->value.empty() || (!setting.values.empty() && !has_word(setting.values, set->value)))
      continue;
    found.push_back({fmt::format("{}={}: {}", setting.name, excerpt(set->value, 40), setting.consequence),
                     set->location});
  }
  return found.empty() && !knows_environment(evidence) ? DoctorVerdict() : DoctorVerdict(found);
}

/// Whether `NCCL_IB_HCA` ("mlx5_0:1,mlx5_1", "^mlx5_2", "=mlx5_0") names a device of the machine. Without
/// '=', a name is a prefix.
DoctorVerdict look_at_named_nics(const Evidence& evidence) {
  const auto set = environment_setting(evidence, "NCCL_IB_HCA");
  if (!set)
    return knows_environment(evidence) ? DoctorVerdict(std::vector<DoctorObservation>()) : std::nullopt;
  std::vector<std::string> names;
  for (const Nic& nic : evidence.host.nics)
    if (nic.name.known()) names.push_back(*nic.name.value);
  if (names.empty()) return std::nullopt;
  std::string_view list = set->value;
  const bool excludes = list.starts_with('^');
  if (excludes) list.remove_prefix(1);
  const bool exact = list.starts_with('=');
  if (exact) list.remove_prefix(1);
  std::vector<DoctorObservation> found;
  for (const std::string& cell : split_cells(list, ',')) {
    const std::string wanted = cell.substr(0, cell.find(':'));
    const bool there = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return exact ? name == wanted : name.starts_with(wanted);
    });
    if (!there && !wanted.empty())
      found.push_back({fmt::format("NCCL_IB_HCA={}: {} is none of this machine's RDMA devices",
                                   excerpt(set->value, 60), wanted),
                       set->location});
  }
  return found;
}

/// A range of NCCL's versions, and what was reported of it.
struct DefectiveVersion {
  int from;  ///< as NCCL_VERSION_CODE: 21903
  int to;    ///< the last one that has it, by what the thread says
  std::string_view symptom;
};
constexpr std::array<DefectiveVersion, 3> kDefective{{
    {21602, 21602, "all collectives 10 times slower on 8 × A40 with driver 470 (nccl#770)"},
    {21903, 21904, "AllReduce by NVLS-tree at 104 instead of 280 GB/s on 8 nodes of H100 (pytorch#117748)"},
    {22907, 22907, "symmetric memory: AllReduce, AllGather and ReduceScatter slower than 2.29.2 (nccl#2058)"},
}};

/// "NCCL version 2.19.3+cuda12.2" to 21903; none for another line.
std::optional<int> nccl_version_code(std::string_view line) {
  constexpr std::string_view kBefore = "NCCL version ";
  const std::size_t at = line.find(kBefore);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view text = line.substr(at + kBefore.size());
  text = text.substr(0, text.find_first_not_of("0123456789."));
  const std::vector<std::string> parts = split_cells(text, '.');
  if (parts.size() != 3) return std::nullopt;
  const auto major = parse_integer(parts[0], 1, 99);
  const auto minor = parse_integer(parts[1], 0, 99);
  const auto patch = parse_integer(parts[2], 0, 99);
  if (!major || !minor || !patch) return std::nullopt;
  return static_cast<int>(*major * 10000 + *minor * 100 + *patch);
}

DoctorVerdict look_at_versions(const Evidence& evidence) {
  std::vector<DoctorObservation> found;
  bool seen = false;
  for (const EvidenceLine& line : evidence.of("nccl-log")) {
    const auto version = nccl_version_code(line.text);
    if (!version) continue;
    seen = true;
    for (const DefectiveVersion& defect : kDefective) {
      if (*version < defect.from || *version > defect.to) continue;
      const std::string what = fmt::format("NCCL {}.{}.{}: {}", *version / 10000, *version / 100 % 100,
                                           *version % 100, defect.symptom);
      if (found.empty() || found.back().what != what) found.push_back({what, line.location});
    }
  }
  return seen ? DoctorVerdict(found) : std::nullopt;
}

constexpr std::array<DoctorCheck, 3> kSettingChecks{{
    {"setting-costly", DoctorSeverity::slow, "The environment turns off what makes NCCL fast.",
     "env | grep NCCL_", "env | grep -E '^(NCCL|CUDA|FI|UCX)_' ; cat /etc/nccl.conf",
     "unset it, unless you know why it is there", "NCCL user guide, environment variables",
     look_at_costly_settings},
    {"setting-names-no-nic", DoctorSeverity::broken, "NCCL_IB_HCA names a device that is not there.",
     "env | grep NCCL_, and ibstat", "ibv_devices ; echo $NCCL_IB_HCA",
     "name devices as ibv_devices lists them on every node",
     "nccl#1277, nccl#856 (numbers differ per node and boot)", look_at_named_nics},
    {"nccl-defect", DoctorSeverity::risk, "This version of NCCL has a reported defect.",
     "a log with NCCL_DEBUG=INFO", "grep 'NCCL version' LOG", "try another version with LD_LIBRARY_PATH",
     "the threads that the finding names", look_at_versions},
}};

}  // namespace

std::span<const DoctorCheck> setting_checks() { return kSettingChecks; }

}  // namespace collbench::topology
