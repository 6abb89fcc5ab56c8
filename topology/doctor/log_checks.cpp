// log_checks() of checks.hpp: what NCCL said while it started.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "topology/doctor/log_line.hpp"
#include "topology/doctor/look.hpp"

namespace collbench::topology {
namespace {

/// "Using network Socket", from 2.27 on also "Assigned NET plugin Socket to comm".
bool chose_sockets(std::string_view line) {
  return has_text(line, "Using network Socket") || has_text(line, "Assigned NET plugin Socket");
}

/// That, or a channel "via NET/Socket/0". Single-node runs load it, too, and use none of it: without a
/// channel by the network nothing is lost.
DoctorVerdict look_at_sockets(const Evidence& evidence) {
  const auto& log = evidence.of("nccl-log");
  const bool by_network = any_line_has(log, "via NET/");
  if (!by_network && job_shape(evidence).has_several_nodes == true)
    return lines_that(evidence, "nccl-log", chose_sockets);
  if (const EvidenceLine* line = first_line_with(log, "via NET/Socket")) return finding(quoted(*line));
  // TCP of libfabric is log-no-provider's, and clears nothing here.
  return healthy_if(by_network && std::ranges::none_of(log, is_libfabric_over_tcp, &EvidenceLine::text));
}

/// GH200, GB200 and GB300, by the names of the GPUs.
bool has_grace_cpu(const Evidence& evidence) {
  static constexpr std::array<std::string_view, 3> kGraceGpus{"GH200", "GB200", "GB300"};
  const auto names_one = [](std::string_view text) { return has_one_of(text, kGraceGpus); };
  const auto& gpus = evidence.host.gpus;
  const auto& log = evidence.of("nccl-log");
  return std::ranges::any_of(gpus, [&](const Gpu& gpu) { return names_one(gpu.model.value_or("")); }) ||
         std::ranges::any_of(log, [&](const EvidenceLine& line) { return names_one(line.text); });
}

bool is_network_channel(std::string_view line) {
  return has_text(line, "via NET/IB") || has_text(line, "via NET/AWS Libfabric") ||
         has_text(line, "via NET/Libfabric");
}

/// On these NCCL itself leaves GPUDirect RDMA off (a maintainer, nccl#1579: 2.24.3).
DoctorVerdict look_at_grace_gpudirect(const Evidence& evidence) {
  if (!has_grace_cpu(evidence)) return std::nullopt;
  return lines_that(evidence, "nccl-log", [seen = false](std::string_view line) mutable {
    if (seen || !is_network_channel(line) || has_text(line, "GDRDMA")) return false;
    return seen = true;
  });
}

/// Channels by InfiniBand without GPUDirect RDMA: "via NET/IB/0" instead of "via NET/IB/0/GDRDMA". Of a log
/// without any channel, that NCCL found no way to register a GPU's memory with a device; where channels stay
/// within a node, nothing suffers from that.
DoctorVerdict look_at_gpudirect(const Evidence& evidence) {
  if (has_grace_cpu(evidence)) return std::nullopt;  // look_at_grace_gpudirect
  std::size_t direct = 0;
  std::size_t staged = 0;
  const EvidenceLine* first = nullptr;
  const auto& log = evidence.of("nccl-log");
  for (const EvidenceLine& line : log) {
    if (!is_network_channel(line.text)) continue;
    if (has_text(line.text, "GDRDMA")) {
      direct += 1 + line.more;
    } else {
      staged += 1 + line.more;
      if (first == nullptr) first = &line;
    }
  }
  if (const EvidenceLine* disabled = first_line_with(log, "GPU Direct RDMA Disabled for HCA");
      disabled != nullptr && !any_line_has(log, " via ") && job_shape(evidence).has_several_nodes != false)
    return finding(quoted(*disabled));
  // One connection of an excerpt says little of the others.
  if (direct + staged < 2) return std::nullopt;
  if (staged == 0) return healthy();
  return finding({direct == 0
                      ? fmt::format("none of {} connections: {}", staged, quoted(*first).what)
                      : fmt::format("{} of {} connections are without it (one node or direction?): {}",
                                    staged, staged + direct, quoted(*first).what),
                  first->location});
}

/// "NET/Socket : Using [0]eth0:10.0.0.1<0> [1]br-0a1b:172.18.0.1<0>", and the bootstrap's line of the same
/// form. NCCL leaves out lo and docker by itself, no other bridge.
DoctorVerdict look_at_bridges(const Evidence& evidence) {
  if (job_shape(evidence).has_several_nodes == false) return healthy();
  bool seen = false;
  std::vector<DoctorObservation> found;
  for (const EvidenceLine& line : evidence.of("nccl-log")) {
    const std::size_t list = line.text.find(": Using ");
    const bool sockets = has_text(line.text, "NET/Socket") || has_text(line.text, "Bootstrap");
    if (!sockets || list == std::string::npos) continue;
    seen = true;
    for (const std::string& word : split_words(std::string_view(line.text).substr(list + 8))) {
      const std::size_t name = word.starts_with('[') ? word.find(']') + 1 : 0;
      if (!is_virtual_interface(std::string_view(word).substr(name))) continue;
      if (found.empty()) found.push_back(quoted(line));
      break;
    }
  }
  return found_where(seen, found);
}

/// "NET/IB : Using [0]mlx5_3:1/IB [2]mlx5_2:1/RoCE …", and a connection that failed: NCCL takes all ports
/// that it sees, and may ask one of InfiniBand to reach one of Ethernet. Many machines have both and get on
/// well.
DoctorVerdict look_at_link_layers(const Evidence& evidence) {
  bool seen = false;
  const auto& log = evidence.of("nccl-log");
  const bool failed = any_line_has(log, "ibv_modify_qp failed") || any_line_has(log, "Got completion");
  std::vector<DoctorObservation> mixed;
  for (const EvidenceLine& line : log) {
    const auto ports = text_behind(line.text, "NET/IB : Using [");
    if (!ports) continue;
    seen = true;
    const bool both = has_text(*ports, "/RoCE") && (has_text(*ports, "/IB ") || has_text(*ports, "/IB/"));
    if (both && mixed.empty()) mixed.push_back(quoted(line));
  }
  return !seen || (!failed && !mixed.empty()) ? DoctorVerdict() : DoctorVerdict(mixed);
}

/// Processes whose last word is that they try to connect again.
DoctorVerdict look_at_connecting(const Evidence& evidence) {
  std::map<std::string_view, const EvidenceLine*> last;
  for (const EvidenceLine& line : evidence.of("nccl-log")) {
    const LogLine parts = log_line(line.text);
    if (parts.level != LogLevel::none && !parts.process().empty()) last[parts.process()] = &line;
  }
  std::size_t count = 0;
  std::vector<DoctorObservation> found;
  for (const auto& [process, line] : last) {
    if (!has_text(line->text, "onnect") || !has_text(line->text, ", retrying")) continue;
    if (++count == 1) found.push_back(quoted(*line));
  }
  if (count > 1) found.front().what += fmt::format(", {} of {} processes", count, last.size());
  return last.empty() ? std::nullopt : DoctorVerdict(found);
}

/// Communicators end that never began. Where nccl-tests' heading stands, NCCL's lines were cut and no table.
DoctorVerdict look_at_lost_beginning(const Evidence& evidence) {
  const EvidenceLine* end = nullptr;
  for (const EvidenceLine& line : evidence.of("nccl-log")) {
    for (const std::string_view begin : {"Init START", "Init COMPLETE", "NCCL version", "Bootstrap",
                                         "# nThread", "(elements)", "# Avg bus bandwidth"})
      if (has_text(line.text, begin) && !has_text(line.text, "NCCL error")) return healthy();
    const bool ends = has_text(line.text, "Destroy COMPLETE") || has_text(line.text, "Abort COMPLETE");
    if (ends && end == nullptr) end = &line;
  }
  return end == nullptr ? std::nullopt : DoctorVerdict({quoted(*end)});
}

/// nccl-tests without MPI=1 under mpirun: each process is a run of its own, and their outputs mix. Two
/// headings with nothing but comments between them, or two summaries; runs one after the other have rows
/// between.
DoctorVerdict look_at_separate_runs(const Evidence& evidence) {
  enum class Last { other, heading, summary };
  Last last = Last::other;
  bool seen = false;
  // Jobs of several ranks each, whose outputs somebody put together.
  const auto& log = evidence.of("nccl-log");
  if (std::ranges::any_of(log, [](const EvidenceLine& line) {
        return has_text(line.text, " Pid ") && number_behind(line.text, " Rank ").value_or(0) > 0;
      }))
    return std::nullopt;
  std::vector<DoctorObservation> found;
  for (const EvidenceLine& line : evidence.of("nccl-log")) {
    const bool heading = has_text(line.text, "# nThread");
    const bool summary = has_text(line.text, "# Avg bus bandwidth");
    seen = seen || heading || summary;
    if (found.empty() && ((heading && last == Last::heading) || (summary && last == Last::summary)))
      found.push_back({fmt::format("a second {} beside the first: {}", heading ? "heading" : "summary",
                                   quoted(line).what),
                       line.location});
    if (heading) {
      last = Last::heading;
    } else if (summary) {
      last = Last::summary;
    } else if (!has_text(line.text, "#")) {
      last = Last::other;
    }
  }
  return found_where(seen, found);
}

/// The log of a job that hangs ends where NCCL binds memory to the multicast of the switches.
DoctorVerdict look_at_nvls_hang(const Evidence& evidence) {
  const EvidenceLine* last = nullptr;
  for (const EvidenceLine& line : evidence.of("nccl-log"))
    if (has_text(line.text, "NCCL INFO") || has_text(line.text, "NCCL WARN")) last = &line;
  if (last == nullptr) return std::nullopt;
  if (has_text(last->text, "NVLS Bind mem")) return finding(quoted(*last));
  return healthy_if(evidence.whole.contains("nccl-log"));
}

/// "MNNVL busId 0x901000 fabric UUID … state 3 healthMask 0xaa": two bits each for degraded bandwidth, route
/// recovery, an unhealthy route and access timeouts; 1 is yes, 2 is no, 0 is not supported (nvml.h,
/// NVML_GPU_FABRIC_HEALTH_MASK_*). 0xaa is no, four times.
DoctorVerdict look_at_fabric_health(const Evidence& evidence) {
  constexpr int kQuestions = 4;
  constexpr int kBits = 2;
  bool seen = false;
  std::vector<DoctorObservation> found;
  for (const EvidenceLine& line : evidence.of("nccl-log")) {
    std::string_view digits = text_behind(line.text, "healthMask 0x").value_or("");
    digits = digits.substr(0, digits.find_first_not_of("0123456789abcdef"));
    const auto mask = parse_hex(digits);
    if (!mask) continue;
    seen = true;
    for (int question = 0; question < kQuestions; ++question) {
      if ((*mask >> (question * kBits) & 3) != 1) continue;
      found.push_back(quoted(line));
      break;
    }
  }
  return found_where(seen, found);
}

/// "… GID 0 (80FE/1A8A41FEFF21A75E) …" of a connection over RoCE: the index, and the two halves of the
/// address as a little-endian machine prints them, so that fe80:: is 80FE. An address that an interface makes
/// for itself.
DoctorVerdict look_at_link_local_gids(const Evidence& evidence) {
  bool seen = false;
  std::vector<DoctorObservation> found;
  const auto set = environment_setting(evidence, "NCCL_IB_GID_INDEX");
  for (const EvidenceLine& line : evidence.of("nccl-log")) {
    const std::string_view gid = text_behind(line.text, " GID ").value_or("");
    if (!has_text(line.text, "NET/IB")) continue;
    const std::size_t open = gid.find(" (");
    if (open == std::string_view::npos) continue;
    seen = true;
    if (!gid.substr(open).starts_with(" (80FE/") || !found.empty()) continue;
    const bool by_setting = set && set->value == gid.substr(0, open);
    found.push_back({fmt::format("{}GID {}", by_setting ? "NCCL_IB_GID_INDEX names it: " : "",
                                 gid.substr(0, gid.find(')') + 1)),
                     line.location});
  }
  return found_where(seen, found);
}

/// Where there are RDMA devices, or sockets over an interface of InfiniBand, and NCCL cannot open the library
/// that they need.
DoctorVerdict look_at_verbs(const Evidence& evidence) {
  const auto& log = evidence.of("nccl-log");
  // An interface of IPoIB is named ib0, and a job on one node needs none.
  const bool over_ib = job_shape(evidence).has_several_nodes != false &&
                       std::ranges::any_of(log, [](const EvidenceLine& line) {
                         return integer_behind(line.text, "NET/Socket : Using [0]ib").has_value();
                       });
  if (!over_ib && !has_rdma(evidence).value_or(false)) return std::nullopt;
  return lines_that(evidence, "nccl-log",
                    [](std::string_view line) { return has_text(line, "Failed to open libibverbs.so"); });
}

constexpr std::array<DoctorCheck, 14> kLogChecks{{
    {"log-sockets", DoctorSeverity::slow,
     "NCCL speaks TCP between nodes: less than a tenth of what RDMA carries.", "a log with NCCL_DEBUG=INFO",
     "grep 'Using network' LOG",
     "see why no RDMA device was found (grep 'NET/IB' LOG): /dev/infiniband in the container, NCCL_IB_HCA, "
     "the plugin",
     "azure-aks: IPoIB instead of RDMA, 3 instead of 187 GB/s", look_at_sockets, true},
    {"log-bridges", DoctorSeverity::risk,
     "NCCL would use bridges of containers or virtual machines for its sockets: where ranks are on several "
     "nodes, they lead to none of them.",
     "a log with NCCL_DEBUG=INFO", "grep -E 'NET/Socket|Bootstrap' LOG",
     "NCCL_SOCKET_IFNAME = the interfaces that join the nodes, or ^docker,lo,br-,veth,virbr",
     "nccl#697 (confirmed); NCCL user guide, NCCL_SOCKET_IFNAME", look_at_bridges, true},
    {"log-no-gpudirect", DoctorSeverity::slow,
     "NCCL's network connections go through host memory on some node.", "a log with NCCL_DEBUG=INFO",
     "grep 'via NET/' LOG | grep -v GDRDMA",
     "modprobe nvidia-peermem on the nodes that the lines name; where it is loaded, see dmesg | grep peermem "
     "(the NVIDIA driver is to be installed after MLNX_OFED or DOCA) and NCCL_NET_GDR_LEVEL",
     "nccl-tests#152 and nccl#1676 (confirmed), nccl#897, nccl-tests#29 (confirmed: 6 to 12 GB/s)",
     look_at_gpudirect, true, gpudirect_fix},
    {"log-gpudirect-grace", DoctorSeverity::risk,
     "NCCL leaves GPUDirect RDMA off on GH200, GB200 and GB300 by its own choice; the network may gain by "
     "it.",
     "a log with NCCL_DEBUG=INFO", "the same measurement with NCCL_NET_GDR_LEVEL=SYS",
     "NCCL_NET_GDR_LEVEL=SYS where that is faster (a user saw 20 %), or a newer NCCL",
     "nccl#1579 (maintainer; 2.24.3)", look_at_grace_gpudirect, true},
    {"log-gid-link-local", DoctorSeverity::risk,
     "NCCL connects from the link-local address of a RoCE port (RoCE v1, or one that no router forwards): it "
     "reaches its own subnet at most.",
     "a log with NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS=NET", "show_gids ; env | grep NCCL_IB_GID_INDEX",
     "unset NCCL_IB_GID_INDEX (NCCL 2.21 and newer finds the index), or name the index that show_gids lists "
     "as v2 with an IPv4 address",
     "nccl#1657; NCCL user guide, NCCL_IB_GID_INDEX", look_at_link_local_gids, true},
    {"log-link-layers", DoctorSeverity::risk,
     "NCCL uses InfiniBand ports and Ethernet ports (RoCE) in one job, and a connection failed: a port of "
     "one kind does not reach one of the other.",
     "a log with NCCL_DEBUG=INFO", "ibv_devinfo | grep -E 'hca_id|link_layer'",
     "NCCL_IB_HCA = the ports of one kind, on all nodes (or ^ those of the other: NCCL_IB_HCA=^mlx5_2)",
     "nccl#302 (reported), nccl#1412 (maintainer)", look_at_link_layers, true},
    {"log-connecting", DoctorSeverity::risk,
     "The log ends while ranks try to connect to another one: if the job hangs, it hangs there.",
     "a log with NCCL_DEBUG=INFO", "the log of the rank at that address ; nc -zv ADDRESS PORT",
     "see whether that rank began, or ended before; NCCL_SOCKET_IFNAME = the network that joins the nodes, "
     "no firewall on it; of a cloud's plugin, driver, plugin and daemon of one release",
     "cluster-toolkit#3032 (maintainer: a driver newer than TCPX); NCCL, misc/socket.cc", look_at_connecting,
     true},
    {"log-beginning-lost", DoctorSeverity::risk,
     "Only the end of NCCL's log is here: what it said before, and a table that stood there, are lost.",
     "a log with NCCL_DEBUG=INFO",
     "head -1 LOG ; kubectl get --raw /api/v1/nodes/NODE/proxy/configz | grep -o 'containerLogMax[^,]*'",
     "the whole log: a container's is rotated, and kubectl logs shows the newest part; let the program write "
     "a file (tee, NCCL_DEBUG_FILE), or NCCL_DEBUG=WARN",
     "aicr#1712 (confirmed)", look_at_lost_beginning, true},
    {"log-init-straggler", DoctorSeverity::risk,
     "A rank takes seconds longer than the others for a step of ncclCommInitRank that it does alone: all "
     "others wait for it, and their time is in bootstrap, allgathers or connections.",
     "a log with NCCL_DEBUG=INFO (NCCL 2.22 and newer)", "grep 'Init timings' LOG",
     "kernels: the first use of CUDA on that node (a slow file system, CUDA_MODULE_LOADING=EAGER, "
     "persistence mode off); alloc: its host memory; topo: /sys or NVML that answers slowly; see that node "
     "beside another",
     "NCCL, init.cc, ncclCommInitRankFunc", look_at_init_timings, true},
    {"log-separate-runs", DoctorSeverity::broken,
     "nccl-tests was built without MPI: every process measured alone, and nothing crossed the network.",
     "a log of nccl-tests", "grep -cE 'nThread|Avg bus' LOG", "build nccl-tests with make MPI=1",
     "nccl-tests#27 (confirmed), nccl-tests#182", look_at_separate_runs},
    {"log-watchdog-timeout", DoctorSeverity::broken,
     "PyTorch's watchdog ended the job: a collective did not end in the time that it was given.",
     "a log of PyTorch",
     "grep -E 'Watchdog|last enqueued' LOG (of every rank) ; TORCH_NCCL_TRACE_BUFFER_SIZE=2000",
     "the rank that is behind, or whose log is missing: see what it did (py-spy, its own log); where none is "
     "behind, its network and GPUs; all ranks' logs and flight recorder dumps together: collbench flight "
     "FILE…",
     "PyTorch, ProcessGroupNCCL.cpp", look_at_watchdog},
    {"log-nvls-hang", DoctorSeverity::broken,
     "The log ends where NCCL binds NVLink multicast (NVLS): if the job hangs, it hangs there.",
     "a log with NCCL_DEBUG=INFO", "tail LOG ; systemctl status nvidia-fabricmanager",
     "NCCL_NVLS_ENABLE=0 to confirm, then the fabric manager, the driver and a newer NCCL",
     "nccl-tests#216 (confirmed workaround)", look_at_nvls_hang, true},
    {"log-fabric-unhealthy", DoctorSeverity::risk,
     "The driver reports NVLink between nodes as degraded, recovering or unhealthy.",
     "a log with NCCL_DEBUG=INFO", "grep healthMask LOG ; nvidia-smi -q | grep -A 8 Fabric",
     "look at the rack's NVLink switches and their manager; NCCL_MNNVL_ENABLE=0 until then",
     "nvml.h, NVML_GPU_FABRIC_HEALTH_MASK; nccl#2186 (whose 0xaa is healthy)", look_at_fabric_health, true},
    {"log-no-verbs", DoctorSeverity::slow, "NCCL cannot open libibverbs: RDMA devices stay unused.",
     "a log with NCCL_DEBUG=INFO", "grep libibverbs LOG ; ldconfig -p | grep ibverbs",
     "install libibverbs1 and ibverbs-providers in the container", "horovod#969; NCCL's own message",
     look_at_verbs, true},
}};

}  // namespace

std::span<const DoctorCheck> log_checks() { return kLogChecks; }

}  // namespace collbench::topology
