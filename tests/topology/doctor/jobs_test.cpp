#include "topology/doctor/jobs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/topology/doctor/log_check_cases.hpp"
#include "tests/topology/refusal.hpp"
#include "topology/doctor/checks.hpp"

namespace collbench::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Files = std::vector<std::pair<std::string, std::string>>;

/// Before a communicator is complete NCCL says that it found no network, or has found one.
constexpr const char* kNoProvider = "n9:20:20 [0] NCCL INFO NET/OFI No eligible providers were found\n";
constexpr const char* kProvider = "n1:10:20 [0] NCCL INFO NET/OFI Selected Provider is efa (found 4 nics)\n";

std::string begins(const std::string& process) {
  return process + ":20 [0] NCCL INFO Bootstrap: Using eth0:10.0.0.1<0>\n" + process +
         ":20 [0] NCCL INFO NCCL version 2.26.2+cuda12.2\n";
}

/// What a rank says of a communicator.
std::string rank_says(const std::string& process, int rank, int ranks, const std::string& hash,
                      const std::string& what) {
  return fmt::format(
      "{}:20 [0] NCCL INFO ncclCommInitRank comm 0x1 rank {} nranks {} cudaDev 0 nvmlDev 0 busId 901000 "
      "commId "
      "0x{} - Init {}\n",
      process, rank, ranks, hash, what);
}

/// The start of a job of two ranks; `says` stands in it.
std::string job_of(const std::string& host, const std::string& hash, const std::string& says = "") {
  std::string log = begins(host + ":10") + begins(host + ":11") + says;
  for (const std::string what : {"START", "COMPLETE"})
    log += rank_says(host + ":10", 0, 2, hash, what) + rank_says(host + ":11", 1, 2, hash, what);
  return log;
}

/// NAME: CODES, and whether anything is healthy.
std::vector<std::string> jobs_of(const Files& files) {
  Evidence evidence;
  for (const auto& [name, text] : files) add_evidence(evidence, text, name, "nccl-log");
  evidence.whole.clear();  // each job by its own lines
  std::vector<std::string> said;
  for (const JobEvidence& job : jobs_in(evidence))
    said.push_back(fmt::format("{}: {}{}", job.name, fmt::join(found_codes(diagnose(job.evidence)), " "),
                               job.evidence.whole.contains("nccl-log") ? "" : "(not whole)"));
  return said;
}

TEST(Jobs, FilesOfTwoAreReadApart) {
  EXPECT_THAT(jobs_of({{"a.log", job_of("n1", "47", kProvider)}, {"b.log", job_of("n9", "99", kNoProvider)}}),
              ElementsAre("a.log: ", "b.log: log-no-provider"));
}

TEST(Jobs, RanksThatShareACommunicatorAreOne) {
  const std::string first = begins("n1:10") + rank_says("n1:10", 0, 2, "47", "COMPLETE");
  const std::string second = begins("n2:10") + rank_says("n2:10", 1, 2, "47", "COMPLETE");
  EXPECT_THAT(jobs_of({{"0.log", first}, {"1.log", second}, {"launcher.log", "# nThread 1 nGpus 1\n"}}),
              IsEmpty());
  EXPECT_THAT(jobs_of({{"0.log", first}, {"1.log", second}, {"b.log", job_of("n9", "99")}}),
              ElementsAre("0.log and 1 more file: ", "b.log: "));
}

/// Tensor parallel groups share no communicator, and each of their ranks one with the next group's.
TEST(Jobs, CommunicatorsThatShareAProcessAreOne) {
  std::string log;
  for (int rank = 0; rank < 4; ++rank) {
    const std::string process = fmt::format("n1:1{}", rank);
    log += rank_says(process, rank % 2, 2, rank < 2 ? "a1" : "a2", "COMPLETE") +
           rank_says(process, rank / 2, 2, rank % 2 == 0 ? "b1" : "b2", "COMPLETE");
  }
  EXPECT_THAT(jobs_of({{"a.log", log}}), IsEmpty());
}

TEST(Jobs, OneAfterTheOtherInAFileAreReadApart) {
  EXPECT_THAT(jobs_of({{"a.log", job_of("n1", "47", kProvider) + "Traceback: no CUDA\n# nThread 1 nGpus 1\n" +
                                     job_of("n9", "99", kNoProvider) + "bye\n"}}),
              ElementsAre("a.log:1-10: ", "a.log:11-21: log-no-provider"));
}

/// The pod is the same, and so is the number of its first process.
TEST(Jobs, AContainerThatBeganAgainIsAnother) {
  EXPECT_THAT(jobs_of({{"a.log", job_of("n1", "47", kProvider) + job_of("n1", "99", kNoProvider)}}),
              ElementsAre("a.log:1-9: ", "a.log:10-18: log-no-provider"));
}

/// It names no communicator, since it came to none.
TEST(Jobs, OneThatFailedBeforeItsStartIsAnother) {
  EXPECT_THAT(jobs_of({{"a.log", job_of("n1", "47", kProvider) + begins("n9:20") + kNoProvider}}),
              ElementsAre("a.log:1-9: ", "a.log:10-12: log-no-provider(not whole)"));
  EXPECT_THAT(jobs_of({{"a.log", job_of("n1", "47", kProvider)}, {"b.log", begins("n9:20") + kNoProvider}}),
              ElementsAre("a.log: ", "b.log: log-no-provider(not whole)"));
}

/// Of what no process of NCCL wrote nobody knows whose it is.
TEST(Jobs, SideBySideInAFileBothHaveWhatNobodySigned) {
  const std::string log = rank_says("n1:10", 0, 2, "47", "START") + rank_says("n9:10", 0, 2, "99", "START") +
                          "RuntimeError: NCCL error: unhandled system error\n" +
                          rank_says("n1:10", 0, 2, "47", "COMPLETE") +
                          rank_says("n9:10", 0, 2, "99", "COMPLETE");
  const std::vector<std::string> said = jobs_of({{"a.log", log}});
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[0].substr(said[0].find(": ")), said[1].substr(said[1].find(": ")));
  EXPECT_THAT(said[0], HasSubstr("a.log:1-5: log-job-failed"));
}

/// nccl-tests without MPI: log-separate-runs needs all of them.
TEST(Jobs, RanksThatMeasureAloneAreOneLaunch) {
  const std::string log = begins("n1:10") + begins("n1:11") + rank_says("n1:10", 0, 1, "47", "COMPLETE") +
                          rank_says("n1:11", 0, 1, "99", "COMPLETE");
  EXPECT_THAT(jobs_of({{"a.log", log}}), IsEmpty());
  EXPECT_THAT(jobs_of({{"a.log", begins("n1:10") + rank_says("n1:10", 0, 1, "47", "COMPLETE") +
                                     begins("n1:11") + rank_says("n1:11", 0, 1, "99", "COMPLETE")}}),
              testing::SizeIs(2));
}

/// Ranks' logs in which only PyTorch speaks are one job's, and none of a job that names itself.
TEST(Jobs, LogsThatNameNoCommunicatorAreApart) {
  const std::string warns = "n9:20:20 [0] NCCL WARN The quantum link lost coherence\n";
  EXPECT_THAT(jobs_of({{"a.log", warns}, {"b.log", "# nThread 1 nGpus 1\n"}}), IsEmpty());
  EXPECT_THAT(jobs_of({{"r0.log", begins("n1:1")}, {"r1.log", begins("n1:2")}}), IsEmpty()) << "NCCL 2.16";
  EXPECT_THAT(jobs_of({{"a.log", job_of("n1", "47")}, {"b.log", warns}, {"c.log", warns}}),
              ElementsAre("a.log: ", "b.log and 1 more file: log-unknown-warning(not whole)"));
}

/// Which could be of two jobs, of which one found a network.
TEST(Jobs, LogsThatNameNoCommunicatorClearNothing) {
  const std::string channels =
      "n1:1:2 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/1/GDRDMA\n";
  Evidence evidence;
  add_evidence(evidence, begins("n1:1") + channels + channels, "a.log", "");
  EXPECT_THAT(diagnose(evidence).healthy, Not(IsEmpty()));
  add_evidence(evidence, channels, "b.log", "");
  const Diagnosis of_both = diagnose(evidence);
  EXPECT_THAT(of_both.healthy, IsEmpty());
  EXPECT_THAT(of_both.notes, testing::Contains(HasSubstr("may be of several jobs")));
}

TEST(Jobs, MoreThanAnybodyReadsAreRefused) {
  std::string log;
  for (int job = 1; job <= 1000; ++job) log += job_of(fmt::format("n{}", job), fmt::format("{:x}", job));
  EXPECT_EQ(jobs_of({{"a.log", log}}).size(), 1000U);
  EXPECT_THAT(refusal([&] { static_cast<void>(jobs_of({{"a.log", log + job_of("n1001", "fff")}})); }),
              HasSubstr("a.log: holds the lines of 1001 jobs; give each job a file of its own"));
}

}  // namespace
}  // namespace collbench::topology
