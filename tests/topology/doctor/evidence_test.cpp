#include "topology/doctor/evidence.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/text_input.hpp"
#include "tests/topology/doctor/log_check_cases.hpp"
#include "tests/topology/fixture.hpp"
#include "tests/topology/refusal.hpp"
#include "topology/doctor/checks.hpp"
#include "topology/graph/topology_json.hpp"

namespace collbench::topology {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// A folder that is gone with the test.
class EvidenceFolder {
 public:
  EvidenceFolder()
      : path_(std::filesystem::temp_directory_path() / ("collbench-evidence-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
  }
  EvidenceFolder(const EvidenceFolder&) = delete;
  EvidenceFolder& operator=(const EvidenceFolder&) = delete;
  EvidenceFolder(EvidenceFolder&&) = delete;
  EvidenceFolder& operator=(EvidenceFolder&&) = delete;
  ~EvidenceFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  void write(const std::string& name, const std::string& text) const {
    write_file_by_rename(path_ / name, text);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

TEST(Evidence, ASectionOfAQueryIsOne) {
  const auto is_query = [](const std::string& text) {
    Evidence evidence;
    return add_evidence(evidence, text, "paste.txt", "") && evidence.has("nvidia-smi-q") &&
           !evidence.whole.contains("nvidia-smi-q");
  };
  EXPECT_TRUE(is_query("    Fabric\n        State : In Progress\n"));
  EXPECT_TRUE(is_query("    Remapped Rows\n        Correctable Error : 0\n        Pending : Yes\n"));
  EXPECT_FALSE(is_query("    Fabric\n        Correctable Error : 0\n"));
}

TEST(Evidence, OneTextMayBeOfSeveralCommands) {
  Evidence evidence;
  const std::string text = "nvidia_peermem 16384 0 - Live 0x0\nNCCL_DEBUG=INFO\n\n  active_mtu: 4096 (5)\n";
  EXPECT_TRUE(add_evidence(evidence, text, "paste.txt", ""));
  EXPECT_THAT(evidence.of("lsmod"), SizeIs(3));
  EXPECT_TRUE(evidence.has("environment"));
  EXPECT_TRUE(evidence.has("ibv_devinfo"));
  EXPECT_FALSE(evidence.has("nccl-log"));
  EXPECT_EQ(evidence.of("lsmod").back().text, "active_mtu: 4096 (5)");
  EXPECT_EQ(evidence.of("lsmod").back().location, "paste.txt:4");
  EXPECT_THAT(evidence.of("kernel-log"), IsEmpty());
}

TEST(Evidence, AFolderIsReadByNamesAndByContents) {
  const EvidenceFolder folder;
  folder.write("governor.txt", "performance\n");
  folder.write("notes.md", "Nothing to see here.\n");
  folder.write("anything.log", fixture("nvlink_s.txt"));
  const Evidence evidence = read_evidence(folder.path());
  EXPECT_TRUE(evidence.has("governor"));
  EXPECT_FALSE(evidence.host.gpus.empty());
  ASSERT_THAT(evidence.notes, SizeIs(1));
  EXPECT_THAT(evidence.notes.front(), HasSubstr("notes.md"));
}

/// A node that crashed leaves zeros where its log was not yet written.
TEST(Evidence, ALogWithZerosOfACrashIsReadWithoutThem) {
  const EvidenceFolder folder;
  const std::string zeros(512, '\0');
  folder.write("job.log", "n1:1:1 [0] NCCL INFO Bootstrap: Using eth0:10.0.0.1<0>\n" + zeros + "end\n");
  const Evidence evidence = read_evidence(folder.path() / "job.log");
  EXPECT_THAT(evidence.of("nccl-log"), SizeIs(2));
  ASSERT_THAT(evidence.notes, SizeIs(1));
  EXPECT_THAT(evidence.notes.front(), HasSubstr("job.log: 512 NUL bytes are left out"));
  folder.write("machine",
               "\x7f"
               "ELF" +
                   zeros + "\x02\n");
  EXPECT_THROW(static_cast<void>(read_evidence(folder.path() / "machine")), Error);
}

/// The logs of 1,024 ranks are a gigabyte: each is read as a log of any length is, and nothing is lost that a
/// check can use.
TEST(Evidence, TheLogsOfManyRanksAreReadAsOneLongLogIs) {
  const EvidenceFolder folder;
  constexpr int kRanks = 20;
  for (int rank = 0; rank < kRanks; ++rank) {
    std::string log = fmt::format("n{0}:{0}:2 [0] NCCL INFO NCCL version 2.27.3+cuda12.9\n", rank);
    while (log.size() * kRanks <= kMaxInputBytes)
      log += fmt::format(
          "n{0}:{0}:2 [0] NCCL INFO Channel {1:02}/0 : {0}[0] -> 0[0] [send] via NET/IB/1/GDRDMA\n", rank,
          log.size() % 16);
    if (rank == 7) log += "n7:7:2 [0] net_quantum.cc:9 NCCL WARN The quantum link lost coherence\n";
    folder.write(fmt::format("rank{}.log", rank), log);
  }
  const Evidence evidence = read_evidence(folder.path());
  EXPECT_LT(evidence.of("nccl-log").size(), 40U * kRanks);
  EXPECT_THAT(found_codes(diagnose(evidence)), testing::ElementsAre("log-unknown-warning"));
}

TEST(Evidence, FilesOfTwoHostsAreRefused) {
  const EvidenceFolder folder;
  for (const std::string name : {"a", "b"}) {
    Topology topology;
    Host& host = topology.hosts.emplace_back();
    host.sources.push_back({"a test", "", ""});
    host.name.value = name;
    folder.write(name + ".json", save_topology(topology));
  }
  try {
    static_cast<void>(read_evidence(folder.path()));
    FAIL() << "two hosts became one";
  } catch (const Error& error) {
    EXPECT_THAT(error.next_step(), HasSubstr("a folder of its own"));
  }
}

TEST(Evidence, TwoOutputsOfOneCommandAreOfTwoMachines) {
  const EvidenceFolder folder;
  folder.write("a.txt", fixture("topo_m.txt"));
  folder.write("b.txt", fixture("topo_m.txt"));
  try {
    static_cast<void>(read_evidence(folder.path()));
    FAIL() << "two machines became one";
  } catch (const Error& error) {
    EXPECT_THAT(std::string(error.what()), HasSubstr("a second output of"));
  }
}

/// Syslog names the host of each line, and the kernel's own ring buffer does not.
TEST(Evidence, KernelLogsOfTwoHostsAreRefused) {
  const EvidenceFolder folder;
  const auto line = [](const std::string& host) {
    return "Mar  2 14:09:10 " + host + " kernel: NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.54.14\n";
  };
  folder.write("messages.1", line("n1") + line("n1"));
  EXPECT_TRUE(read_evidence(folder.path()).has("kernel-log"));
  folder.write("messages.2", line("n2"));
  EXPECT_THAT(refusal([&] { static_cast<void>(read_evidence(folder.path())); }),
              HasSubstr("is of host n2, other lines are of host n1"));
}

TEST(Evidence, AFolderWithoutAnyIsRefused) {
  const EvidenceFolder folder;
  folder.write("readme", "Hello.\n");
  try {
    static_cast<void>(read_evidence(folder.path()));
    FAIL() << "no evidence was taken for some";
  } catch (const Error& error) {
    EXPECT_THAT(error.next_step(), HasSubstr("doctor save"));
  }
}

TEST(Evidence, AFileOfWhichNothingIsReadSaysWhatWouldBe) {
  const EvidenceFolder folder;
  folder.write("part.log", "a letter\n");
  const std::string said = refusal([&] { static_cast<void>(read_evidence(folder.path() / "part.log")); });
  EXPECT_THAT(said, HasSubstr("part.log: no line here is one that doctor knows (it reads logs of NCCL"));
  EXPECT_THAT(said, testing::Not(HasSubstr("left out")));
  for (const auto& [text, command] :
       {std::pair{R"({"nccl_version": "2.30.7", "communicators": []})", "flight"},
        std::pair{R"({"version": "2.4", "pg_config": {}})", "flight"},
        std::pair{R"({"header": {}, "coll_perf": {}})", "inspector"},
        std::pair{"# HELP nccl_bus_bandwidth_gbs Bus bandwidth\nnccl_bus_bandwidth_gbs{} 1\n",
                  "inspector"}}) {
    folder.write("other.txt", text);
    EXPECT_THAT(refusal([&] { static_cast<void>(read_evidence(folder.path() / "other.txt")); }),
                HasSubstr(std::string("no log, but what collbench ") + command));
  }
}

/// Of a kernel that says nothing of GPUs and NICs, too; what /proc/version says is no log.
TEST(Evidence, AKernelLogIsRecognized) {
  const auto recognized = [](const std::string& text) {
    Evidence evidence;
    add_evidence(evidence, text, "a.txt", "");
    return std::pair(evidence.has("kernel-log"), evidence.whole.contains("kernel-log"));
  };
  EXPECT_EQ(recognized("[    0.000000] Linux version 6.1.0 (gcc-12)\n"), std::pair(true, true));
  EXPECT_EQ(recognized("[ 9.1] pcieport 0000:00:01.0: PME: Signaling\n"), std::pair(true, false));
  EXPECT_EQ(recognized("[ 9.1] infiniband efa_0: Failed to register mr [-12]\n"), std::pair(true, false));
  EXPECT_EQ(recognized("Linux version 6.1.0 (gcc-12)\n"), std::pair(false, false));
}

TEST(Evidence, OfTheEnvironmentOnlyWhatCollectivesReadIsKept) {
  const std::vector<std::string> variables{"PATH=/bin", "NCCL_DEBUG=INFO", "AWS_SECRET_ACCESS_KEY=x",
                                           "UCX_TLS=rc"};
  EXPECT_EQ(collective_environment(variables), "NCCL_DEBUG=INFO\nUCX_TLS=rc\n");
}

TEST(Evidence, SecretsOfTheEnvironmentAreOnlySaidToBeSet) {
  const std::vector<std::string> variables{"NCCL_IB_PKEY=7", "NCCL_TOKEN=abc",
                                           "OMPI_MCA_orte_precondition_transports=abc-def",
                                           "UCX_PROXY=http://me:abc@p", "NCCL_ODD"};
  const std::string kept = collective_environment(variables);
  EXPECT_THAT(kept, testing::Not(HasSubstr("abc")));
  EXPECT_THAT(kept, HasSubstr("NCCL_IB_PKEY=7\nNCCL_ODD\nNCCL_TOKEN=(set, not recorded)\n"));
}

TEST(Evidence, EverySourceHasAFileNameOfItsOwn) {
  std::set<std::string_view> names;
  for (const EvidenceSource& source : evidence_sources()) {
    EXPECT_TRUE(names.insert(source.name).second) << source.name;
    EXPECT_FALSE(source.description.empty());
  }
}

TEST(Evidence, ThisMachineHasSome) {
  ::setenv("NCCL_DEBUG", "INFO", 1);
  const LiveTexts live = gather_live_texts();
  EXPECT_TRUE(live.texts.contains("kernel-version"));
  EXPECT_TRUE(live.texts.contains("limits"));
  EXPECT_THAT(live.texts.at("environment"), HasSubstr("NCCL_DEBUG=INFO\n"));
  ::unsetenv("NCCL_DEBUG");
}

}  // namespace
}  // namespace collbench::topology
