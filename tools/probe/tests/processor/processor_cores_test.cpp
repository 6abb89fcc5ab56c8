#include "tools/probe/processor/processor_cores.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.hpp"

namespace collbench::collectives::processor_cores_test {
namespace {

class SystemFolder {
 public:
  SystemFolder() {
    write("node/node0/cpulist", "0-1,4-5");
    write("node/node1/cpulist", "2-3,6-7");
    write("node/possible", "0-1");
    for (const int cpu : {0, 2}) {
      const std::string cache = "cpu/cpu" + std::to_string(cpu) + "/cache/";
      write(cache + "index0/level", "1");
      write(cache + "index0/size", "32K");
      write(cache + "index0/shared_cpu_list", std::to_string(cpu));
      write(cache + "index3/level", "3");
      write(cache + "index3/size", "32768K");
      write(cache + "index3/shared_cpu_list", cpu == 0 ? "0-1,4-5" : "2-3,6-7");
    }
    std::filesystem::copy(root() / "cpu/cpu0", root() / "cpu/cpu1", std::filesystem::copy_options::recursive);
  }
  [[nodiscard]] std::filesystem::path root() const { return folder_.file("system"); }

 private:
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((root() / name).parent_path());
    write_file_by_rename(root() / name, text + "\n");
  }
  ScratchFolder folder_;
};

TEST(ProcessorCores, CoresKnowTheirNodeAndEachCacheCountsOnce) {
  const SystemFolder system;
  const std::vector<ProbeCore> cores = cores_with_nodes({0, 1, 2}, system.root());
  EXPECT_EQ(cores, (std::vector<ProbeCore>{{0, 0}, {1, 0}, {2, 1}}));
  EXPECT_EQ(last_level_cache_bytes(cores, system.root()), 2 * 32768ULL * 1024);
  EXPECT_EQ(last_level_cache_bytes({{5, 0}}, system.root()), std::nullopt);
  EXPECT_EQ(cores_with_nodes({3}, "/nowhere"), (std::vector<ProbeCore>{{3, 0}}));
}

TEST(ProcessorCores, TheKernelNamesTheProcessor) {
  EXPECT_EQ(processor_name("processor\t: 0\nmodel name\t: AMD EPYC 9654\nflags\t: fpu\n"), "AMD EPYC 9654");
  EXPECT_EQ(
      processor_name("processor\t: 0\nCPU implementer\t: 0x41\nCPU variant\t: 0x0\nCPU part\t: 0xd4f\n"),
      "Arm implementer 0x41, part 0xd4f");
  EXPECT_EQ(processor_name("processor\t: 0\nBogoMIPS\t: 50\n"), "");
}

}  // namespace
}  // namespace collbench::collectives::processor_cores_test
