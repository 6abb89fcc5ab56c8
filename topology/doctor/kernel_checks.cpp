// kernel_checks() of checks.hpp: limits and settings of the kernel and of the container.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "topology/doctor/look.hpp"
#include "topology/graph/cpu_list.hpp"
#include "topology/graph/lookup.hpp"
#include "topology/graph/nics.hpp"

namespace collbench::topology {
namespace {

/// The balancer moves pages to where they are touched, and pages of GPU and NIC cannot be moved for free.
DoctorVerdict look_at_numa_balancing(const Evidence& evidence) {
  if (evidence.has("numa-balancing") && evidence.host.numa_nodes.size() == 1) return healthy();
  return lines_that(evidence, "numa-balancing", [](std::string_view line) { return line == "1"; });
}

/// The bytes of "Max locked memory  65536  65536  bytes", of "max locked memory  (kbytes, -l) 64" of ulimit
/// -a, and of a line that is what `ulimit -l` answers; none without a limit.
std::optional<std::int64_t> locked_memory_limit(std::string_view line, std::string_view before) {
  const std::vector<std::string> words = split_words(line);
  const bool of_ulimit = before.ends_with("ulimit -l") && words.size() == 1;
  const bool in_kib = of_ulimit || has_text(line, "(kbytes");
  const bool names_it = line.starts_with("Max locked memory") || line.starts_with("max locked memory");
  if (has_text(line, "unlimited") || (!of_ulimit && (!names_it || words.size() < 4))) return std::nullopt;
  const auto limit = parse_integer(in_kib ? words.back() : words[3], 0, INT64_MAX / 1024);
  return limit ? std::optional(*limit * (in_kib ? 1024 : 1)) : std::nullopt;
}

DoctorVerdict low_locked_memory(const Evidence& evidence) {
  return lines_that(evidence, "limits", [before = std::string_view()](std::string_view line) mutable {
    constexpr std::int64_t kEnoughBytes = std::int64_t{1} << 30U;
    const auto limit = locked_memory_limit(line, std::exchange(before, line));
    return limit && *limit < kEnoughBytes;
  });
}

/// What has no RDMA device locks no memory.
DoctorVerdict look_at_locked_memory(const Evidence& evidence) {
  const std::optional<bool> rdma = has_rdma(evidence);
  if (!rdma || !evidence.has("limits")) return std::nullopt;
  return *rdma ? low_locked_memory(evidence) : healthy();
}

/// Of a text that says nothing of RDMA, such as the limits alone; else that is memlock-limit's.
DoctorVerdict look_at_locked_memory_alone(const Evidence& evidence) {
  if (!has_rdma(evidence)) return low_locked_memory(evidence);
  return healthy_if(evidence.has("limits"));
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
    if (allowed->size() * 2 > online->size() || online->size() < 4) return healthy();
    return finding(
        {fmt::format("{} of {} CPUs are allowed: {}", allowed->size(), online->size(), quoted(line).what),
         line.location});
  }
  return std::nullopt;
}

/// The value behind "NAME:" of /proc/meminfo or /proc/self/status.
std::optional<std::string> field(const Evidence& evidence, std::string_view source, std::string_view name) {
  for (const EvidenceLine& line : evidence.of(source))
    if (line.text.starts_with(name))
      return std::string(trim(std::string_view(line.text).substr(name.size())));
  return std::nullopt;
}

std::optional<std::int64_t> memory_field(const Evidence& evidence, std::string_view name) {
  const auto text = field(evidence, "meminfo", name);
  return text ? parse_integer(text->substr(0, text->find(' ')), 0, INT64_MAX / 1024) : std::nullopt;
}

/// Memory that is reserved as huge pages, of which nobody took one, is lost to all buffers.
DoctorVerdict look_at_huge_pages(const Evidence& evidence) {
  const auto total = memory_field(evidence, "HugePages_Total:");
  const auto unused = memory_field(evidence, "HugePages_Free:");
  const auto size_kib = memory_field(evidence, "Hugepagesize:");
  const auto memory_kib = memory_field(evidence, "MemTotal:");
  if (!total || !unused || !size_kib || !memory_kib || *memory_kib == 0) return std::nullopt;
  constexpr double kMuch = 0.25;
  const double share =
      static_cast<double>(*total) * static_cast<double>(*size_kib) / static_cast<double>(*memory_kib);
  if (*unused < *total || share < kMuch) return healthy();
  return finding({fmt::format("{:.0f} % of the memory is reserved as {} huge pages, and none is in use",
                              100 * share, *total),
                  evidence.of("meminfo").front().location});
}

DoctorVerdict look_at_transparent_huge_pages(const Evidence& evidence) {
  return lines_that(evidence, "transparent-hugepages",
                    [](std::string_view line) { return line.ends_with("[never]"); });
}

/// A CPU's idle state, by the files of sysfs.
struct IdleState {
  std::string name;
  std::int64_t exit_microseconds = 0;
  bool disabled = false;
  std::string location;
};

std::map<std::string, IdleState> idle_states(const Evidence& evidence) {
  std::map<std::string, IdleState> states;
  for (const EvidenceLine& line : evidence.of("idle-states")) {
    const std::size_t colon = line.text.find(':');
    const std::size_t slash = line.text.rfind('/', colon);
    if (colon == std::string::npos || slash == std::string::npos) continue;
    IdleState& state = states[line.text.substr(0, slash)];
    const std::string file = line.text.substr(slash + 1, colon - slash - 1);
    const std::string value(trim(std::string_view(line.text).substr(colon + 1)));
    if (file == "name") state.name = value;
    if (file == "latency") {
      state.exit_microseconds = parse_integer(value, 0, INT32_MAX).value_or(0);
      state.location = line.location;
    }
    if (file == "disable") state.disabled = value != "0";
  }
  return states;
}

/// What takes longer to leave than a small message takes on its way. C1 and C1E are left in 1 to 10 µs, the
/// deeper ones of servers in 100 to 600.
DoctorVerdict look_at_idle_states(const Evidence& evidence) {
  constexpr std::int64_t kLongMicroseconds = 100;
  const std::map<std::string, IdleState> states = idle_states(evidence);
  if (states.empty()) return std::nullopt;
  std::vector<DoctorObservation> found;
  for (const auto& [path, state] : states) {
    if (state.disabled || state.exit_microseconds < kLongMicroseconds) continue;
    found.push_back(
        {fmt::format("{} is in use, and takes {} µs to leave",
                     state.name.empty() ? path : excerpt(state.name, 20), state.exit_microseconds),
         state.location});
  }
  return found;
}

/// A container (its system calls are filtered) that may not be given CAP_SYS_NICE: the filter then refuses
/// what places memory on NUMA nodes.
DoctorVerdict look_at_capabilities(const Evidence& evidence) {
  if (const EvidenceLine* line =
          first_line_with(evidence.of("nccl-log"), "cuMem host allocations do not appear to be work"))
    return finding(quoted(*line));   // NCCL, init.cc
  constexpr unsigned kSysNice = 23;  // linux/capability.h
  const auto bounding = field(evidence, "status", "CapBnd:");
  const auto mask = parse_hex(bounding.value_or(""));
  const auto seccomp = field(evidence, "status", "Seccomp:");
  const std::optional<bool> gpus = has_gpus(evidence);
  if (!mask || !seccomp || !gpus) return std::nullopt;
  if (!*gpus || *seccomp != "2" || (*mask >> kSysNice & 1U) != 0) return healthy();
  return finding({fmt::format("system calls are filtered (Seccomp: 2), and CapBnd {} has no SYS_NICE",
                              excerpt(*bounding, 20)),
                  evidence.of("status").front().location});
}

std::optional<std::vector<int>> allowed_cpus(const Evidence& evidence) {
  const auto text = field(evidence, "status", "Cpus_allowed_list:");
  return text ? parse_cpu_list(*text) : std::nullopt;
}

/// Of the GPUs and RDMA devices of the machine, those at which no CPU is allowed. A process that is bound to
/// one socket is far from the other one's by intent: only where that is so for all of them.
DoctorVerdict look_at_far_cpus(const Evidence& evidence) {
  const auto allowed = allowed_cpus(evidence);
  if (!allowed || allowed->empty()) return std::nullopt;
  std::size_t devices = 0;
  for (const Device& device : gpus_and_nics(evidence.host)) {
    if (device.kind == DeviceKind::nic &&
        !is_rdma(evidence.host.nics.at(static_cast<std::size_t>(device.index))))
      continue;
    const std::vector<int> local = local_cpus(evidence.host, device);
    if (local.empty()) continue;
    ++devices;
    const bool near = std::ranges::any_of(
        local, [&](int cpu) { return std::binary_search(allowed->begin(), allowed->end(), cpu); });
    if (near) return healthy();
  }
  if (devices == 0) return std::nullopt;
  return finding({fmt::format("CPUs {} are allowed, and none of them is at a GPU or RDMA device ({} of them)",
                              excerpt(format_cpu_list(*allowed), 40), devices),
                  evidence.of("status").front().location});
}

/// "Max open files  1024  4096  files": NCCL raises its own soft limit to the hard one.
DoctorVerdict look_at_open_files(const Evidence& evidence) {
  const std::optional<bool> gpus = has_gpus(evidence);
  if (!gpus || !evidence.has("limits")) return std::nullopt;
  if (!*gpus) return healthy();
  constexpr std::int64_t kFew = 4096;
  return lines_that(evidence, "limits", [](std::string_view line) {
    if (!line.starts_with("Max open files")) return false;
    const std::vector<std::string> words = split_words(line);
    const auto hard = words.size() < 5 ? std::nullopt : parse_integer(words[4], 0, INT64_MAX);
    return hard && *hard <= kFew;
  });
}

/// Without a limit, threads get 2 MB: NCCL's search may need more. From 2.28 on NCCL asks for enough.
DoctorVerdict look_at_stack(const Evidence& evidence) {
  constexpr int kSafeSince = 22800;
  const std::optional<bool> gpus = has_gpus(evidence);
  if (!gpus || !evidence.has("limits")) return std::nullopt;
  if (!*gpus || nccl_version(evidence).value_or(NcclVersion{}).code >= kSafeSince) return healthy();
  return lines_that(evidence, "limits", [](std::string_view line) {
    const std::vector<std::string> words = split_words(line);
    return words.size() >= 4 && line.starts_with("Max stack size") && words[3] == "unlimited";
  });
}

constexpr std::array<DoctorCheck, 13> kKernelChecks{{
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
    {"memlock-low", DoctorSeverity::risk,
     "A process may lock little memory, and nothing here says whether the machine has RDMA devices: where it "
     "has, they cannot register their buffers.",
     "cat /proc/self/limits, or ulimit -a", "ulimit -l ; ls /sys/class/infiniband",
     "where it has: ulimit -l unlimited (limits.conf, LimitMEMLOCK=infinity of slurmd, docker --ulimit "
     "memlock=-1)",
     "NCCL user guide, troubleshooting, InfiniBand", look_at_locked_memory_alone},
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
     "the GPU.",
     "cat /proc/self/status", "taskset -pc $$", "widen the cpuset or the binding (srun --cpus-per-task)",
     "lbann#560 (measured: wrong affinity, 50 times slower)", look_at_cpuset},
    {"cpus-far", DoctorSeverity::slow,
     "The allowed CPUs are all far from the GPUs and RDMA devices: what drives them crosses the sockets.",
     "cat /proc/self/status, and nvidia-smi topo -m", "taskset -pc $$ ; nvidia-smi topo -m",
     "bind to the CPUs that nvidia-smi topo -m lists for the GPU (srun --cpu-bind, mpirun --map-by numa)",
     "lbann#560 (measured: wrong affinity, 50 times slower); NCCL user guide, performance and tuning",
     look_at_far_cpus},
    {"idle-states-deep", DoctorSeverity::risk,
     "CPUs sleep so deeply that waking takes longer than a small message: latency grows and varies.",
     "/sys/devices/system/cpu/cpu0/cpuidle", "cpupower idle-info",
     "cpupower idle-set -D 100, or intel_idle.max_cstate=1 at boot, or off in the BIOS",
     "nccl#182 (NVIDIA: C-states off on EPYC); kernel documentation, CPU idle time management",
     look_at_idle_states},
    {"huge-pages-idle", DoctorSeverity::risk,
     "Much memory is reserved as huge pages that nobody uses: buffers of jobs do not fit beside it.",
     "cat /proc/meminfo", "grep -i huge /proc/meminfo",
     "sysctl -w vm.nr_hugepages=0, unless a program needs them", "kernel documentation, HugeTLB pages",
     look_at_huge_pages},
    {"transparent-huge-pages-off", DoctorSeverity::risk,
     "Host buffers get pages of 4 KiB: more address translations, and registering them with a NIC takes "
     "longer.",
     "cat /sys/kernel/mm/transparent_hugepage/enabled", "cat /sys/kernel/mm/transparent_hugepage/enabled",
     "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled (or always)",
     "kernel documentation, transparent hugepages", look_at_transparent_huge_pages},
    {"container-capabilities", DoctorSeverity::risk,
     "The container may not place memory on NUMA nodes: NCCL's host buffers fail or fall back.",
     "cat /proc/self/status, or a log with NCCL_DEBUG=INFO", "grep -E 'Seccomp:|CapBnd' /proc/self/status",
     "docker run --cap-add SYS_NICE (and --ulimit memlock=-1), or NCCL_CUMEM_HOST_ENABLE=0",
     "NCCL user guide, troubleshooting, runtime: Docker disables NUMA support", look_at_capabilities},
    {"open-files-limit", DoctorSeverity::risk,
     "A process may open few files: NCCL fails at scale, where it opens several for each peer.",
     "cat /proc/self/limits", "ulimit -Hn", "* - nofile 131072 in /etc/security/limits.d, and log in again",
     "NCCL user guide, troubleshooting, file descriptors", look_at_open_files},
    {"stack-unlimited", DoctorSeverity::risk,
     "Without a limit of the stack glibc gives threads 2 MB only: NCCL before 2.28 was seen to crash.",
     "cat /proc/self/limits", "ulimit -s", "ulimit -s 8192 on all nodes",
     "NCCL user guide, troubleshooting, stack size", look_at_stack},
}};

}  // namespace

std::span<const DoctorCheck> kernel_checks() { return kKernelChecks; }

}  // namespace collbench::topology
