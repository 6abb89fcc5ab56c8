#include "tools/nccl_plan/simulated_gpu/process.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/text_input.hpp"

namespace collbench::simulated_gpu {
namespace {

std::atomic<int>& chosen_runtime_version() {
  static std::atomic<int> version{13000};
  return version;
}

/// The variable as a number that is at least `least`; none when it is not set.
std::optional<long> number_of(const char* variable, long least) {
  const std::string text = variable_value(variable);
  if (text.empty()) return std::nullopt;
  const auto value = whole_number<long>(text);
  if (value && *value >= least) return value;
  throw usage_error(variable, fmt::format("'{}' is no number of at least {}", text, least),
                    "give one, or unset it");
}

/// The rank that the launcher gave this process.
std::optional<long> launched_rank() {
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    if (const auto rank = number_of(variable, 0)) return rank;
  }
  return std::nullopt;
}

/// The file of the host's topology: of several, in their order, the last one is that of all hosts after it.
std::string machine_file(int host) {
  std::string files = variable_value("COLLBENCH_SIMULATED_GPU");
  if (files.empty()) files = variable_value("NCCL_TOPO_FILE");
  if (files.empty()) {
    throw usage_error("COLLBENCH_SIMULATED_GPU", "no machine to simulate",
                      "name an NCCL topology XML; collbench topo save --format nccl-xml writes one");
  }
  std::istringstream list(files);
  std::string file;
  std::string next;
  for (int i = 0; i <= host && std::getline(list, next, ','); ++i) file = next;
  return file;
}

SimulatedMachine machine_of(const SimulatedHost& host) {
  AssumedFacts assumed;
  if (const auto given = number_of("COLLBENCH_SIMULATED_COMPUTE", 10)) {
    assumed.compute_capability = static_cast<int>(*given);
  }
  if (const auto given = number_of("COLLBENCH_SIMULATED_NIC_MBPS", 1)) {
    assumed.nic_megabits_per_second = static_cast<int>(*given);
  }
  const std::string file = machine_file(host.index);
  return read_machine(read_file(file), file, assumed);
}

std::vector<int> visible_gpus(const SimulatedMachine& machine, const SimulatedHost& host) {
  const int count = static_cast<int>(machine.gpus.size());
  if (host.only_gpu) {
    if (*host.only_gpu < count) return {*host.only_gpu};
    throw usage_error(
        "COLLBENCH_SIMULATED_GPUS_PER_HOST",
        fmt::format("host {} has {} GPUs, and a rank should use GPU {}", host.index, count, *host.only_gpu),
        "give at most as many as each host has");
  }
  std::vector<int> visible;
  const char* const shown = std::getenv("CUDA_VISIBLE_DEVICES");
  if (shown == nullptr) {
    for (int gpu = 0; gpu < count; ++gpu) visible.push_back(gpu);
    return visible;
  }
  std::istringstream list(shown);
  for (std::string word; std::getline(list, word, ',');) {
    const auto gpu = whole_number<int>(word);
    if (!gpu || *gpu < 0 || *gpu >= count) break;  // as CUDA does
    visible.push_back(*gpu);
  }
  return visible;
}

/// A file that NCCL can read by name, without one on a disk: it ends with the process.
std::string file_in_memory(const std::string& text) {
  const int file = ::memfd_create("simulated topology", 0);
  if (file < 0) throw usage_error("NCCL_TOPO_FILE", "no memory for it", "free some memory");
  const std::string path = fmt::format("/proc/{}/fd/{}", ::getpid(), file);
  write_all(file, text, path);
  return path;
}

void tell_nccl(const SimulatedHost& host, const SimulatedMachine& machine) {
  constexpr int kKeep = 0;
  const std::string topology = machine.topology_xml;
  if (variable_value("NCCL_TOPO_FILE").empty())
    ::setenv("NCCL_TOPO_FILE", file_in_memory(topology).c_str(), kKeep);
  if (!machine.nics.empty()) ::setenv("NCCL_NET_PLUGIN", "collbench-simulated", kKeep);
  if (host.named) ::setenv("NCCL_HOSTID", fmt::format("simulated-host-{}", host.index).c_str(), kKeep);
}

/// Each piece of memory behind a handle is an open file.
void allow_many_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

/// From COLLBENCH_SIMULATED_HOST, or from COLLBENCH_SIMULATED_GPUS_PER_HOST and the launcher's rank. Throws
/// Error (usage).
SimulatedHost simulated_host() {
  SimulatedHost host;
  if (const auto index = number_of("COLLBENCH_SIMULATED_HOST", 0)) {
    host.index = static_cast<int>(*index);
    host.named = true;
    return host;
  }
  const auto per_host = number_of("COLLBENCH_SIMULATED_GPUS_PER_HOST", 1);
  if (!per_host) return host;
  const auto rank = launched_rank();
  if (!rank) return host;  // the launcher itself, or a process that starts its ranks
  host.index = static_cast<int>(*rank / *per_host);
  host.only_gpu = static_cast<int>(*rank % *per_host);
  host.named = true;
  return host;
}

}  // namespace

SimulatedProcess::SimulatedProcess()
    : host(simulated_host()),
      machine(machine_of(host)),
      visible(visible_gpus(machine, host)),
      memory_bytes(static_cast<std::size_t>(number_of("COLLBENCH_SIMULATED_MEMORY", 1).value_or(4L << 30U))),
      runtime_version(chosen_runtime_version()) {
  allow_many_files();
  tell_nccl(host, machine);
}

std::optional<int> SimulatedProcess::nvlink_domain() const {
  const auto hosts = number_of("COLLBENCH_SIMULATED_HOSTS_PER_DOMAIN", 2);
  return hosts ? std::optional(host.index / static_cast<int>(*hosts)) : std::nullopt;
}

const SimulatedGpu* SimulatedProcess::gpu(int device) const {
  if (device < 0 || device >= static_cast<int>(visible.size())) return nullptr;
  return &machine.gpus[static_cast<std::size_t>(visible[static_cast<std::size_t>(device)])];
}

SimulatedProcess& simulated_process() {
  // Never destroyed: NCCL's threads use it until the process is gone.
  static auto* const process = [] {
    try {
      return std::make_unique<SimulatedProcess>().release();
    } catch (const std::exception& failure) {
      std::fprintf(stderr, "%s\n", describe(failure).c_str());
      ::_exit(static_cast<int>(exit_status(failure)));
    }
  }();
  return *process;
}

void set_runtime_version(int version) { chosen_runtime_version() = version; }

std::string own_file() {
  Dl_info self{};
  const bool known = ::dladdr(reinterpret_cast<const void*>(&set_runtime_version), &self) != 0;
  return known && self.dli_fname != nullptr ? self.dli_fname : "";
}

}  // namespace collbench::simulated_gpu
