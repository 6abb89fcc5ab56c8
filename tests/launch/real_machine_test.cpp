#include "launch/real_machine.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

namespace collbench::launch::real_machine_test {
namespace {

TEST(RealMachine, SeesCoresMemoryAndItself) {
  const LocalMachineView view = view_machine();
  EXPECT_FALSE(view.allowed_cores.empty());
  EXPECT_GE(view.online_cores, static_cast<int>(view.allowed_cores.size()));
  EXPECT_GT(view.available_memory_bytes, 1U << 20U);
  EXPECT_EQ(view.program_id.size(), 40U) << "the SHA-1 that the linker is asked for: " << view.program_id;
  EXPECT_EQ(view.program_id, view_machine().program_id);
}

TEST(RealMachine, AGpuIsSeenAlsoWhereTheBusIsHidden) {
  const std::filesystem::path root =
      std::filesystem::temp_directory_path() / ("nvidia_devices." + std::to_string(::getpid()));
  const auto add = [&root](const std::string& path, const std::string& text = "") {
    std::filesystem::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text << "\n";
  };
  EXPECT_EQ(nvidia_devices(root), 0);
  for (const char* other : {"nvidiactl", "nvidia-uvm", "nvidia", "null", "nvidia-caps/nvidia-cap1"})
    add(std::string("dev/") + other);
  add("sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de");
  add("sys/bus/pci/devices/0000:01:00.0/class", "0x020700");  // of that vendor, and a NIC
  EXPECT_EQ(nvidia_devices(root), 0);
  add("dev/nvidia0");
  add("dev/nvidia11");
  EXPECT_EQ(nvidia_devices(root), 2) << "devices alone";
  add("proc/driver/nvidia/gpus/0000:18:00.0/information");
  EXPECT_EQ(nvidia_devices(root), 1) << "what the driver lists";
  for (const char* address : {"0000:18:00.0", "0000:19:00.0", "0000:1a:00.0"}) {
    add(std::string("sys/bus/pci/devices/") + address + "/vendor", "0x10de");
    add(std::string("sys/bus/pci/devices/") + address + "/class", "0x030200");
  }
  EXPECT_EQ(nvidia_devices(root), 3) << "the bus";
  std::filesystem::remove_all(root);
}

TEST(RealMachine, OwnCpuTimeIsPartOfTheHosts) {
  const CpuTimes before = view_cpu_times();
  CpuTimes after = view_cpu_times();
  while (after.own_seconds < before.own_seconds + 0.1) after = view_cpu_times();
  // The kernel counts the host's in ticks of 10 ms.
  EXPECT_GE(after.host_busy_seconds - before.host_busy_seconds, 0.05);
  EXPECT_GE(after.hardware_threads, 1);
}

TEST(RealMachine, CountsAPageFaultForEachPageOfFreshMemory) {
  constexpr std::size_t kPages = 300;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const memory =
      mmap(nullptr, kPages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  madvise(memory, kPages * page, MADV_NOHUGEPAGE);  // where there are none it fails, and all is well
  const std::uint64_t before = view_page_faults().value();
  for (std::size_t i = 0; i < kPages; ++i) static_cast<volatile char*>(memory)[i * page] = 1;
  const std::uint64_t first = view_page_faults().value() - before;
  EXPECT_GE(first, kPages);
  for (std::size_t i = 0; i < kPages; ++i) static_cast<volatile char*>(memory)[i * page] = 2;
  EXPECT_LT(view_page_faults().value() - before - first, 5);
  munmap(memory, kPages * page);
}

TEST(RealMachine, SeesABinding) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(view_machine().allowed_cores.size(), 1U);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

TEST(RealMachine, IsNotDeceivedByTheVariablesOfHwloc) {
  const LocalMachineView honest = view_machine();
  for (const auto& [variable, value] :
       {std::pair("HWLOC_SYNTHETIC", "pack:3 core:5 pu:1"), std::pair("HWLOC_XMLFILE", "/no/such/file")}) {
    ASSERT_EQ(setenv(variable, value, 1), 0);
    const LocalMachineView view = view_machine();
    ASSERT_EQ(unsetenv(variable), 0);
    EXPECT_EQ(view.allowed_cores, honest.allowed_cores) << variable;
    EXPECT_EQ(view.online_cores, honest.online_cores) << variable;
  }
}

TEST(RealMachine, KnowsATerminalAndItsWidthFromAFile) {
  int controller = -1;
  int terminal = -1;
  ASSERT_EQ(openpty(&controller, &terminal, nullptr, nullptr, nullptr), 0);
  winsize size{.ws_row = 40, .ws_col = 97, .ws_xpixel = 0, .ws_ypixel = 0};
  ASSERT_EQ(ioctl(terminal, TIOCSWINSZ, &size), 0);
  EXPECT_TRUE(view_terminal(terminal, false).is_terminal);
  EXPECT_EQ(view_terminal(terminal, false).columns, 97);
  const int null = open("/dev/null", O_WRONLY);
  EXPECT_FALSE(view_terminal(null, false).is_terminal);
  close(null);
  close(terminal);
  close(controller);
}

/// Ranks that must not communicate.
class SilentRanks : public Ranks {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 2; }
  void barrier() override { FAIL(); }
  void broadcast(std::span<std::byte> /*bytes*/, int /*root*/) override { FAIL(); }
  [[nodiscard]] std::vector<std::string> all_gather(const std::string& /*text*/) override {
    ADD_FAILURE();
    return {};
  }
  [[nodiscard]] std::vector<std::string> gather(const std::string& /*text*/) override {
    ADD_FAILURE();
    return {};
  }
  void reduce(std::span<double> /*values*/, RankAggregate /*how*/) override { FAIL(); }
};

// The simulator's side is tested by tests/simgrid: its rows are off by a latency without it.
TEST(RealMachine, AddsNothingToABarrier) {
  SilentRanks ranks;
  EXPECT_FALSE(exact_barrier(ranks));
}

}  // namespace
}  // namespace collbench::launch::real_machine_test
