// log_checks() of checks.hpp: what NCCL said while it started.
#include <fmt/format.h>

#include <array>

#include "topology/doctor/look.hpp"

namespace collbench::topology {
namespace {

/// "comm 0x… rank 1 nRanks 2 nNodes 1 …": none where no communicator says how many nodes it has.
std::optional<bool> has_several_nodes(const Evidence& evidence) {
  std::optional<bool> several;
  for (const EvidenceLine& line : evidence.of("nccl-log"))
    if (const auto nodes = number_behind(line.text, " nNodes "))
      several = several.value_or(false) || *nodes > 1;
  return several;
}

/// "NCCL INFO Using network Socket", or a channel "via NET/Socket/0". Single-node runs load it, too, and use
/// none of it: without a channel by the network nothing is lost.
DoctorVerdict look_at_sockets(const Evidence& evidence) {
  bool by_network = false;
  std::vector<DoctorObservation> found;
  for (const EvidenceLine& line : evidence.of("nccl-log")) {
    by_network = by_network || has_text(line.text, "via NET/");
    if (found.empty() && has_text(line.text, "via NET/Socket")) found.push_back(quoted(line));
  }
  if (!by_network && has_several_nodes(evidence) == true)
    return lines_that(evidence, "nccl-log",
                      [](std::string_view line) { return has_text(line, "Using network Socket"); });
  return by_network ? DoctorVerdict(found) : std::nullopt;
}

/// Channels by InfiniBand without GPUDirect RDMA: "via NET/IB/0" instead of "via NET/IB/0/GDRDMA". Of a log
/// without any channel, that NCCL found no way to register a GPU's memory with a device; where channels stay
/// within a node, nothing suffers from that.
DoctorVerdict look_at_gpudirect(const Evidence& evidence) {
  std::size_t direct = 0;
  std::size_t staged = 0;
  bool channels = false;
  const EvidenceLine* first = nullptr;
  const EvidenceLine* disabled = nullptr;
  for (const EvidenceLine& line : evidence.of("nccl-log")) {
    channels = channels || has_text(line.text, " via ");
    if (disabled == nullptr && has_text(line.text, "GPU Direct RDMA Disabled for HCA")) disabled = &line;
    if (!has_text(line.text, "via NET/IB") && !has_text(line.text, "via NET/AWS Libfabric")) continue;
    if (has_text(line.text, "GDRDMA")) {
      ++direct;
    } else {
      ++staged;
      if (first == nullptr) first = &line;
    }
  }
  if (disabled != nullptr && !channels) return std::vector<DoctorObservation>{quoted(*disabled)};
  if (direct + staged == 0) return std::nullopt;
  if (staged == 0) return std::vector<DoctorObservation>();
  return std::vector<DoctorObservation>{
      {direct == 0 ? fmt::format("none of {} connections: {}", staged, quoted(*first).what)
                   : fmt::format("{} of {} connections are without it (one node or direction?): {}", staged,
                                 staged + direct, quoted(*first).what),
       first->location}};
}

/// "NET/Socket : Using [0]eth0:10.0.0.1<0> [1]br-0a1b:172.18.0.1<0>", and the bootstrap's line of the same
/// form. NCCL leaves out lo and docker by itself, no other bridge.
DoctorVerdict look_at_bridges(const Evidence& evidence) {
  if (has_several_nodes(evidence) == false) return std::vector<DoctorObservation>();
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
  return seen ? DoctorVerdict(found) : std::nullopt;
}

/// nccl-tests without MPI=1 under mpirun: each process is a run of its own, and their outputs mix. Two
/// headings with nothing but comments between them, or two summaries; runs one after the other have rows
/// between.
DoctorVerdict look_at_separate_runs(const Evidence& evidence) {
  enum class Last { other, heading, summary };
  Last last = Last::other;
  bool seen = false;
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
  return seen ? DoctorVerdict(found) : std::nullopt;
}

DoctorVerdict look_at_nvls_failure(const Evidence& evidence) {
  return lines_that(evidence, "nccl-log", [](std::string_view line) {
    const bool failed =
        has_text(line, "NCCL WARN") && has_text(line, "nvls.cc") && has_text(line, "Cuda failure");
    return failed || has_text(line, "Failed to bind NVLink SHARP");
  });
}

/// The log of a job that hangs ends where NCCL binds memory to the multicast of the switches.
DoctorVerdict look_at_nvls_hang(const Evidence& evidence) {
  const EvidenceLine* last = nullptr;
  for (const EvidenceLine& line : evidence.of("nccl-log"))
    if (has_text(line.text, "NCCL INFO") || has_text(line.text, "NCCL WARN")) last = &line;
  if (last == nullptr) return std::nullopt;
  if (has_text(last->text, "NVLS Bind mem")) return std::vector<DoctorObservation>{quoted(*last)};
  return evidence.whole.contains("nccl-log") ? DoctorVerdict(std::vector<DoctorObservation>()) : std::nullopt;
}

DoctorVerdict look_at_registration(const Evidence& evidence) {
  return lines_that(evidence, "nccl-log", [](std::string_view line) {
    const bool failed =
        has_text(line, "ibv_reg_mr") || has_text(line, "ibv_create_qp") || has_text(line, "ibv_create_cq");
    return has_text(line, "NCCL WARN") && has_text(line, "Call to ") && failed && has_text(line, " failed");
  });
}

/// "transport/p2p.cc:… NCCL WARN Cuda failure 800 'operation not permitted'".
DoctorVerdict look_at_imex_access(const Evidence& evidence) {
  return lines_that(evidence, "nccl-log", [](std::string_view line) {
    return has_text(line, "NCCL WARN") && has_text(line, "Cuda failure 800");
  });
}

/// "MNNVL busId 0x901000 fabric UUID … state 3 healthMask 0xaa": two bits each for degraded bandwidth, route
/// recovery, an unhealthy route and access timeouts; 1 is yes, 2 is no, 0 is not supported (nvml.h,
/// NVML_GPU_FABRIC_HEALTH_MASK_*). 0xaa is no, four times.
DoctorVerdict look_at_fabric_health(const Evidence& evidence) {
  constexpr std::string_view kBefore = "healthMask 0x";
  constexpr int kQuestions = 4;
  constexpr int kBits = 2;
  bool seen = false;
  std::vector<DoctorObservation> found;
  for (const EvidenceLine& line : evidence.of("nccl-log")) {
    const std::size_t at = line.text.find(kBefore);
    if (at == std::string::npos) continue;
    std::string_view digits = std::string_view(line.text).substr(at + kBefore.size());
    digits = digits.substr(0, digits.find_first_not_of("0123456789abcdef"));
    const auto mask = parse_hexadecimal(digits);
    if (!mask) continue;
    seen = true;
    for (int question = 0; question < kQuestions; ++question) {
      if ((*mask >> (question * kBits) & 3) != 1) continue;
      found.push_back(quoted(line));
      break;
    }
  }
  return seen ? DoctorVerdict(found) : std::nullopt;
}

/// Where there are RDMA devices, and NCCL cannot open the library that they need.
DoctorVerdict look_at_verbs(const Evidence& evidence) {
  if (!has_rdma(evidence).value_or(false)) return std::nullopt;
  return lines_that(evidence, "nccl-log",
                    [](std::string_view line) { return has_text(line, "Failed to open libibverbs.so"); });
}

DoctorVerdict look_at_completion_errors(const Evidence& evidence) {
  return lines_that(evidence, "nccl-log", [](std::string_view line) {
    return has_text(line, "NCCL WARN") && has_text(line, "Got completion") && has_text(line, "with error");
  });
}

constexpr std::array<DoctorCheck, 11> kLogChecks{{
    {"log-sockets", DoctorSeverity::slow,
     "NCCL speaks TCP between nodes: less than a tenth of what RDMA carries.", "a log with NCCL_DEBUG=INFO",
     "grep 'Using network' LOG",
     "see why no RDMA device was found (grep 'NET/IB' LOG): /dev/infiniband in the container, NCCL_IB_HCA, "
     "the plugin",
     "azure-aks: IPoIB instead of RDMA, 3 instead of 187 GB/s", look_at_sockets},
    {"log-bridges", DoctorSeverity::risk,
     "NCCL would use bridges of containers or virtual machines for its sockets: where ranks are on several "
     "nodes, they lead to none of them.",
     "a log with NCCL_DEBUG=INFO", "grep -E 'NET/Socket|Bootstrap' LOG",
     "NCCL_SOCKET_IFNAME = the interfaces that join the nodes, or ^docker,lo,br-,veth,virbr",
     "nccl#697 (confirmed); NCCL user guide, NCCL_SOCKET_IFNAME", look_at_bridges},
    {"log-no-gpudirect", DoctorSeverity::slow,
     "NCCL's network connections go through host memory on some node.", "a log with NCCL_DEBUG=INFO",
     "grep 'via NET/' LOG | grep -v GDRDMA", "modprobe nvidia-peermem on the nodes that the lines name",
     "nccl-tests#152 and nccl#1676 (confirmed), nccl#897, nccl-tests#29 (confirmed: 6 to 12 GB/s)",
     look_at_gpudirect},
    {"log-separate-runs", DoctorSeverity::broken,
     "nccl-tests was built without MPI: every process measured alone, and nothing crossed the network.",
     "a log of nccl-tests", "grep -cE 'nThread|Avg bus' LOG", "build nccl-tests with make MPI=1",
     "nccl-tests#27 (confirmed), nccl-tests#182", look_at_separate_runs},
    {"log-nvls-failed", DoctorSeverity::broken,
     "NCCL could not bind NVLink multicast (NVLS): the fabric manager or IMEX is not ready.",
     "a log with NCCL_DEBUG=WARN",
     "systemctl status nvidia-fabricmanager nvidia-imex ; nvidia-smi -q | grep -A 4 Fabric",
     "start the fabric manager (and IMEX on multi-node NVLink); NCCL_NVLS_ENABLE=0 until then",
     "pytorch/ci-infra#541 (confirmed), nccl#1562, DCGM#304", look_at_nvls_failure},
    {"log-nvls-hang", DoctorSeverity::broken,
     "The log ends where NCCL binds NVLink multicast (NVLS): if the job hangs, it hangs there.",
     "a log with NCCL_DEBUG=INFO", "tail LOG ; systemctl status nvidia-fabricmanager",
     "NCCL_NVLS_ENABLE=0 to confirm, then the fabric manager, the driver and a newer NCCL",
     "nccl-tests#216 (confirmed workaround)", look_at_nvls_hang},
    {"log-fabric-unhealthy", DoctorSeverity::risk,
     "The driver reports NVLink between nodes as degraded, recovering or unhealthy.",
     "a log with NCCL_DEBUG=INFO", "grep healthMask LOG ; nvidia-smi -q | grep -A 8 Fabric",
     "look at the rack's NVLink switches and their manager; NCCL_MNNVL_ENABLE=0 until then",
     "nvml.h, NVML_GPU_FABRIC_HEALTH_MASK; nccl#2186 (whose 0xaa is healthy)", look_at_fabric_health},
    {"log-imex-denied", DoctorSeverity::broken,
     "The user may not use the IMEX channel: memory cannot be shared over NVLink between nodes.",
     "a log with NCCL_DEBUG=WARN", "ls -l /dev/nvidia-caps-imex-channels",
     "let users write to /dev/nvidia-caps-imex-channels/channel0, and give it to the container",
     "NCCL user guide, troubleshooting, multi-node NVLink", look_at_imex_access},
    {"log-memory-registration", DoctorSeverity::broken,
     "NCCL could not register memory with the NIC, or make a queue on it.", "a log with NCCL_DEBUG=WARN",
     "grep 'Call to ibv' LOG ; ulimit -l", "ulimit -l unlimited for the job (see memlock-limit)",
     "NCCL user guide, troubleshooting, NCCL errors", look_at_registration},
    {"log-no-verbs", DoctorSeverity::slow,
     "NCCL cannot open libibverbs: RDMA devices are there and stay unused.", "a log with NCCL_DEBUG=INFO",
     "grep libibverbs LOG ; ldconfig -p | grep ibverbs",
     "install libibverbs1 and ibverbs-providers in the container", "horovod#969; NCCL's own message",
     look_at_verbs},
    {"log-completion-error", DoctorSeverity::broken, "The network reported a failed transfer.",
     "a log with NCCL_DEBUG=WARN", "grep 'Got completion' LOG ; dmesg | grep mlx5",
     "error 12 or vendor error 129: the way to the peer (cable, route, MTU); error 4: GPUDirect, see acs-on",
     "nccl#214, nccl#523", look_at_completion_errors},
}};

}  // namespace

std::span<const DoctorCheck> log_checks() { return kLogChecks; }

}  // namespace collbench::topology
