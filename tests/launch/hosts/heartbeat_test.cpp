#include "launch/hosts/heartbeat.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <future>
#include <memory>
#include <string>

namespace collbench::launch::heartbeat_test {
namespace {

constexpr const char* kHere = "127.0.0.1";
constexpr NetworkLimits kPatient{.seconds = 600};  // on a busy machine
constexpr auto kAWhile = std::chrono::milliseconds(200);

const RunSecrets kSecrets{.asking = std::string(RunSecrets::kLength, 'a'),
                          .answering = std::string(RunSecrets::kLength, 'b')};

/// Somebody who listens, and of which process it heard that it is gone.
class HeartbeatTest : public ::testing::Test {
 protected:
  HeartbeatTest() {
    const auto port = server_.listen(
        kHere, [](std::string_view) { return std::optional<std::string>("answer"); },
        [this](std::string_view last_beat) { lost_.set_value(std::string(last_beat)); });
    EXPECT_TRUE(port.has_value());
    to_ = {kHere, port.value_or(0)};
  }

  /// Until a question is answered, what was sent before it has arrived.
  void let_it_arrive() {
    std::promise<bool> answered;
    HostNetwork client(kSecrets, kPatient);
    client.ask({to_}, "question", [&](const auto& answer) { answered.set_value(answer.has_value()); });
    EXPECT_TRUE(answered.get_future().get());
  }
  bool is_lost_soon() { return heard_.wait_for(kAWhile) == std::future_status::ready; }

  std::promise<std::string> lost_;
  std::future<std::string> heard_ = lost_.get_future();
  HostNetwork server_{kSecrets, kPatient};  // ends before what its handlers write
  NetworkAddress to_;
};

TEST_F(HeartbeatTest, AKilledProcessIsLostWithItsLastWord) {
  const pid_t child = ::fork();
  if (child == 0) {
    Heartbeat heartbeat(to_, kSecrets);
    for (int i = 1; i <= 50; ++i) {
      heartbeat.beat("in call " + std::to_string(i));
      ::usleep(1000);
    }
    ::kill(::getpid(), SIGKILL);
  }
  EXPECT_EQ(heard_.get(), "in call 50");
  ::waitpid(child, nullptr, 0);
}

TEST_F(HeartbeatTest, WhoSaysFarewellIsNotLost) {
  Heartbeat heartbeat(to_, kSecrets);
  heartbeat.beat("in a call");
  heartbeat.farewell();
  heartbeat.beat("never sent");
  let_it_arrive();
  EXPECT_FALSE(is_lost_soon());
}

TEST_F(HeartbeatTest, AStrangersConnectionSaysNothing) {
  RunSecrets other = kSecrets;
  other.asking.back() = 'x';
  std::make_unique<Heartbeat>(to_, other)->beat("in a call");
  EXPECT_FALSE(is_lost_soon());
}

TEST_F(HeartbeatTest, WhereNobodyListensNobodyWaits) {
  for (const NetworkAddress& nobody : {NetworkAddress{kHere, 1}, NetworkAddress{"no address", 1}}) {
    Heartbeat heartbeat(nobody, kSecrets);
    for (int i = 0; i < 3; ++i) heartbeat.beat("in a call");
    heartbeat.farewell();
  }
}

TEST_F(HeartbeatTest, AListenerThatReadsNothingHoldsNobodyUpAndNoLineIsTorn) {
  std::promise<void> go_on;
  std::promise<void> stands_still;
  HostNetwork busy(kSecrets, kPatient);
  const auto port = busy.listen(
      kHere,
      [&, until = go_on.get_future().share()](std::string_view) {
        stands_still.set_value();
        until.wait();
        return std::optional<std::string>();
      },
      [this](std::string_view last_beat) { lost_.set_value(std::string(last_beat)); });
  HostNetwork client(kSecrets, kPatient);
  client.ask({{kHere, port.value_or(0)}}, "question", [](const auto&) {});
  stands_still.get_future().wait();
  auto heartbeat = std::make_unique<Heartbeat>(NetworkAddress{kHere, port.value_or(0)}, kSecrets);
  const std::string line(4000, 'x');
  for (int i = 0; i < 20000; ++i) heartbeat->beat(line);  // more than any socket buffers
  go_on.set_value();
  heartbeat.reset();
  EXPECT_EQ(heard_.get(), line);
}

}  // namespace
}  // namespace collbench::launch::heartbeat_test
