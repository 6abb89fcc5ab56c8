#include "topology/doctor/evidence.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "base/text_input.hpp"
#include "tests/topology/doctor/log_check_cases.hpp"
#include "tests/topology/doctor/nccl_message_cases.hpp"
#include "tests/topology/doctor/node_message_cases.hpp"
#include "topology/doctor/checks.hpp"
#include "topology/doctor/jobs.hpp"
#include "topology/doctor/nccl_messages.hpp"

namespace collbench::topology {
namespace {

/// Longer than what is read as a whole, and still each connection counts, and what NCCL said once is found.
TEST(LongLog, IsReadAsAShortOneWouldBe) {
  const std::filesystem::path path =
      std::filesystem::path(testing::TempDir()) / "collbench_long_log_test.log";
  std::ofstream file(path);
  file << "n1:1:1 [0] NCCL INFO NCCL version 2.27.3+cuda12.9\n";
  std::size_t bytes = 0;
  std::size_t connections = 0;
  for (; bytes <= kMaxInputBytes; ++connections) {
    const std::string line = fmt::format(
        "n{}:1:2 [0] NCCL INFO Channel 00/0 : {}[0] -> 0[0] [receive] via NET/IB/1/GDRDMA\nstep {} loss "
        "0.1\n",
        connections % 97, connections, connections);
    file << line;
    bytes += line.size();
  }
  file << "n1:1:2 [0] NCCL INFO Channel 00/0 : 3[0] -> 0[0] [receive] via NET/IB/1\n"
       << "n1:1:2 [0] net_quantum.cc:9 NCCL WARN The quantum link lost coherence\n";
  constexpr int kRanks = 40;  // more lines of one kind than are kept of others
  for (int rank = 0; rank < kRanks; ++rank)
    file << fmt::format(
        "n1:{0}:2 [0] NCCL INFO Init timings - ncclCommInitRank: rank {0} nranks 40 total 9.1 (kernels 0.2, "
        "alloc {1}, "
        "bootstrap 8.2, allgathers 0.1, topo 0.1, graphs 0.0, connections 0.1, rest 0.0)\n",
        rank, rank == 23 ? "8.5" : "0.1");
  file.close();
  const std::vector<EvidenceLine> lines = read_long_log(path);
  EXPECT_LT(lines.size(), 40U + kRanks);
  const Diagnosis diagnosis = diagnose(read_evidence(path));
  std::filesystem::remove(path);
  ASSERT_THAT(found_codes(diagnosis),
              testing::ElementsAre("log-no-gpudirect", "log-init-straggler", "log-unknown-warning"));
  EXPECT_THAT(diagnosis.findings.at(1).observations,
              testing::ElementsAre(
                  testing::Field(&DoctorObservation::what, testing::HasSubstr("rank 23 (n1:23): alloc"))));
  EXPECT_THAT(diagnosis.findings.front().observations.front().what,
              testing::HasSubstr(fmt::format("1 of {} connections", connections + 1)));
  EXPECT_THAT(diagnosis.findings.back().observations.front().location,
              testing::EndsWith(fmt::format(":{}", 2 * connections + 3)));
}

/// The number by which one of many processes ended is kept, what a plugin says without NCCL's name, and what
/// stands behind the zeros of a crash.
TEST(LongLog, KeepsHowProcessesEnded) {
  const std::filesystem::path path =
      std::filesystem::path(testing::TempDir()) / "collbench_long_log_ends_test.log";
  {
    std::ofstream file(path);
    for (int task = 0; task < 64; ++task)
      file << fmt::format("srun: error: n{0}: task {0}: Exited with exit code {1}\n", task,
                          task == 30 ? 137 : 1);
    file << "NET/IBP:Got completion from peer 10.0.0.2<4000> with status=12\n";
    file << std::string(5000, '\0') << "srun: error: n7: task 7: Out Of Memory\n";
  }
  const std::vector<EvidenceLine> lines = read_long_log(path);
  std::filesystem::remove(path);
  const auto has = [&lines](const std::string& text) {
    return std::any_of(lines.begin(), lines.end(),
                       [&text](const EvidenceLine& line) { return line.text == text; });
  };
  EXPECT_TRUE(has("srun: error: n30: task 30: Exited with exit code 137"));
  EXPECT_TRUE(has("srun: error: n7: task 7: Out Of Memory"));
  EXPECT_TRUE(has("NET/IBP:Got completion from peer 10.0.0.2<4000> with status=12"));
  EXPECT_EQ(lines.back().location, path.string() + ":66");
}

/// A long log is read by the texts of all blocks and by signs of an error; daemons' errors are known by their
/// form.
TEST(LongLog, KeepsALineOfEachBlock) {
  const std::filesystem::path path =
      std::filesystem::path(testing::TempDir()) / "collbench_long_log_blocks_test.log";
  std::vector<std::string> lines{"E0116 15:56:51.763612    1363 a.go:196] it is gone",
                                 "kubelet[7]: F0116 15:56:51.763612    1363 a.go:196] it is gone",
                                 "time=\"7\" level=fatal msg=\"it is gone\""};
  for (const auto* const blocks : {&lines_of_blocks(), &lines_of_node_blocks()})
    for (const auto& [code, line] : *blocks) lines.push_back(line);
  {
    std::ofstream file(path);
    for (const std::string& line : lines) file << line << '\n';
  }
  std::string kept;
  for (const EvidenceLine& line : read_long_log(path)) kept += line.text + '\n';
  std::filesystem::remove(path);
  for (const std::string& line : lines) EXPECT_THAT(kept, testing::HasSubstr(trim(line)));
  for (const std::string_view text : texts_of_all_lines()) EXPECT_GE(text.size(), 6U) << text;  // their start
}

/// Which process is of which job is known of all, not only of the first ones.
TEST(LongLog, ItsJobsAreReadApart) {
  const std::filesystem::path path =
      std::filesystem::path(testing::TempDir()) / "collbench_long_log_jobs_test.log";
  std::ofstream file(path);
  constexpr int kRanks = 30;  // of each job
  for (int rank = 0; rank < 2 * kRanks; ++rank)
    file << fmt::format(
        "n{0}:7:8 [0] NCCL INFO ncclCommInitRank comm 0x1 rank {1} nranks 30 cudaDev 0 nvmlDev 0 busId 1000 "
        "commId "
        "0x{2} - Init COMPLETE\n",
        rank, rank % kRanks, rank < kRanks ? "aa" : "bb");
  file << std::string(kMaxInputBytes, '\n');
  file << "n45:7:8 [0] net_quantum.cc:9 NCCL WARN The quantum link lost coherence\n"
       << "n5:7:8 [0] NCCL INFO Connected all rings\n";
  file.close();
  const std::vector<JobEvidence> jobs = jobs_in(read_evidence(path));
  std::filesystem::remove(path);
  ASSERT_THAT(jobs, testing::SizeIs(2));
  EXPECT_THAT(found_codes(diagnose(jobs[0].evidence)), testing::IsEmpty());
  EXPECT_THAT(found_codes(diagnose(jobs[1].evidence)), testing::ElementsAre("log-unknown-warning"));
}

TEST(CutLog, ALogWithItsHeadingHasLostNoTable) {
  const std::string end =
      "n1:1:1 [0] NCCL INFO comm 0x5599 rank 0 nranks 16 cudaDev 0 busId 4000 - Destroy COMPLETE\n";
  EXPECT_THAT(found_codes(diagnose(evidence_of({{"", end}}))), testing::Contains("log-beginning-lost"));
  EXPECT_THAT(
      found_codes(diagnose(evidence_of({{"", "# nThread 1 nGpus 1 minBytes 8 maxBytes 1024\n" + end}}))),
      testing::IsEmpty());
}

}  // namespace
}  // namespace collbench::topology
