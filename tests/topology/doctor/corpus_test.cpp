// Published files of real machines, where COLLBENCH_CORPUS has them: what a careful reader finds in each, and
// nothing in any other.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "topology/doctor/checks.hpp"

namespace collbench::topology {
namespace {

namespace fs = std::filesystem;

/// By reading them: the manifest's own notes (interleaved runs without MPI, one GPU of an SXM board without a
/// link, six flaps, MIG, pages to be retired), "via NET/IB/2" without GDRDMA, an [ERROR] line, a setting
/// in a script, and a program that was not there at the first try.
const std::map<std::string, std::string>& expected_findings() {
  static const std::map<std::string, std::string> expected{
      {"nccl-tests/mew0_2xa100_NVLINKFAULT_debug.log", "log-nvlink-unequal"},
      {"nccl-tests/s114_all2all.log", "log-separate-runs"},
      {"nccl-tests/s114_all_gather_2gpu.log", "log-no-gpudirect"},
      {"nccl-tests/s114_all_reduce_1node_2gpu.log", "log-separate-runs log-mpi-program"},
      {"nccl-tests/s114_all_reduce_2gpu.log", "log-separate-runs"},
      {"nccl-xml/mew0_NVLINK_FAILURE_SIMULATION.md", "setting-costly"},
      {"tools/azure_bad_nvsmi8.txt", "row-remap-failed"},
      {"tools/azure_ib_6flap_syslog.txt", "link-flapping"},
      {"tools/fabricmanager_gpud.log", "fabric-manager-error"},
      {"tools/nvlink-s/azure_bad_inactive.txt", "nvlink-inactive"},
      {"tools/nvlink-s/vm_1xh100_mig_drv590.txt", "mig-on"},
      {"tools/nvsmi-capture/linux-x86_64__nvidia-h100-mig__590.48.01.txt", "mig-on"},
      {"tools/nvsmi-xml/a100-sxm4-v12.xml", "mig-on"},
  };
  return expected;
}

TEST(DoctorCorpus, FindsWhatACarefulReaderFindsAndNothingElse) {
  const char* corpus = std::getenv("COLLBENCH_CORPUS");  // NOLINT(concurrency-mt-unsafe)
  if (corpus == nullptr) GTEST_SKIP() << "COLLBENCH_CORPUS is not set";
  std::size_t looked_at = 0;
  std::size_t found_files = 0;
  for (const char* folder : {"hwloc-xml", "nccl-xml", "nccl-tests", "tools", "topo-m"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(corpus) / folder)) {
      if (!entry.is_regular_file()) continue;
      const std::string name = fs::relative(entry.path(), corpus).string();
      std::vector<std::string> codes;
      try {
        for (const DoctorFinding& finding : diagnose(read_evidence(entry.path())).findings)
          codes.emplace_back(finding.check.code);
      } catch (const Error&) {
        continue;  // nothing that a check could use
      }
      ++looked_at;
      const auto expected = expected_findings().find(name);
      if (expected == expected_findings().end()) {
        EXPECT_THAT(codes, testing::IsEmpty()) << name;
      } else {
        ++found_files;
        EXPECT_EQ(fmt::format("{}", fmt::join(codes, " ")), expected->second) << name;
      }
    }
  }
  EXPECT_EQ(found_files, expected_findings().size());
  EXPECT_GT(looked_at, 80U);
}

}  // namespace
}  // namespace collbench::topology
