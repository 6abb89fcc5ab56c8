// setting_checks() of checks.hpp: the environment that NCCL, UCX and Open MPI read.
#include <fmt/format.h>
#include <fmt/ranges.h>

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
  /// What a job must have for it to cost anything: several nodes, or ranks that share one.
  std::optional<bool> JobShape::* of = nullptr;
};
constexpr auto kBetweenNodes = &JobShape::has_several_nodes;
constexpr auto kWithinNodes = &JobShape::shares_nodes;
constexpr std::array<CostlySetting, 27> kCostly{{
    {"NCCL_P2P_DISABLE", "1", "GPUs of a node do not use NVLink or PCIe between them", kWithinNodes},
    {"NCCL_P2P_LEVEL", "LOC 0", "the same", kWithinNodes},
    {"NCCL_SHM_DISABLE", "1", "ranks of a node speak through the network", kWithinNodes},
    {"NCCL_IB_DISABLE", "1", "sockets instead of RDMA: less than a tenth of the rate", kBetweenNodes},
    {"NCCL_NET", "Socket socket", "sockets instead of RDMA: less than a tenth of the rate", kBetweenNodes},
    {"NCCL_NET_GDR_LEVEL", "LOC 0", "GPUDirect RDMA is off", kBetweenNodes},
    {"NCCL_IB_CUDA_SUPPORT", "0", "GPUDirect RDMA is off"},
    {"NCCL_DMABUF_ENABLE", "0", "GPUDirect RDMA needs nvidia-peermem then"},
    {"NCCL_NVLS_ENABLE", "0", "no reduction in NVSwitches"},
    {"NCCL_ALGO", "", "NCCL's choice is overridden for every size: left over from a test?"},
    {"NCCL_PROTO", "", "NCCL's choice is overridden for every size: left over from a test?"},
    {"NCCL_MAX_NCHANNELS", "1 2", "one or two channels cannot fill the links"},
    {"NCCL_MAX_CTAS", "1 2", "one or two channels cannot fill the links"},
    {"NCCL_IB_PCI_RELAXED_ORDERING", "0", "the NIC may not write with relaxed ordering"},
    {"NCCL_PXN_DISABLE", "1", "GPUs cannot use each other's NICs: AllToAll crosses rails in the switches",
     kBetweenNodes},
    {"NCCL_DEBUG", "TRACE", "every call is logged"},
    {"CUDA_LAUNCH_BLOCKING", "1", "every kernel is waited for: nothing overlaps"},
    {"NCCL_CUMEM_ENABLE", "0", "no reduction in NVSwitches, no registered buffers: both need cuMem"},
    {"NCCL_MNNVL_ENABLE", "0", "nodes of one NVLink domain speak through the network"},
    {"NCCL_NET_GDR_READ", "0", "what is sent passes through host memory", kBetweenNodes},
    {"NCCL_CHECK_POINTERS", "1", "every call asks CUDA about its buffers"},
    {"FI_PROVIDER", "tcp sockets", "sockets instead of RDMA"},
    {"FI_EFA_USE_DEVICE_RDMA", "0", "GPUDirect RDMA is off on EFA"},
    {"UCX_TLS", "tcp tcp,self self,tcp tcp,sm,self self,sm,tcp", "MPI speaks TCP between nodes"},
    {"UCX_IB_PCI_RELAXED_ORDERING", "n no off", "the NIC may not write with relaxed ordering"},
    {"OMPI_MCA_btl", "tcp tcp,self self,tcp", "ranks of a node speak TCP, not shared memory"},
    {"OMPI_MCA_btl_vader_single_copy_mechanism", "none", "ranks of a node copy everything twice"},
}};

bool has_word(std::string_view words, std::string_view word) {
  const std::vector<std::string> all = split_words(words);
  return std::ranges::find(all, word) != all.end();
}

DoctorVerdict look_at_costly_settings(const Evidence& evidence) {
  std::vector<DoctorObservation> found;
  const JobShape shape = job_shape(evidence);
  const auto& log = evidence.of("nccl-log");
  // Which is not NCCL's own InfiniBand, and does without its settings.
  const bool by_plugin = std::ranges::any_of(log, [](const EvidenceLine& line) {
    const std::string_view network = text_behind(line.text, "Using network ").value_or("");
    return has_text(network, "Libfabric") || has_text(network, "FasTrak");
  });
  for (const CostlySetting& setting : kCostly) {
    if (by_plugin && setting.name == "NCCL_IB_DISABLE") continue;
    if (setting.of != nullptr && shape.*setting.of == false) continue;
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
  if (!set) return healthy_if(knows_environment(evidence));
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
    const bool there = std::ranges::any_of(
        names, [&](const std::string& name) { return exact ? name == wanted : name.starts_with(wanted); });
    if (!there && !wanted.empty())
      found.push_back({fmt::format("NCCL_IB_HCA={}: {} is none of this machine's RDMA devices",
                                   excerpt(set->value, 60), wanted),
                       set->location});
  }
  return found;
}

/// A network interface of "ip link" or "ip -br link".
struct Interface {
  std::string name;
  std::vector<std::string> flags;
};

bool is_up(const Interface& each) {
  const auto has = [&each](std::string_view flag) {
    return std::ranges::find(each.flags, flag) != each.flags.end();
  };
  return has("UP") && !has("LOOPBACK");
}

std::vector<Interface> interfaces(const Evidence& evidence) {
  std::vector<Interface> all;
  for (const EvidenceLine& line : evidence.of("interfaces")) {
    const std::size_t open = line.text.find('<');
    const std::size_t close = line.text.find('>', open == std::string::npos ? 0 : open);
    const std::vector<std::string> words = split_words(line.text);
    if (close == std::string::npos || open == std::string::npos || words.size() < 2) continue;
    // "4: ib0: <…" has a number first, "ib0  UP  …<" has none.
    std::string name = words[0].ends_with(':') ? words[1] : words[0];
    name = name.substr(0, name.find_first_of(":@"));
    all.push_back({std::move(name), split_cells(line.text.substr(open + 1, close - open - 1), ',')});
  }
  return all;
}

/// Whether `NCCL_SOCKET_IFNAME` ("ib0,eth", "=eth0", "^docker") leaves an interface. Names are prefixes.
DoctorVerdict look_at_named_interface(const Evidence& evidence) {
  const auto set = environment_setting(evidence, "NCCL_SOCKET_IFNAME");
  if (!set) return healthy_if(knows_environment(evidence));
  const std::vector<Interface> all = interfaces(evidence);
  if (all.empty()) return std::nullopt;
  std::string_view list = set->value;
  const bool excludes = list.starts_with('^');
  if (excludes) list.remove_prefix(1);
  const bool exact = list.starts_with('=');
  if (exact) list.remove_prefix(1);
  const std::vector<std::string> wanted = split_cells(list, ',');
  const bool any = std::ranges::any_of(all, [&](const Interface& each) {
    const bool named = std::ranges::any_of(wanted, [&](const std::string& name) {
      return exact ? each.name == name : !name.empty() && each.name.starts_with(name);
    });
    return named != excludes && is_up(each);
  });
  if (any) return healthy();
  return finding({fmt::format("NCCL_SOCKET_IFNAME={} leaves none of this machine's interfaces that are up",
                              excerpt(set->value, 60)),
                  set->location});
}

DoctorVerdict look_at_ip_over_infiniband(const Evidence& evidence) {
  std::vector<std::string> names;
  for (const Interface& each : interfaces(evidence)) {
    if (!is_up(each) || is_virtual_interface(each.name)) continue;
    if (!each.name.starts_with("ib")) return healthy();
    names.push_back(each.name);
  }
  if (names.empty()) return std::nullopt;
  return finding({fmt::format("up: {} and no other", fmt::join(names, ", ")), ""});
}

/// A plugin that NCCL was told to load, and what its log says of it.
DoctorVerdict look_at_plugin(const Evidence& evidence) {
  const auto set = environment_setting(evidence, "NCCL_NET_PLUGIN");
  if (!set || set->value == "none") return knows_environment(evidence) || set ? healthy() : std::nullopt;
  return lines_that(evidence, "nccl-log", [](std::string_view line) {
    const bool failed = has_text(line, "Could not find") || has_text(line, "dlerror") ||
                        has_text(line, "No plugin found") || has_text(line, "Failed to open");
    return has_text(line, "NET/Plugin") && failed;
  });
}

constexpr std::array<DoctorCheck, 5> kSettingChecks{{
    {"setting-costly", DoctorSeverity::slow, "The environment turns off what makes NCCL fast.",
     "env | grep NCCL_", "env | grep -E '^(NCCL|CUDA|FI|UCX)_' ; cat /etc/nccl.conf",
     "unset it, unless you know why it is there", "NCCL user guide, environment variables",
     look_at_costly_settings},
    {"setting-names-no-nic", DoctorSeverity::broken, "NCCL_IB_HCA names a device that is not there.",
     "env | grep NCCL_, and ibstat", "ibv_devices ; echo $NCCL_IB_HCA",
     "name devices as ibv_devices lists them on every node",
     "nccl#1277, nccl#856 (numbers differ per node and boot)", look_at_named_nics},
    {"setting-names-no-interface", DoctorSeverity::broken,
     "NCCL_SOCKET_IFNAME leaves no network interface: NCCL's ranks cannot find each other.",
     "env | grep NCCL_, and ip link", "ip -br link ; echo $NCCL_SOCKET_IFNAME",
     "name an interface that is up on every node, or unset it: NCCL finds one by itself",
     "NCCL user guide, troubleshooting, IP network interfaces", look_at_named_interface},
    {"plugin-missing", DoctorSeverity::slow,
     "NCCL cannot load the network plugin that NCCL_NET_PLUGIN names, and takes its own network.",
     "a log with NCCL_DEBUG=INFO", "grep NET/Plugin LOG",
     "put the plugin's folder on LD_LIBRARY_PATH on all nodes",
     "NCCL user guide, environment variables, NCCL_NET_PLUGIN", look_at_plugin},
    {"ip-over-infiniband-only", DoctorSeverity::risk,
     "IP over InfiniBand is the only network: launching, NCCL's bootstrap and all sockets share the data's "
     "fabric.",
     "ip link", "ip -br link",
     "use the management network for NCCL_SOCKET_IFNAME and the launcher, if there is one",
     "azure-aks: IPoIB instead of RDMA, 3 instead of 187 GB/s", look_at_ip_over_infiniband},
}};

}  // namespace

std::span<const DoctorCheck> setting_checks() { return kSettingChecks; }

}  // namespace collbench::topology
