#include "launch/real_machine.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <hwloc.h>
#include <link.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string_view>

#include "base/files.hpp"
#include "base/shared_library.hpp"
#include "launch/available_memory.hpp"
#include "launch/launcher.hpp"

namespace collbench::launch {
namespace {

std::string first_word(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

/// Hardware threads and the core of each, named by its lowest thread.
using CoreByCpu = std::map<int, int>;

/// The hardware threads that the calling thread may run on; none where the system does not tell.
std::optional<std::set<int>> allowed_cpus() {
  constexpr std::size_t kMaxCpus = 1U << 22U;
  for (std::size_t size = CPU_SETSIZE; size <= kMaxCpus; size *= 2) {
    const auto free_set = [](cpu_set_t* cpus) { CPU_FREE(cpus); };
    const std::unique_ptr<cpu_set_t, decltype(free_set)> allowed(CPU_ALLOC(size), free_set);
    if (!allowed) return std::nullopt;
    const std::size_t bytes = CPU_ALLOC_SIZE(size);
    if (sched_getaffinity(0, bytes, allowed.get()) == 0) {
      std::set<int> cpus;
      for (std::size_t cpu = 0; cpu < size; ++cpu) {
        if (CPU_ISSET_S(cpu, bytes, allowed.get())) cpus.insert(static_cast<int>(cpu));
      }
      return cpus;
    }
    if (errno != EINVAL) return std::nullopt;  // EINVAL: the kernel's set is larger
  }
  return std::nullopt;
}

/// The cores of this host, whatever this process may use of it, as hwloc has them. Empty when hwloc fails, or
/// when HWLOC_* variables make it tell of another machine.
CoreByCpu cores_of_hwloc() {
  struct Destroy {
    void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
  };
  hwloc_topology_t created = nullptr;
  if (hwloc_topology_init(&created) != 0) return {};
  const std::unique_ptr<hwloc_topology, Destroy> topology(created);
  // Processing units and how they share cores, and nothing else that hwloc could find.
  hwloc_topology_set_all_types_filter(created, HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc_topology_set_type_filter(created, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_flags(created, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  if (hwloc_topology_load(created) != 0 || hwloc_topology_is_thissystem(created) == 0) return {};
  // A virtual machine may show no cores: then each processing unit is one.
  const auto type = hwloc_get_nbobjs_by_type(created, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  CoreByCpu cores;
  for (hwloc_obj_t core = nullptr; (core = hwloc_get_next_obj_by_type(created, type, core)) != nullptr;) {
    const int lowest = hwloc_bitmap_first(core->cpuset);
    for (int cpu = lowest; cpu >= 0; cpu = hwloc_bitmap_next(core->cpuset, cpu)) cores[cpu] = lowest;
  }
  return cores;
}

/// The cores of this host as the kernel has them; each of `allowed` (empty: not known) that it does not tell
/// of is one.
CoreByCpu cores_of_kernel(const std::set<int>& allowed) {
  CoreByCpu cores;
  std::map<std::array<std::string, 3>, int> lowest;
  const int configured = static_cast<int>(sysconf(_SC_NPROCESSORS_CONF));
  const int end = std::max(configured, allowed.empty() ? 0 : *allowed.rbegin() + 1);
  for (int cpu = 0; cpu < end; ++cpu) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu{}/topology/", cpu);
    const std::string core = first_word(folder + "core_id");
    if (!core.empty()) {
      // The dies of a package may number their cores alike; older kernels have no such file.
      const std::string package = first_word(folder + "physical_package_id");
      cores[cpu] = lowest.try_emplace({package, first_word(folder + "die_id"), core}, cpu).first->second;
    } else if (allowed.empty() || allowed.contains(cpu)) {
      cores[cpu] = cpu;
    }
  }
  return cores;
}

/// The cores with a hardware thread in `cpus`; sorted.
std::set<int> cores_with(const CoreByCpu& cores, const std::set<int>& cpus) {
  std::set<int> with;
  for (const auto& [cpu, core] : cores) {
    if (cpus.contains(cpu)) with.insert(core);
  }
  return with;
}

struct HostCores {
  std::set<int> all;
  std::set<int> allowed;  ///< to the calling thread; all where the system does not tell
};

HostCores view_cores() {
  const auto allowed = allowed_cpus();
  CoreByCpu cores = cores_of_hwloc();
  if (cores.empty() || (allowed && cores_with(cores, *allowed).empty())) {
    cores = cores_of_kernel(allowed.value_or(std::set<int>()));
  }
  HostCores view;
  for (const auto& [cpu, core] : cores) view.all.insert(core);
  view.allowed = allowed ? cores_with(cores, *allowed) : view.all;
  return view;
}

/// What the driver itself counts (CUDA Driver API: cuInit, cuDeviceGetCount; 0 is success): the only sign of
/// a GPU below Windows (WSL 2), which has neither a PCI device nor /dev/nvidia0.
int nvidia_devices_of_driver() {
  std::string reason;
  const auto driver = first_library({"libcuda.so.1"}, reason);
  if (!driver) return 0;
  int (*init)(unsigned int) = nullptr;
  int (*count)(int*) = nullptr;
  driver->find(init, "cuInit");
  driver->find(count, "cuDeviceGetCount");
  int devices = 0;
  if (init == nullptr || count == nullptr || init(0) != 0 || count(&devices) != 0) return 0;
  return devices;
}

/// The build-id in one segment of notes of the program, as hexadecimal digits; empty when it holds none. A
/// note is a header, its name and its contents, each padded to 4 bytes (elf(5)).
std::string build_id_in(std::span<const std::byte> notes) {
  constexpr std::string_view kOwner("GNU\0", 4);
  const auto padded = [](std::size_t bytes) { return (bytes + 3) / 4 * 4; };
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header{};
    std::memcpy(&header, notes.data(), sizeof header);
    notes = notes.subspan(sizeof header);
    const std::size_t name = padded(header.n_namesz);
    if (notes.size() < name + header.n_descsz) return {};
    const std::string_view owner(reinterpret_cast<const char*>(notes.data()), header.n_namesz);
    if (header.n_type == NT_GNU_BUILD_ID && owner == kOwner) {
      std::string digits;
      for (const std::byte byte : notes.subspan(name, header.n_descsz)) {
        digits += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
      }
      return digits;
    }
    notes = notes.subspan(std::min(notes.size(), name + padded(header.n_descsz)));
  }
  return {};
}

/// FNV-1a over a file: two hosts with the same bytes have the same id.
std::string hash_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return "unreadable";
  std::uint64_t hash = 0xcbf29ce484222325U;
  std::array<char, 65536> chunk{};  // never the whole: with debug information it is tens of megabytes
  while (file.read(chunk.data(), chunk.size()), file.gcount() > 0) {
    for (std::streamsize i = 0; i < file.gcount(); ++i) {
      hash = (hash ^ static_cast<unsigned char>(chunk[static_cast<std::size_t>(i)])) * 0x100000001b3U;
    }
  }
  return file.bad() ? "unreadable" : fmt::format("{:016x}", hash);
}

/// The linker's build-id of what this code was linked into (libcollbench, or a test): a hash of what it was
/// linked from, so that two hosts with the same build have the same id, stripped or not. A hash of its file
/// when it was linked without one.
std::string program_id() {
  struct Linked {
    std::string id;
    std::string file = "/proc/self/exe";
  } linked;
  const auto of_this_code = [](dl_phdr_info* info, std::size_t /*size*/, void* result) {
    const std::span headers(info->dlpi_phdr, info->dlpi_phnum);
    const auto holds_this_code = [&](const ElfW(Phdr) & header) {
      const std::uintptr_t at = reinterpret_cast<std::uintptr_t>(&program_id) - info->dlpi_addr;
      return header.p_type == PT_LOAD && at >= header.p_vaddr && at < header.p_vaddr + header.p_memsz;
    };
    if (std::ranges::none_of(headers, holds_this_code)) return 0;
    auto& found = *static_cast<Linked*>(result);
    if (*info->dlpi_name != '\0') found.file = info->dlpi_name;
    for (const ElfW(Phdr) & header : headers) {
      if (header.p_type != PT_NOTE || !found.id.empty()) continue;
      // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader gives its addresses as numbers.
      const auto* const begin = reinterpret_cast<const std::byte*>(info->dlpi_addr + header.p_vaddr);
      found.id = build_id_in({begin, header.p_memsz});
    }
    return 1;
  };
  dl_iterate_phdr(of_this_code, &linked);
  return linked.id.empty() ? hash_of_file(linked.file) : linked.id;
}

Terminal terminal_behind(const std::string& path) {
  // Not opened when it is no character device: opening a FIFO would wait, and a file has no columns.
  std::error_code ignored;
  if (std::filesystem::status(path, ignored).type() != std::filesystem::file_type::character) return {};
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return {};
  Terminal terminal{.is_terminal = isatty(descriptor) == 1, .columns = 0};
  winsize size{};
  if (terminal.is_terminal && ioctl(descriptor, TIOCGWINSZ, &size) == 0) terminal.columns = size.ws_col;
  ::close(descriptor);
  return terminal;
}

}  // namespace

int nvidia_devices(const std::filesystem::path& root) {
  const auto count = [&root](const char* folder, const auto& is_gpu) {
    std::error_code none;
    return static_cast<int>(std::ranges::count_if(entries_of(root / folder, none), is_gpu));
  };
  const int on_bus = count("sys/bus/pci/devices", [](const auto& device) {
    return first_word(device / "vendor") == "0x10de" && first_word(device / "class").starts_with("0x03");
  });
  if (on_bus > 0) return on_bus;
  const int listed = count("proc/driver/nvidia/gpus", [](const auto&) { return true; });
  if (listed > 0) return listed;
  return count("dev", [](const auto& device) {  // nvidia0, and not nvidiactl or nvidia-uvm
    const std::string name = device.filename().string();
    return name.starts_with("nvidia") && name.find_first_not_of("0123456789", 6) == std::string::npos &&
           name.size() > 6;
  });
}

LocalMachineView view_machine() {
  const HostCores cores = view_cores();
  const int on_files = nvidia_devices("/");
  return {.allowed_cores = {cores.allowed.begin(), cores.allowed.end()},
          .online_cores = static_cast<int>(cores.all.size()),
          .available_memory_bytes = available_memory_bytes(),
          .nvidia_devices = on_files > 0 ? on_files : nvidia_devices_of_driver(),
          .program_id = program_id()};
}

CpuTimes view_cpu_times() {
  CpuTimes times;
  double idle = 0;
  // proc_stat(5): user nice system idle iowait irq softirq steal; the guests' share is in user and nice.
  double& busy = times.host_busy_seconds;
  const std::array<double*, 8> columns{&busy, &busy, &busy, &idle,
                                       &idle, &busy, &busy, &times.stolen_seconds};
  std::ifstream file("/proc/stat");
  std::string word;
  file >> word;
  for (double* const seconds : columns) {
    double ticks = 0;
    if (!(file >> ticks)) return {};
    *seconds += ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
  }
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {  // such as a probe, and nvidia-smi
    rusage used{};
    getrusage(who, &used);
    for (const timeval& part : {used.ru_utime, used.ru_stime})
      times.own_seconds += static_cast<double>(part.tv_sec) + static_cast<double>(part.tv_usec) * 1e-6;
  }
  times.hardware_threads = static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
  return times;
}

bool time_is_simulated() { return false; }

std::optional<CoreSeconds> view_core_seconds() {
  constexpr double kNanosecond = 1e-9;
  std::ifstream file("/proc/self/schedstat");
  CoreSeconds seconds;
  if (!(file >> seconds.ran >> seconds.waited)) return std::nullopt;
  return CoreSeconds{seconds.ran * kNanosecond, seconds.waited * kNanosecond};
}

std::optional<std::uint64_t> view_page_faults() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<std::uint64_t>(used.ru_minflt);
}

void leave_binding() {
  constexpr std::size_t kOfKernels = 8;  // at most 8,192 processors (NR_CPUS); it takes those that there are
  std::array<cpu_set_t, kOfKernels> all{};
  std::memset(all.data(), 0xff, sizeof all);
  static_cast<void>(::sched_setaffinity(0, sizeof all, all.data()));
}

Terminal view_terminal(int descriptor, bool launched) {
  if (!launched) return terminal_behind(fmt::format("/proc/self/fd/{}", descriptor));
  const auto mpirun = find_mpirun();
  return mpirun ? terminal_behind(fmt::format("/proc/{}/fd/{}", mpirun->pid, descriptor)) : Terminal{};
}

std::string hwloc_version() {
  const unsigned version = hwloc_get_api_version();
  return fmt::format("{}.{}.{}", version >> 16U, (version >> 8U) & 0xffU, version & 0xffU);
}

std::function<void()> exact_barrier(Ranks& /*ranks*/) { return {}; }

}  // namespace collbench::launch
