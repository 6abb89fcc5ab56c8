// kernel_checks() of checks.hpp: limits and settings of the kernel and of the container.
#include <fmt/format.h>

#include <array>

#include "topology/doctor/look.hpp"
#include "topology/graph/cpu_list.hpp"

namespace collbench::topology {
namespace {

/// The balancer moves pages to where they are touched, and pages of GPU and NIC cannot be moved for free.
DoctorVerdict look_at_numa_balancing(const Evidence& evidence) {
  if (evidence.has("numa-balancing") && evidence.host.numa_nodes.size() == 1)
    return std::vector<DoctorObservation>();
  return lines_that(evidence, "numa-balancing", [](std::string_view line) { return line == "1"; });
}

/// "Max locked memory  65536  65536  bytes", or of ulimit -a "max locked memory  (kbytes, -l) 64". What has
/// no RDMA device locks no memory.
DoctorVerdict look_at_locked_memory(const Evidence& evidence) {
  const std::optional<bool> rdma = has_rdma(evidence);
  if (!rdma || !evidence.has("limits")) return std::nullopt;
  if (!*rdma) return std::vector<DoctorObservation>();
  return lines_that(evidence, "limits", [](std::string_view line) {
    if (!line.starts_with("Max locked memory") && !line.starts_with("max locked memory")) return false;
    if (has_text(line, "unlimited")) return false;
    const std::vector<std::string> words = split_words(line);
    const bool in_kib = has_text(line, "(kbytes");
    if (words.size() < 4) return false;  // cut
    const auto limit = parse_integer(in_kib ? words.back() : words[3], 0, INT64_MAX / 1024);
    constexpr std::int64_t kEnoughBytes = std::int64_t{1} << 30U;
    return limit && *limit * (in_kib ? 1024 : 1) < kEnoughBytes;
  });
}

/// Docker gives a container 64 MiB; NCCL puts the buffers of all local ranks there.
DoctorVerdict look_at_shared_memory(const Evidence& evidence) {
  constexpr std::int64_t kDockersDefault = std::int64_t{64} << 20U;
  return lines_that(evidence, "shm", [](std::string_view line) {
    if (!line.ends_with(" /dev/shm")) return false;
    const std::vector<std::string> words = split_words(line);
    if (words.size() < 2) return false;
    if (words[1] == "64M") return true;
    const auto bytes = parse_integer(words[1], 0, INT64_MAX);
    return bytes && (*bytes <= kDockersDefault && *bytes != 0);
  });
}

DoctorVerdict look_at_governor(const Evidence& evidence) {
  return lines_that(evidence, "governor", [](std::string_view line) {
    return line == "powersave" || line == "ondemand" || line == "conservative";
  });
}

/// Half of the CPUs or fewer: ranks and the threads of their NICs share them.
DoctorVerdict look_at_cpuset(const Evidence& evidence) {
  if (evidence.of("cpus").empty()) return std::nullopt;
  const auto online = parse_cpu_list(evidence.of("cpus").front().text);
  for (const EvidenceLine& line : evidence.of("status")) {
    constexpr std::string_view kAllowed = "Cpus_allowed_list:";
    if (!line.text.starts_with(kAllowed)) continue;
    const auto allowed = parse_cpu_list(trim(std::string_view(line.text).substr(kAllowed.size())));
    if (!online || !allowed) return std::nullopt;
    if (allowed->size() * 2 > online->size() || online->size() < 4) return std::vector<DoctorObservation>();
    return std::vector<DoctorObservation>{
        {fmt::format("{} of {} CPUs are allowed: {}", allowed->size(), online->size(), quoted(line).what),
         line.location}};
  }
  return std::nullopt;
}

constexpr std::array<DoctorCheck, 5> kKernelChecks{{
    {"numa-balancing", DoctorSeverity::risk,
     "Automatic NUMA balancing moves pages under a job: latency jumps, and copies between host and GPU slow "
     "down.",
     "cat /proc/sys/kernel/numa_balancing", "cat /proc/sys/kernel/numa_balancing",
     "sysctl -w kernel.numa_balancing=0", "NVIDIA Grace and DGX tuning guides: off for GPU jobs",
     look_at_numa_balancing},
    {"memlock-limit", DoctorSeverity::broken,
     "A process may lock too little memory: RDMA cannot register its buffers, and NCCL fails at its start.",
     "cat /proc/self/limits, or ulimit -a", "ulimit -l",
     "ulimit -l unlimited (limits.conf, LimitMEMLOCK=infinity of slurmd, docker --ulimit memlock=-1)",
     "NCCL user guide, troubleshooting, InfiniBand", look_at_locked_memory},
    {"shm-small", DoctorSeverity::broken,
     "/dev/shm is as small as Docker makes it: NCCL's shared memory between local ranks does not fit.",
     "df -B1 /dev/shm", "df -h /dev/shm", "docker run --shm-size=1g, or --ipc=host",
     "NCCL user guide, troubleshooting, shared memory and Docker", look_at_shared_memory},
    {"governor", DoctorSeverity::risk,
     "CPUs lower their clock when they wait: the latency of small messages grows and varies.",
     "cat /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor", "cpupower frequency-info",
     "cpupower frequency-set -g performance", "kernel documentation, CPU performance scaling",
     look_at_governor},
    {"cpuset-small", DoctorSeverity::risk,
     "At most half of the machine's CPUs are allowed: ranks and NCCL's threads share them, perhaps far from "
     "the "
     "GPU.",
     "cat /proc/self/status", "taskset -pc $$", "widen the cpuset or the binding (srun --cpus-per-task)",
     "lbann#560 (measured: wrong affinity, 50 times slower)", look_at_cpuset},
}};

}  // namespace

std::span<const DoctorCheck> kernel_checks() { return kKernelChecks; }

}  // namespace collbench::topology
