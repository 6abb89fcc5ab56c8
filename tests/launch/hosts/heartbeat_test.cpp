#include "launch/hosts/heartbeat.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "launch/hosts/host_network.hpp"

namespace collbench::launch::heartbeat_test {
namespace {

constexpr const char* kHere = "127.0.0.1";
constexpr NetworkLimits kPatient{.seconds = 600};  // on a busy machine
constexpr auto kAWhile = std::chrono::milliseconds(200);

const std::string kSecret(kRandomWordLength, 'a');

/// Somebody who listens, and of which process it heard that it is gone.
class HeartbeatTest : public ::testing::Test {
 protected:
  HeartbeatTest() {
    const auto port = server_.listen(kHere, listener());
    EXPECT_TRUE(port.has_value());
    to_ = {kHere, port.value_or(0)};
  }

  /// Until a question is answered, what was sent before it has arrived.
  void let_it_arrive() {
    std::promise<bool> answered;
    HostNetwork client(kSecret, kPatient);
    client.ask({to_}, "question", [&](const auto& answer) { answered.set_value(answer.has_value()); });
    EXPECT_TRUE(answered.get_future().get());
  }
  bool is_lost_soon() { return heard_.wait_for(kAWhile) == std::future_status::ready; }

  HostNetwork::Listener listener() {
    return {.answer = [](std::string_view) { return std::optional<std::string>("answer"); },
            .beat = [this](std::string_view) { ++beats_; },
            .lost =
                [this](std::string_view last_beat) {
                  if (!is_lost_.exchange(true)) lost_.set_value(std::string(last_beat));
                }};
  }
  /// Until `count` more of its lines have arrived.
  void beat_until_heard(Heartbeat& heartbeat, int count = 1) {
    for (const int before = beats_; beats_ < before + count; ::usleep(1000)) heartbeat.beat("in a call");
  }

  std::atomic<int> beats_ = 0;
  std::atomic<bool> is_lost_ = false;  // for the first time
  std::promise<std::string> lost_;
  std::future<std::string> heard_ = lost_.get_future();
  HostNetwork server_{kSecret, kPatient};  // ends before what its handlers write
  NetworkAddress to_;
};

TEST_F(HeartbeatTest, AKilledProcessIsLostWithItsLastWord) {
  const pid_t child = ::fork();
  if (child == 0) {
    Heartbeat heartbeat(to_, kSecret);
    for (;; ::usleep(1000)) heartbeat.beat("in a call");
  }
  while (beats_ < 50) ::usleep(1000);
  ::kill(child, SIGKILL);
  EXPECT_EQ(heard_.get(), "in a call");
  ::waitpid(child, nullptr, 0);
}

TEST_F(HeartbeatTest, WhoSaysFarewellIsNotLost) {
  Heartbeat heartbeat(to_, kSecret);
  beat_until_heard(heartbeat);
  heartbeat.farewell();
  let_it_arrive();
  const int before = beats_;
  for (int i = 0; i < 50; ++i, ::usleep(1000)) heartbeat.beat("never sent");
  EXPECT_FALSE(is_lost_soon());
  EXPECT_EQ(beats_, before);
}

/// As something between closes both sides of it.
void close_connections_to(std::uint16_t port) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int descriptor = std::stoi(entry.path().filename().string());
    sockaddr_in peer{};
    socklen_t size = sizeof peer;
    if (::getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &size) == 0 &&
        peer.sin_family == AF_INET && ntohs(peer.sin_port) == port)
      ::shutdown(descriptor, SHUT_RDWR);
  }
}

TEST_F(HeartbeatTest, AConnectionThatSomethingBetweenClosesIsMadeAgain) {
  Heartbeat heartbeat(to_, kSecret);
  beat_until_heard(heartbeat);
  close_connections_to(to_.port);
  EXPECT_EQ(heard_.get(), "in a call");
  beat_until_heard(heartbeat, 5);
}

TEST_F(HeartbeatTest, AFarewellAfterSomethingBetweenClosedTheConnectionIsSaidOnANewOne) {
  for (const int beats_since : {0, 1}) {
    bool is_said = false;
    while (!is_said) {  // on a busy machine 0.2 s may be over before the other side begins
      Heartbeat heartbeat(to_, kSecret);
      beat_until_heard(heartbeat);
      let_it_arrive();
      close_connections_to(to_.port);
      heard_.wait();
      for (int i = 0; i < beats_since; ++i) heartbeat.beat("not yet greeted");
      const int before = beats_;
      heartbeat.farewell();
      let_it_arrive();
      is_said = beats_ > before;
    }
  }
}

TEST_F(HeartbeatTest, WhoDoesNotBeginIsTriedAgain) {
  const FileDescriptor silent(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  ASSERT_EQ(::bind(silent.get(), reinterpret_cast<sockaddr*>(&at), size), 0);
  ASSERT_EQ(::listen(silent.get(), 8), 0);
  ASSERT_EQ(::getsockname(silent.get(), reinterpret_cast<sockaddr*>(&at), &size), 0);
  Heartbeat heartbeat({kHere, ntohs(at.sin_port)}, kSecret);
  for (int i = 0; i < 20; ++i) heartbeat.beat("in a call");
  int connections = 0;
  for (pollfd more{.fd = silent.get(), .events = POLLIN, .revents = 0}; ::poll(&more, 1, 0) > 0;
       ++connections)
    ::close(::accept(silent.get(), nullptr, nullptr));
  EXPECT_EQ(connections, 3);
}

TEST_F(HeartbeatTest, ConnectionsThatHaveGreetedAreNoStrangersHoweverManyComeLater) {
  std::atomic<int> crowded = 0;
  HostNetwork many(kSecret, {.connections = 100, .strangers = 32, .seconds = 600});
  HostNetwork::Listener counts = listener();
  counts.crowded = [&] { ++crowded; };
  to_.port = many.listen(kHere, counts).value_or(0);
  std::vector<std::unique_ptr<Heartbeat>> heartbeats;
  for (int i = 0; i < 40; ++i) {
    heartbeats.push_back(std::make_unique<Heartbeat>(to_, kSecret));
    beat_until_heard(*heartbeats.back());
  }
  EXPECT_EQ(crowded, 0);
  std::vector<std::unique_ptr<Heartbeat>> strangers;
  for (int i = 0; i < 100; ++i) strangers.push_back(std::make_unique<Heartbeat>(to_, random_word()));
  let_it_arrive();
  EXPECT_EQ(crowded, 100 + 1 - 32) << "those, and who asks";
  for (const auto& heartbeat : heartbeats) {
    const int before = beats_;
    heartbeat->beat("in a call");
    while (beats_ == before && !is_lost_) ::usleep(1000);
  }
  EXPECT_FALSE(is_lost_);
  for (const auto& heartbeat : heartbeats) heartbeat->farewell();
}

/// What a child ends with that asks, listens and has a heartbeat where the system has no random numbers.
int status_without_random_numbers() {
  std::array<sock_filter, 4> filter{{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                                     BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrandom, 0, 1),
                                     BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
                                     BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)}};
  const sock_fprog program{.len = filter.size(), .filter = filter.data()};
  HostNetwork greets(kSecret, kPatient);  // its thread is not filtered
  const auto there = greets.listen(kHere, {.answer = [](std::string_view) { return "answer"; }});
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    return 1;
  HostNetwork without(kSecret, kPatient);
  const auto here = without.listen(kHere, {.answer = [](std::string_view) { return "answer"; }});
  for (const auto port : {here, there}) {
    std::promise<bool> answered;
    without.ask({{kHere, port.value_or(0)}}, "question",
                [&](const auto& answer) { answered.set_value(answer.has_value()); });
    if (answered.get_future().get()) return 2;
    Heartbeat heartbeat({kHere, port.value_or(0)}, kSecret);
    for (int i = 0; i < 100; ++i, ::usleep(1000)) heartbeat.beat("in a call");
    heartbeat.farewell();
  }
  return 0;
}

TEST_F(HeartbeatTest, WhereTheSystemHasNoRandomNumbersNobodyGreetsAndNothingEnds) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(status_without_random_numbers());
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(HeartbeatTest, AStrangersConnectionSaysNothing) {
  {
    Heartbeat stranger(to_, random_word());
    for (int i = 0; i < 100; ++i, ::usleep(1000)) stranger.beat("in a call");
  }
  EXPECT_FALSE(is_lost_soon());
  EXPECT_EQ(beats_, 0);
}

TEST_F(HeartbeatTest, WhereNobodyListensNobodyWaits) {
  for (const NetworkAddress& nobody : {NetworkAddress{kHere, 1}, NetworkAddress{"no address", 1}}) {
    Heartbeat heartbeat(nobody, kSecret);
    for (int i = 0; i < 3; ++i) heartbeat.beat("in a call");
    heartbeat.farewell();
  }
}

TEST_F(HeartbeatTest, AListenerThatReadsNothingHoldsNobodyUpAndNoLineIsTorn) {
  std::promise<void> go_on;
  std::promise<void> stands_still;
  HostNetwork busy(kSecret, kPatient);
  HostNetwork::Listener stops = listener();
  stops.answer = [&, until = go_on.get_future().share()](std::string_view) {
    stands_still.set_value();
    until.wait();
    return std::optional<std::string>();
  };
  const auto port = busy.listen(kHere, stops);
  auto heartbeat = std::make_unique<Heartbeat>(NetworkAddress{kHere, port.value_or(0)}, kSecret);
  beat_until_heard(*heartbeat);
  HostNetwork client(kSecret, kPatient);
  client.ask({{kHere, port.value_or(0)}}, "question", [](const auto&) {});
  stands_still.get_future().wait();
  const std::string line(4000, 'x');
  for (int i = 0; i < 20000; ++i) heartbeat->beat(line);  // more than any socket buffers
  go_on.set_value();
  heartbeat.reset();
  EXPECT_EQ(heard_.get(), line);
}

}  // namespace
}  // namespace collbench::launch::heartbeat_test
