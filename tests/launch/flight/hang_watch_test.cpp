#include "launch/flight/hang_watch.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "launch/flight/flight_folder.hpp"

namespace collbench::launch::hang_watch_test {
namespace {

namespace fs = std::filesystem;

constexpr int kLooksPerSecond = static_cast<int>(1 / HangWatch::kLookSeconds);

/// Looks until something is to be done, at most so many seconds of looks; how many it took.
struct Watched {
  HangWatch::Look look;
  double seconds = 0;
};
Watched watch(HangWatch& hang, double seconds) {
  for (int i = 1; i <= seconds * kLooksPerSecond; ++i) {
    HangWatch::Look look = hang.look();
    if (look.action != HangAction::none) return {std::move(look), i * HangWatch::kLookSeconds};
  }
  return {};
}

class HangWatchTest : public ::testing::Test {
 protected:
  HangWatchTest() {
    std::string pattern = fs::temp_directory_path() / "hang-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~HangWatchTest() override { fs::remove_all(folder_); }

  [[nodiscard]] std::unique_ptr<FlightRecorder> recorder(int rank) const {
    return std::make_unique<FlightRecorder>(
        FlightIdentity{.rank = rank, .ranks = 2, .local_ranks = 2, .host = "h", .gpu = ""}, folder_);
  }

  /// A rank of its own process, inside a call; it stops itself when it is there.
  [[nodiscard]] pid_t other_rank(int rank) const {
    const pid_t child = ::fork();
    if (child == 0) {
      const auto own = recorder(rank);
      own->step("first");
      own->step("AllReduce 8 B");
      own->calls().enter();
      std::raise(SIGSTOP);
      ::pause();
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, WUNTRACED), child);
    return child;
  }

  static void end(pid_t child) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }

  fs::path folder_;
};

TEST_F(HangWatchTest, AStepWithoutProgressEndsAtItsTimeout) {
  const auto own = recorder(0);
  own->step("AllReduce 8 B");
  HangWatch hang(*own, 10, 0, true);
  const Watched seen = watch(hang, 20);
  EXPECT_EQ(seen.look.action, HangAction::end_timeout);
  EXPECT_NEAR(seen.seconds, 10, 0.5);
  ASSERT_EQ(seen.look.ranks.size(), 1U);
}

TEST_F(HangWatchTest, TimeInWhichMpirunIsStoppedDoesNotCountAndARankThatDiesIsReportedAllTheSame) {
  const auto own = recorder(0);
  own->step("AllReduce 8 B");
  HangWatch hang(*own, 10, 0, true);
  EXPECT_EQ(watch(hang, 6).look.action, HangAction::none);
  for (int i = 0; i < 100 * kLooksPerSecond; ++i)
    ASSERT_EQ(hang.look(false, true).action, HangAction::none) << i;
  EXPECT_EQ(watch(hang, 3.5).look.action, HangAction::none);
  const pid_t other = other_rank(1);
  end(other);
  EXPECT_EQ(hang.look(false, true).action, HangAction::report_gone);
}

TEST_F(HangWatchTest, EveryStepAndEveryCallHasTheWholeTime) {
  const auto own = recorder(0);
  HangWatch hang(*own, 10, 0, true);
  for (int i = 0; i < 5; ++i) {
    own->step("short");
    EXPECT_EQ(watch(hang, 9).look.action, HangAction::none);
    own->calls().enter();
    EXPECT_EQ(watch(hang, 9).look.action, HangAction::none);
  }
}

TEST_F(HangWatchTest, NeitherAStepWithoutLimitNorATimeoutOfZeroEnds) {
  const auto own = recorder(0);
  HangWatch hang(*own, 10, 0, true);
  own->step_without_limit("as many iterations as asked");
  EXPECT_EQ(watch(hang, 100).look.action, HangAction::none);
  own->step("short");
  EXPECT_NEAR(watch(hang, 20).seconds, 10, 1);
  HangWatch none(*own, 0, 0, true);
  EXPECT_EQ(watch(none, 100).look.action, HangAction::none);
}

TEST_F(HangWatchTest, AStoppedRankIsSeenByTheFirstThatLives) {
  const pid_t other = other_rank(0);
  const auto own = recorder(1);
  own->step("first");
  own->step("AllReduce 8 B");
  own->calls().enter();
  HangWatch hang(*own, 10, 1, true);
  const Watched seen = watch(hang, 20);
  EXPECT_EQ(seen.look.action, HangAction::end_timeout);
  EXPECT_NEAR(seen.seconds, 10, 0.5);  // rank 0 cannot speak
  ASSERT_EQ(seen.look.ranks.size(), 2U);
  EXPECT_EQ(seen.look.ranks[0].process, ProcessState::stopped);
  end(other);
}

TEST_F(HangWatchTest, WhoIsNotTheFirstLetsTheFirstSpeak) {
  const pid_t other = other_rank(0);
  ::kill(other, SIGCONT);
  const auto own = recorder(1);
  own->step("AllReduce 8 B");
  own->calls().enter();
  HangWatch hang(*own, 10, 1, true);
  const Watched seen = watch(hang, 30);
  EXPECT_EQ(seen.look.action, HangAction::end_timeout);
  EXPECT_NEAR(seen.seconds, 15, 0.5);
  end(other);
}

TEST_F(HangWatchTest, WhereOneHasSpokenTheOthersWaitToBeEnded) {
  const auto own = recorder(1);
  own->step("start of MPI");
  own->exchanges().enter();
  const pid_t first = ::fork();
  if (first == 0) {
    recorder(0).release()->finish();  // its file stays, as behind _Exit
    ::_exit(0);
  }
  ::waitpid(first, nullptr, 0);
  HangWatch hang(*own, 10, 1, true);
  const Watched seen = watch(hang, 30);
  EXPECT_NEAR(seen.seconds, 15, 0.5);
  EXPECT_EQ(seen.look.action, HangAction::end_silently);
}

TEST_F(HangWatchTest, ARankThatWasAskedToEndAndHangsStillSaysSo) {
  const auto own = recorder(0);
  own->step("AllReduce 8 B");
  HangWatch hang(*own, 10, 0, true);
  static_cast<void>(hang.look(true));
  const Watched seen = watch(hang, 30);
  EXPECT_EQ(seen.look.action, HangAction::end_timeout);
  EXPECT_NEAR(seen.seconds, 10, 0.5);
}

TEST_F(HangWatchTest, AHostWhereAllWaitLetsOneThatKnowsMoreSpeak) {
  const auto own = recorder(0);
  own->step("AllReduce 8 B");
  own->calls().enter();
  HangWatch root(*own, 10, 0, false);
  EXPECT_NEAR(watch(root, 30).seconds, 11, 0.5);
  const auto other = recorder(3);
  fs::remove(folder_ / "rank-0");  // of another host
  other->step("AllReduce 8 B");
  other->calls().enter();
  HangWatch hang(*other, 10, 3, false);
  EXPECT_NEAR(watch(hang, 40).seconds, 25, 0.5);  // mpirun needs some seconds to end it
}

TEST_F(HangWatchTest, AHostThatWasAskedToEndBecauseAnotherOneSpokeSaysNothing) {
  const auto own = recorder(0);
  own->step("AllReduce 8 B");
  own->calls().enter();
  HangWatch hang(*own, 10, 0, false);
  EXPECT_EQ(watch(hang, 10.5).look.action, HangAction::none);
  static_cast<void>(hang.look(true));
  EXPECT_EQ(watch(hang, 30).look.action, HangAction::end_silently);

  own->calls().leave();  // progress, and a new hang, whose user is told
  static_cast<void>(hang.look(true));
  own->calls().enter();
  EXPECT_EQ(watch(hang, 30).look.action, HangAction::end_timeout);
}

TEST_F(HangWatchTest, WhatAnotherRankOfThisHostDoesGivesTheWholeTimeAnew) {
  const auto own = recorder(0);
  const auto other = recorder(1);
  own->step("AllReduce 8 B");
  other->step("AllReduce 8 B");
  HangWatch hang(*own, 10, 0, true);
  EXPECT_EQ(watch(hang, 2).look.action, HangAction::none);
  other->calls().enter();
  const Watched seen = watch(hang, 30);
  EXPECT_EQ(seen.look.action, HangAction::end_timeout);
  EXPECT_NEAR(seen.seconds, 10.5, 1);
}

TEST_F(HangWatchTest, ARankThatDiesIsReportedAtOnceAndEndsTheOthersWhenNobodyElseDoes) {
  const pid_t other = other_rank(0);
  const auto own = recorder(1);
  own->step("first");
  own->step("AllReduce 8 B");
  HangWatch hang(*own, 100, 1, true);
  EXPECT_EQ(watch(hang, 2).look.action, HangAction::none);
  end(other);
  const Watched seen = watch(hang, 1);
  EXPECT_EQ(seen.look.action, HangAction::report_gone);
  ASSERT_EQ(seen.look.ranks.size(), 2U);
  EXPECT_EQ(seen.look.ranks[0].process, ProcessState::gone);
  const Watched then = watch(hang, 10);
  EXPECT_EQ(then.look.action, HangAction::end_gone);
  EXPECT_NEAR(then.seconds, 3, 0.5);
}

TEST_F(HangWatchTest, ARankThatWasStoppedAndWentOnIsNotedByTheOneThatLooksAfterIt) {
  const pid_t other = other_rank(0);
  const auto own = recorder(1);
  own->step("first");
  own->step("AllReduce 8 B");
  HangWatch hang(*own, 100, 1, true);
  EXPECT_EQ(watch(hang, 1).look.action, HangAction::none);
  ::usleep(600'000);
  EXPECT_EQ(watch(hang, 1).look.action, HangAction::none);
  EXPECT_TRUE(hang.pauses().empty()) << "it may never go on";
  ::kill(other, SIGCONT);
  const auto runs = [&] { return read_flight_file(folder_ / "rank-0").process == ProcessState::running; };
  while (!runs()) ::usleep(1000);
  EXPECT_EQ(hang.pauses().size(), 1U) << "the end of the run may come before the next look";
  own->calls().enter();  // with it the others go on
  EXPECT_EQ(watch(hang, 1).look.action, HangAction::none);
  ASSERT_EQ(hang.pauses().size(), 1U);
  EXPECT_EQ(hang.pauses()[0].rank, 0);
  EXPECT_EQ(hang.pauses()[0].host, "h");
  EXPECT_EQ(hang.pauses()[0].step, "AllReduce 8 B");
  EXPECT_GE(hang.pauses()[0].seconds, 0.6);
  end(other);
}

TEST_F(HangWatchTest, ARankThatEndsOnPurposeIsNotReported) {
  const auto own = recorder(1);
  own->step("first");
  own->step("AllReduce 8 B");
  HangWatch hang(*own, 100, 1, true);
  {
    const auto other = recorder(0);
    EXPECT_EQ(watch(hang, 2).look.action, HangAction::none);
  }
  EXPECT_EQ(watch(hang, 20).look.action, HangAction::none);
}

/// Two hosts of one rank; of this one nobody else knows.
class HangWatchOfHosts : public HangWatchTest {
 protected:
  explicit HangWatchOfHosts(int rank = 0)
      : own_(recorder(rank)),
        hosts_(std::make_shared<HostWatch>(Identities{{.rank = 0, .host = "h", .node = 0, .local_rank = 0},
                                                      {.rank = 1, .host = "i", .node = 1, .local_rank = 0}},
                                           rank, 10 * kLooksPerSecond)),
        hang_(*own_, 10, rank, false) {
    hosts_->begin({{.rank = 0, .node = 0, .address = {}}, {.rank = 1, .node = 1, .address = {}}},
                  [this](const auto&, const auto&, const auto& done) { done(answer_); });
    own_->step("AllReduce 8 B");
    own_->calls().enter();
    hang_.join(hosts_);
  }

  static RankActivity other_hosts_rank() {
    RankActivity other;
    other.rank = 1;
    other.ranks = 2;
    other.host = "i";
    other.step = "AllReduce 8 B";
    return other;
  }

  std::unique_ptr<FlightRecorder> own_;
  std::shared_ptr<HostWatch> hosts_;
  HangWatch hang_;
  HostWatch::Answered answer_;
};

TEST_F(HangWatchOfHosts, TheFirstHostSpeaksForAll) {
  const std::string report = report_line({.node = 1, .ranks = {other_hosts_rank()}});
  for (int i = 0; i < 9 * kLooksPerSecond; ++i) {
    EXPECT_EQ(hang_.look().action, HangAction::none);
    static_cast<void>(hosts_->answer(report));
  }
  const Watched seen = watch(hang_, 2);
  EXPECT_EQ(seen.look.action, HangAction::end_timeout);
  EXPECT_NEAR(seen.seconds, 1, 0.5);  // nobody else is to be waited for
  ASSERT_EQ(seen.look.ranks.size(), 2U);
  EXPECT_EQ(seen.look.ranks[1].host, "i");
  EXPECT_TRUE(seen.look.silent_hosts.empty());
  EXPECT_FALSE(hang_.others_know());
  EXPECT_EQ(hosts_->answer(report), "0 said");
  EXPECT_TRUE(hang_.others_know());
}

TEST_F(HangWatchOfHosts, ProgressOfAnotherHostIsProgress) {
  RankActivity other = other_hosts_rank();
  for (int i = 0; i < 5; ++i) {
    other.steps += 1;
    static_cast<void>(hosts_->answer(report_line({.node = 1, .ranks = {other}})));
    EXPECT_EQ(watch(hang_, 9).look.action, HangAction::none);
  }
  const Watched seen = watch(hang_, 20);
  EXPECT_EQ(seen.look.action, HangAction::end_timeout);
  ASSERT_EQ(seen.look.silent_hosts.size(), 1U);
  EXPECT_EQ(seen.look.silent_hosts[0].host, "i");
}

TEST_F(HangWatchOfHosts, ARankAloneOnItsHostThatDoesNotComeBackIsGone) {
  EXPECT_EQ(watch(hang_, 2).look.action, HangAction::none);
  hosts_->lost(report_line({.node = 1, .ranks = {other_hosts_rank()}}));
  const Watched seen = watch(hang_, 5);
  EXPECT_EQ(seen.look.action, HangAction::report_gone);
  EXPECT_NEAR(seen.seconds, 2, 0.5);
  ASSERT_EQ(seen.look.ranks.size(), 2U);
  EXPECT_EQ(seen.look.ranks[1].host, "i");
  EXPECT_EQ(seen.look.ranks[1].process, ProcessState::gone);
  const Watched then = watch(hang_, 10);
  EXPECT_EQ(then.look.action, HangAction::end_gone);
  EXPECT_NEAR(then.seconds, 3, 0.5);
}

TEST_F(HangWatchOfHosts, TimeThatDoesNotCountDoesNotMakeAMissingRankAGoneOne) {
  hosts_->lost(report_line({.node = 1, .ranks = {other_hosts_rank()}}));
  for (int i = 0; i < 5 * kLooksPerSecond; ++i)
    ASSERT_EQ(hang_.look(false, true).action, HangAction::none) << i;
  own_->step_without_limit("writes files");
  EXPECT_EQ(watch(hang_, 5).look.action, HangAction::none);
  own_->step("AllReduce 8 B");
  EXPECT_EQ(watch(hang_, 5).look.action, HangAction::report_gone);
}

TEST_F(HangWatchOfHosts, TheLaunchersOrderSaysThatOneThatIsMissingIsGone) {
  EXPECT_EQ(watch(hang_, 1).look.action, HangAction::none);
  hosts_->lost(report_line({.node = 1, .ranks = {other_hosts_rank()}}));
  EXPECT_EQ(watch(hang_, 1).look.action, HangAction::none);
  EXPECT_EQ(hang_.look(true).action, HangAction::report_gone);
}

TEST_F(HangWatchOfHosts, ARankThatComesBackOrWithWhichThisOneGoesOnIsNotGone) {
  const std::string beat = report_line({.node = 1, .ranks = {other_hosts_rank()}});
  hosts_->lost(beat);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(watch(hang_, 1.5).look.action, HangAction::none);
    own_->calls().leave();
    own_->calls().enter();
  }
  hosts_->found(beat);
  EXPECT_EQ(watch(hang_, 5).look.action, HangAction::none);
}

TEST_F(HangWatchOfHosts, WhoCrowdedThePortIsEvidence) {
  EXPECT_EQ(watch(hang_, 1).look.action, HangAction::none);
  hosts_->crowded();
  const Watched seen = watch(hang_, 11);
  EXPECT_EQ(seen.look.action, HangAction::end_timeout);
  EXPECT_EQ(seen.look.closed_strangers, 1);
}

TEST_F(HangWatchOfHosts, WhomTheLauncherEndsWithTheOthersIsNotReported) {
  // In the same look as the signal: a time limit ends ranks of other hosts within milliseconds.
  hosts_->lost(report_line({.node = 1, .ranks = {other_hosts_rank()}}));
  EXPECT_EQ(hang_.look(true).action, HangAction::none);
}

class HangWatchOfSecondHost : public HangWatchOfHosts {
 protected:
  HangWatchOfSecondHost() : HangWatchOfHosts(1) {}
};

TEST_F(HangWatchOfSecondHost, EndsWithoutAWordWhenTheFirstHostHasSpoken) {
  answer_ = {0, "7 watching"};
  EXPECT_EQ(watch(hang_, 11).look.action, HangAction::none);
  answer_ = {0, "7 said"};
  const Watched seen = watch(hang_, 1);
  EXPECT_EQ(seen.look.action, HangAction::end_silently);
}

TEST_F(HangWatchOfSecondHost, HearsThatOthersGoOn) {
  for (int i = 0; i < 5; ++i) {
    answer_ = {0, std::to_string(i) + " watching"};
    EXPECT_EQ(watch(hang_, 9).look.action, HangAction::none);
  }
  EXPECT_GT(read_flight_file(folder_ / flight_file_name(1)).heard, 0U);  // by which its neighbors know
}

TEST_F(HangWatchOfSecondHost, SpeaksWhenTheFirstHostIsGone) {
  const Watched seen = watch(hang_, 20);
  EXPECT_EQ(seen.look.action, HangAction::end_timeout);
  EXPECT_NEAR(seen.seconds, 13, 0.5);
  ASSERT_EQ(seen.look.silent_hosts.size(), 1U);
  EXPECT_EQ(seen.look.silent_hosts[0].host, "h");
}

TEST_F(HangWatchOfSecondHost, SaysNothingWhenTheFirstHostIsNotHeardAndItsWordEndsTheRun) {
  EXPECT_EQ(watch(hang_, 10).look.action, HangAction::none);
  HangWatch::Look look;
  for (int i = 0; i < 4 * kLooksPerSecond && look.action == HangAction::none; ++i) look = hang_.look(true);
  EXPECT_EQ(look.action, HangAction::end_silently);
}

TEST_F(HangWatchOfSecondHost, SpeaksForItselfWhenTheFirstHostListensAndSaysNothing) {
  answer_ = {0, "7 watching"};
  const Watched seen = watch(hang_, 40);
  EXPECT_EQ(seen.look.action, HangAction::end_timeout);
  EXPECT_NEAR(seen.seconds, 25, 0.5);
}

TEST_F(HangWatchTest, ProgressOfAnotherRankIsProgress) {
  const auto own = recorder(0);
  own->step("AllReduce 8 B");
  const auto other = recorder(1);
  HangWatch hang(*own, 10, 0, true);
  for (int i = 0; i < 10; ++i) {
    other->calls().enter();
    EXPECT_EQ(watch(hang, 4).look.action, HangAction::none);
  }
  EXPECT_EQ(watch(hang, 12).look.action, HangAction::end_timeout);
}

}  // namespace
}  // namespace collbench::launch::hang_watch_test
