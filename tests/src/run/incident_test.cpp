#include "src/run/incident.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "base/files.hpp"
#include "base/output_lock.hpp"
#include "base/record/run_stream.hpp"
#include "src/run/outcome.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/launch/rank_threads.hpp"

namespace collbench::program::incident_log_test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kStarted = "2026-11-23T11:37:52Z";

Run unfinished_run() {
  Run run;
  run.started = kStarted;
  run.ranks = {{.rank = 0, .host = "node0", .node = 0, .local_rank = 0}};
  run.rows.resize(2);
  return run;
}

Incident incident(const std::string& sentence) {
  RankActivity blamed;
  blamed.rank = 2;
  blamed.host = "node1";
  blamed.step = "AllReduce 8 B";
  blamed.pass = 7;
  blamed.calls.entered = 412;
  return incident_of(IncidentKind::hang, sentence, ExitStatus::rank_lost, {blamed}, {});
}

class IncidentLogTest : public ::testing::Test {
 protected:
  IncidentLogTest() {
    options_.documents = {{"-J", "json", record_}, {"--csv", "csv", csv_}};
    options_.stream_path = stream_;
    write_file_by_rename(record_, to_json_text(unfinished_run()));
    write_file_by_rename(stream_, launch_line(unfinished_run()));
    flights_ = folder_.path() / "flight";
    fs::create_directory(flights_);
  }

  [[nodiscard]] collbench::Run record() const { return run_from_json_text(read_file(record_), record_); }

  TemporaryFolder folder_;
  std::string record_ = folder_.path() / "run.json";
  std::string csv_ = folder_.path() / "run.csv";
  std::string stream_ = folder_.path() / "run.stream";
  fs::path flights_;
  RunOptions options_;
};

TEST_F(IncidentLogTest, StandsInTheRecordTheCsvAndTheStream) {
  IncidentLog log(options_, flights_);
  log.begin(kStarted, "", true);
  log.write(incident("rank 2 is stopped"));
  const collbench::Run run = record();
  ASSERT_TRUE(run.incident);
  EXPECT_EQ(run.incident->sentence, "rank 2 is stopped");
  EXPECT_THAT(run.incident->ranks, ElementsAre(IncidentRank{2, "node1"}));
  EXPECT_EQ(run.incident->step, "AllReduce 8 B");
  EXPECT_EQ(run.incident->call, 412U);
  EXPECT_EQ(run.incident->exit_status, 4);
  EXPECT_EQ(run.rows.size(), 2U);
  EXPECT_THAT(read_file(csv_), HasSubstr(",rank 2 is stopped,,node0,"));
  EXPECT_EQ(run_from_text(read_file(stream_), stream_).incident, run.incident);
}

/// A rank that hangs in MPI's end, or hosts that no longer hear of each other.
TEST_F(IncidentLogTest, WhatHappensToACompleteRunIsNoReasonToResumeIt) {
  IncidentLog log(options_, flights_);
  log.begin(kStarted, "node0", true);
  EXPECT_THAT(log.next_step(), HasSubstr("--resume"));
  const std::string before = read_file(stream_);
  log.complete();
  EXPECT_EQ(log.next_step(),
            "the run had ended, and " + stream_ + " is complete: nothing has to be run again");
  log.write(incident("nothing is heard of node1"));
  EXPECT_EQ(read_file(stream_), before);
  EXPECT_FALSE(record().incident);
  IncidentLog of_text({}, flights_);
  of_text.complete();
  EXPECT_EQ(of_text.next_step(), "the run had ended: nothing has to be run again");
}

TEST_F(IncidentLogTest, TheFirstOneStays) {
  IncidentLog log(options_, flights_);
  log.begin(kStarted, "", true);
  log.write(incident("first"));
  log.write(incident("another one"));
  EXPECT_EQ(record().incident->sentence, "first");
  const std::string stream = read_file(stream_);
  EXPECT_EQ(stream.find("another one"), std::string::npos);
}

TEST_F(IncidentLogTest, AnOrderToEndIsReplacedByWhatItFollowedFrom) {
  IncidentLog log(options_, flights_);
  log.begin(kStarted, "", true);
  Incident order = incident("interrupted by SIGTERM");
  order.kind = IncidentKind::interrupted;
  log.write_for_now(order);
  EXPECT_EQ(record().incident->sentence, "interrupted by SIGTERM");
  EXPECT_FALSE(log.learn_from_record()) << "it is no other rank's word";
  EXPECT_FALSE(log.known());
  Incident launcher = incident("mpirun is gone");
  launcher.kind = IncidentKind::interrupted;
  log.write_for_now(launcher);
  EXPECT_EQ(record().incident->sentence, "interrupted by SIGTERM");
  log.write(incident("rank 2 is gone"));
  EXPECT_EQ(record().incident->sentence, "rank 2 is gone");
  log.write_for_now(order);
  EXPECT_EQ(record().incident->sentence, "rank 2 is gone");
}

TEST_F(IncidentLogTest, OfAHostOneRankSpeaksAndTheOthersKnow) {
  IncidentLog one(options_, flights_);
  IncidentLog other(options_, flights_);
  EXPECT_FALSE(other.known());
  EXPECT_TRUE(one.claim(incident("first")));
  EXPECT_FALSE(other.claim(incident("second")));
  EXPECT_FALSE(one.claim(incident("third")));
  for (const IncidentLog* const each : {&one, &other}) {
    ASSERT_TRUE(each->known());
    EXPECT_EQ(each->known()->sentence, "first");
  }
  IncidentLog alone(options_, "");
  EXPECT_TRUE(alone.claim(incident("fourth")));
  EXPECT_EQ(alone.known()->sentence, "fourth");
}

TEST_F(IncidentLogTest, WhatAnotherHostWroteIsLearnedFromTheRecord) {
  IncidentLog here(options_, flights_);
  here.begin(kStarted, "", true);
  EXPECT_FALSE(here.learn_from_record());
  const fs::path flights_there = folder_.path() / "flight of node1";
  fs::create_directory(flights_there);
  IncidentLog there(options_, flights_there);
  there.begin(kStarted, "", true);
  there.write(incident("rank 2 (node1) is gone"));
  EXPECT_TRUE(here.learn_from_record());
  ASSERT_TRUE(here.known());
  EXPECT_EQ(here.known()->sentence, "rank 2 (node1) is gone");
  IncidentLog later(options_, folder_.path() / "flight");
  later.begin("2026-11-24T00:00:00Z", "", true);
  EXPECT_FALSE(later.learn_from_record()) << "another run's";
}

TEST_F(IncidentLogTest, FilesOfAnotherRunAreLeftAlone) {
  const std::string record_before = read_file(record_);
  const std::string stream_before = read_file(stream_);
  IncidentLog log(options_, flights_);
  log.write(incident("before there are files"));
  log.begin("2026-11-23T11:37:53Z", "", true);
  log.write(incident("of another run"));
  collbench::Run complete = unfinished_run();
  complete.complete = true;
  EXPECT_EQ(read_file(record_), record_before);
  EXPECT_EQ(read_file(stream_), stream_before);
  EXPECT_FALSE(fs::exists(csv_));
  write_file_by_rename(record_, to_json_text(complete));
  IncidentLog late(options_, flights_);
  late.begin(kStarted, "", true);
  late.write(incident("after its end"));
  EXPECT_FALSE(record().incident);
}

TEST_F(IncidentLogTest, ATornStreamStaysAsItIs) {
  std::ofstream(stream_, std::ios::app) << R"({"block":{"row)";
  const std::string before = read_file(stream_);
  IncidentLog log(options_, flights_);
  log.begin(kStarted, "", true);
  log.write(incident("rank 0 is gone"));
  EXPECT_EQ(read_file(stream_), before);
  EXPECT_TRUE(record().incident);
}

TEST_F(IncidentLogTest, AnInterruptionThatWaitsIsNotTheLastWordOfTheStream) {
  const std::string before = read_file(stream_);
  IncidentLog log(options_, flights_);
  log.begin(kStarted, "", true);
  log.write_for_now(incident("the run may still be complete after this block"));
  EXPECT_TRUE(record().incident);
  EXPECT_EQ(read_file(stream_), before);
}

TEST_F(IncidentLogTest, TheNextRunOfALostRootsRecordIsLeftAlone) {
  const std::string before = read_file(record_);
  IncidentLog log(options_, flights_);
  log.begin(kStarted, "", true);
  Incident lost = incident("rank 0 is gone");
  lost.kind = IncidentKind::rank_lost;
  lost.ranks = {{0, "node0"}};
  {
    const OutputLock next(record_, "-J");  // it has not written yet
    log.write(lost);
    EXPECT_EQ(read_file(record_), before);
    log.write(incident("rank 2 is stopped"));  // the lock is rank 0's, which lives
    EXPECT_TRUE(record().incident);
  }
}

TEST_F(IncidentLogTest, WaitsForAnotherRankThatWrites) {
  IncidentLog root(options_, flights_);
  IncidentLog other(options_, flights_);
  other.begin(kStarted, "", true);
  std::thread writer;
  {
    const IncidentLog::FileLock lock = root.lock_files();
    writer = std::thread([&] { other.write(incident("rank 2 is stopped")); });
    collbench::Run later = unfinished_run();
    later.passes = 7;
    write_file_by_rename(record_, to_json_text(later));
  }
  writer.join();
  EXPECT_EQ(record().passes, 7);
  EXPECT_TRUE(record().incident);
}

TEST_F(IncidentLogTest, SaysWhereTheResultsAre) {
  options_.stream_path.clear();
  IncidentLog log(options_, flights_);
  EXPECT_THAT(log.next_step(), HasSubstr("nothing was measured yet"));
  log.begin(kStarted, "", true);
  EXPECT_EQ(log.next_step(), "results so far are saved in " + record_);
  IncidentLog shared(options_, flights_);
  shared.begin(kStarted, "node0", true);
  EXPECT_EQ(shared.next_step(), log.next_step());
  fs::remove(record_);
  IncidentLog elsewhere(options_, flights_);
  elsewhere.begin(kStarted, "node0", true);
  EXPECT_EQ(elsewhere.next_step(),
            log.next_step() + "; " + record_ + " is on node0 and does not have this incident");
  for (const char* const host : {"", "node0"}) {
    IncidentLog full(options_, flights_);
    full.begin(kStarted, host, false);
    EXPECT_EQ(full.next_step(), "results so far may be lost: " + record_ + " could not be written");
  }
}

TEST_F(IncidentLogTest, NamesTheFilesThatHaveTheResults) {
  options_.stream_path.clear();
  EXPECT_STREQ(interruption(options_, "by SIGTERM").what(),
               ("results so far are saved in " + record_ + ", " + csv_).c_str());
  options_.documents = {{"--csv", "csv", csv_}};
  EXPECT_EQ(kept_results(options_, true), "results so far are saved in " + csv_);
  options_.documents = {{"-o", "md", "page.md"}};
  EXPECT_STREQ(interruption(options_, "").what(), "results so far are saved in page.md");
  options_.documents = {{"", "text", ""}};
  EXPECT_STREQ(interruption(options_, "").what(), "results so far are shown above");
  EXPECT_THAT(interruption(options_, "").next_step(), HasSubstr("--stream FILE"));
}

TEST(GatherPauses, HasWhatEachRankSaw) {
  launch::run_rank_threads(3, [](launch::Ranks& ranks) {
    std::vector<RankPause> seen;
    if (ranks.rank() > 0)
      seen.push_back({.rank = ranks.rank() - 1, .host = "h", .step = "s", .pass = 1, .seconds = 3});
    const std::vector<RankPause> all = gather_pauses(ranks, seen);
    ASSERT_EQ(all.size(), ranks.is_root() ? 2U : 0U);
    if (ranks.is_root()) {
      EXPECT_EQ(all[1].rank, 1);
    }
  });
}

}  // namespace
}  // namespace collbench::program::incident_log_test
