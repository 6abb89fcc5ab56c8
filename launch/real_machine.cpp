#include "launch/real_machine.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <hwloc.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <set>
#include <string_view>

namespace collbench::launch {
namespace {

std::string first_word(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

/// The core of hardware thread `cpu`, as its lowest thread: "0-1" or "0,64" begin with it.
int core_of(int cpu) {
  const std::string siblings =
      first_word(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu));
  return siblings.empty() ? cpu : std::stoi(siblings);
}

std::vector<int> allowed_cores() {
  std::set<int> cores;
  // CPU_SETSIZE is 1,024; a larger machine makes sched_getaffinity fail, and then every core counts.
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  const bool known = sched_getaffinity(0, sizeof allowed, &allowed) == 0;
  const int online = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  for (int cpu = 0; cpu < (known ? CPU_SETSIZE : online); ++cpu) {
    if (!known || CPU_ISSET(static_cast<std::size_t>(cpu), &allowed)) cores.insert(core_of(cpu));
  }
  return {cores.begin(), cores.end()};
}

int online_cores() {
  std::set<int> cores;
  const int online = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  for (int cpu = 0; cpu < online; ++cpu) cores.insert(core_of(cpu));
  return static_cast<int>(cores.size());
}

std::uint64_t number_in(const std::string& path) {
  const std::string word = first_word(path);
  if (word.empty() || word.find_first_not_of("0123456789") != std::string::npos) {
    return std::numeric_limits<std::uint64_t>::max();  // "max": no limit
  }
  return std::stoull(word);
}

/// What the kernel drops before it lets a group run out: cached files.
std::uint64_t cached_files(const std::string& folder) {
  std::ifstream file(folder + "/memory.stat");
  std::uint64_t cached = 0;
  std::string key;
  std::uint64_t bytes = 0;
  while (file >> key >> bytes) {
    if (key == "inactive_file" || key == "active_file") cached += bytes;
  }
  return cached;
}

/// The least that this process's cgroup (version 2) and those above it have left: a job's step has a limit of
/// its own. Never 0, which would say that it is not known.
std::uint64_t memory_left_in_cgroups() {
  constexpr std::uint64_t kPage = 4096;
  std::ifstream file("/proc/self/cgroup");
  std::string line;
  std::filesystem::path group("/");
  while (std::getline(file, line)) {
    if (line.starts_with("0::/")) group = line.substr(3);
  }
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (bool top = false; !top; group = group.parent_path()) {
    top = group == group.parent_path();
    const std::string folder = "/sys/fs/cgroup" + group.string();
    const std::uint64_t limit = number_in(folder + "/memory.max");
    if (limit == std::numeric_limits<std::uint64_t>::max()) continue;
    const std::uint64_t current = number_in(folder + "/memory.current");
    const std::uint64_t used = current - std::min(current, cached_files(folder));
    least = std::min(least, limit > used ? std::max(limit - used, kPage) : kPage);
  }
  return least;
}

std::uint64_t available_memory() {
  std::uint64_t available = 0;
  std::ifstream file("/proc/meminfo");
  std::string key;
  std::uint64_t kib = 0;
  std::string unit;
  while (file >> key >> kib && std::getline(file, unit)) {
    if (key == "MemAvailable:") available = kib * 1024;
  }
  return std::min(available, memory_left_in_cgroups());
}

/// GPUs that the kernel shows, with or without a driver.
int nvidia_devices() {
  int devices = 0;
  std::error_code none;
  for (const auto& device : std::filesystem::directory_iterator("/sys/bus/pci/devices", none)) {
    const bool nvidia = first_word(device.path() / "vendor") == "0x10de";
    if (nvidia && first_word(device.path() / "class").starts_with("0x03")) ++devices;
  }
  return devices;
}

/// FNV-1a over the program file: two hosts with the same bytes have the same id.
std::string program_id() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  std::uint64_t hash = 0xcbf29ce484222325U;
  std::array<char, 65536> chunk{};  // never the whole: with debug information it is tens of megabytes
  while (file.read(chunk.data(), chunk.size()), file.gcount() > 0) {
    for (std::streamsize i = 0; i < file.gcount(); ++i) {
      hash = (hash ^ static_cast<unsigned char>(chunk[static_cast<std::size_t>(i)])) * 0x100000001b3U;
    }
  }
  return file.bad() ? "unreadable" : fmt::format("{:016x}", hash);
}

struct Process {
  std::string name;
  int parent = 0;
};

/// From /proc/PID/stat: "PID (name) state parent …"; the name may hold spaces and brackets.
std::optional<Process> process(int pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  const std::size_t open = line.find('(');
  const std::size_t close = line.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close + 4 > line.size()) return std::nullopt;
  return Process{.name = line.substr(open + 1, close - open - 1),
                 .parent = std::stoi(line.substr(close + 4))};
}

/// The mpirun above this process, if it runs on this host.
std::optional<int> find_mpirun() {
  constexpr int kLevels = 32;  // wrappers such as numactl or a shell script stand between
  int pid = getppid();
  for (int level = 0; level < kLevels && pid > 1; ++level) {
    const auto above = process(pid);
    if (!above) return std::nullopt;
    for (const std::string_view known : {"mpirun", "mpiexec", "orterun", "prterun", "prun"}) {
      if (above->name == known) return pid;
    }
    pid = above->parent;
  }
  return std::nullopt;
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

LocalMachineView view_machine() {
  return {.allowed_cores = allowed_cores(),
          .online_cores = online_cores(),
          .available_memory_bytes = available_memory(),
          .nvidia_devices = nvidia_devices(),
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
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  for (const timeval& part : {used.ru_utime, used.ru_stime}) {
    times.own_seconds += static_cast<double>(part.tv_sec) + static_cast<double>(part.tv_usec) * 1e-6;
  }
  times.hardware_threads = static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
  return times;
}

bool time_is_simulated() { return false; }

std::optional<std::uint64_t> view_page_faults() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<std::uint64_t>(used.ru_minflt);
}

Terminal view_terminal(int descriptor, bool launched) {
  if (!launched) return terminal_behind(fmt::format("/proc/self/fd/{}", descriptor));
  const auto mpirun = find_mpirun();
  return mpirun ? terminal_behind(fmt::format("/proc/{}/fd/{}", *mpirun, descriptor)) : Terminal{};
}

std::string hwloc_version() {
  const unsigned version = hwloc_get_api_version();
  return fmt::format("{}.{}.{}", version >> 16U, (version >> 8U) & 0xffU, version & 0xffU);
}

}  // namespace collbench::launch
