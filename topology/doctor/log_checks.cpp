// log_checks() of checks.hpp: what NCCL said while it started.
#include <fmt/format.h>

#include <array>

#include "topology/doctor/look.hpp"

namespace collbench::topology {
namespace {

/// "NCCL INFO Using network Socket", or a channel "via NET/Socket/0". Single-node runs load it, too, and use
/// none of it: without a channel by the network nothing is lost.
DoctorVerdict look_at_sockets(const Evidence& evidence) {
  bool by_network = false;
  std::vector<DoctorObservation> found;
  for (const EvidenceLine& line : evidence.of("nccl-log")) {
    by_network = by_network || has_text(line.text, "via NET/");
    if (found.empty() && has_text(line.text, "via NET/Socket")) found.push_back(quoted(line));
  }
  return by_network ? DoctorVerdict(found) : std::nullopt;
}

/// Channels by InfiniBand without GPUDirect RDMA: "via NET/IB/0" instead of "via NET/IB/0/GDRDMA".
DoctorVerdict look_at_gpudirect(const Evidence& evidence) {
  std::size_t direct = 0;
  std::size_t staged = 0;
  const EvidenceLine* first = nullptr;
  for (const EvidenceLine& line : evidence.of("nccl-log")) {
    if (!has_text(line.text, "via NET/IB") && !has_text(line.text, "via NET/AWS Libfabric")) continue;
    if (has_text(line.text, "GDRDMA")) {
      ++direct;
    } else {
      ++staged;
      if (first == nullptr) first = &line;
    }
  }
  if (direct + staged == 0) return std::nullopt;
  if (staged == 0) return std::vector<DoctorObservation>();
  return std::vector<DoctorObservation>{
      {direct == 0 ? fmt::format("none of {} connections: {}", staged, quoted(*first).what)
                   : fmt::format("{} of {} connections are without it (one node or direction?): {}", staged,
                                 staged + direct, quoted(*first).what),
       first->location}};
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

DoctorVerdict look_at_completion_errors(const Evidence& evidence) {
  return lines_that(evidence, "nccl-log", [](std::string_view line) {
    return has_text(line, "NCCL WARN") && has_text(line, "Got completion") && has_text(line, "with error");
  });
}

constexpr std::array<DoctorCheck, 5> kLogChecks{{
    {"log-sockets", DoctorSeverity::slow,
     "NCCL speaks TCP between nodes: less than a tenth of what RDMA carries.", "a log with NCCL_DEBUG=INFO",
     "grep 'Using network' LOG",
     "see why no RDMA device was found (grep 'NET/IB' LOG): /dev/infiniband in the container, NCCL_IB_HCA, "
     "the plugin",
     "azure-aks: IPoIB instead of RDMA, 3 instead of 187 GB/s", look_at_sockets},
    {"log-no-gpudirect", DoctorSeverity::slow,
     "NCCL's network connections go through host memory on some node.", "a log with NCCL_DEBUG=INFO",
     "grep 'via NET/' LOG | grep -v GDRDMA", "modprobe nvidia-peermem on the nodes that the lines name",
     "nccl-tests#152 (confirmed), nccl#897, nccl-tests#29 (confirmed: 6 to 12 GB/s)", look_at_gpudirect},
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
    {"log-completion-error", DoctorSeverity::broken, "The network reported a failed transfer.",
     "a log with NCCL_DEBUG=WARN", "grep 'Got completion' LOG ; dmesg | grep mlx5",
     "error 12 or vendor error 129: the way to the peer (cable, route, MTU); error 4: GPUDirect, see acs-on",
     "nccl#214, nccl#523", look_at_completion_errors},
}};

}  // namespace

std::span<const DoctorCheck> log_checks() { return kLogChecks; }

}  // namespace collbench::topology
