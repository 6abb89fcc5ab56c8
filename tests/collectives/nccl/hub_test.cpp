#include "collectives/nccl/on_host/hub.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace collbench::collectives::hub_test {
namespace {

std::string new_name() {
  static int names = 0;
  return "collbench-hub-test-" + std::to_string(::getpid()) + "-" + std::to_string(++names);
}

class Socket {
 public:
  explicit Socket(const std::string& hub) : socket_(connect_to_hub(hub)) {}
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  Socket(Socket&&) = delete;
  Socket& operator=(Socket&&) = delete;
  ~Socket() { ::close(socket_); }

  [[nodiscard]] int get() const { return socket_; }
  void say(const AskHeader& header) const { EXPECT_TRUE(send_all(socket_, &header, sizeof header)); }
  void say_hello(int rank, int ranks) const { say({.ask = Ask::join, .rank = rank, .ranks = ranks}); }
  [[nodiscard]] bool is_answered() const {
    char answer = 0;
    return receive_all(socket_, &answer, 1);
  }

 private:
  int socket_;
};

/// The sum of 1 and 2, by two ranks that join.
void expect_a_sum(const std::string& hub) {
  const std::array<Socket, 2> ranks{Socket(hub), Socket(hub)};
  for (const int rank : {0, 1}) ranks.at(static_cast<std::size_t>(rank)).say_hello(rank, 2);
  for (const Socket& rank : ranks) ASSERT_TRUE(rank.is_answered());
  for (const std::int32_t addend : {1, 2}) {
    const int socket = ranks.at(static_cast<std::size_t>(addend - 1)).get();
    const AskHeader sum{.ask = Ask::all_reduce, .type = NcclType::int32, .count = 1, .bytes = sizeof addend};
    ASSERT_TRUE(send_all(socket, &sum, sizeof sum) && send_all(socket, &addend, sizeof addend));
  }
  for (const Socket& rank : ranks) {
    std::int32_t total = 0;
    ASSERT_TRUE(receive_all(rank.get(), &total, sizeof total));
    EXPECT_EQ(total, 3);
  }
}

TEST(Hub, AnotherUserTakesNoPart) {
  if (::geteuid() != 0) GTEST_SKIP() << "another user takes root";
  const std::string hub = new_name();
  ASSERT_TRUE(start_hub(hub));
  const pid_t stranger = ::fork();
  if (stranger == 0) {
    if (::setuid(65534) != 0) ::_exit(2);
    // Not connect_to_hub, which refuses another user's hub: that is asked below.
    const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    hub.copy(&address.sun_path[1], sizeof address.sun_path - 2);
    if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) ::_exit(3);
    const AskHeader hello{.ask = Ask::join, .rank = 0, .ranks = 1};
    static_cast<void>(send_all(socket, &hello, sizeof hello));
    char welcome = 0;
    if (receive_all(socket, &welcome, 1)) ::_exit(4);
    ::_exit(connect_to_hub(hub) < 0 ? 0 : 5);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(stranger, &status, 0), stranger);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  expect_a_sum(hub);
}

TEST(Hub, WhatIsNoRankIsHungUpOnAlone) {
  const std::string hub = new_name();
  ASSERT_TRUE(start_hub(hub));
  {
    const Socket left(hub);
  }
  const Socket silent(hub);
  const std::vector<std::pair<int, int>> wrong{{2, 2}, {-1, 2}, {0, 0}, {0, -1}, {0, 1 << 30}};
  for (const auto& [rank, ranks] : wrong) {
    const Socket other(hub);
    other.say_hello(rank, ranks);
    EXPECT_FALSE(other.is_answered()) << rank << " of " << ranks;
  }
  expect_a_sum(hub);
}

TEST(Hub, ARankIsTakenOnceAndOfAsManyAsTheFirstSaid) {
  const std::string hub = new_name();
  ASSERT_TRUE(start_hub(hub));
  const Socket first(hub);
  first.say_hello(0, 2);
  for (const auto& [rank, ranks] : std::vector<std::pair<int, int>>{{0, 2}, {1, 3}, {2, 3}, {0, 1}}) {
    const Socket other(hub);
    other.say_hello(rank, ranks);
    EXPECT_FALSE(other.is_answered()) << rank << " of " << ranks;
  }
  const Socket second(hub);
  second.say_hello(1, 2);
  EXPECT_TRUE(first.is_answered() && second.is_answered());
}

TEST(Hub, WhatCannotBeIsHungUpOn) {
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 60;
  const std::vector<AskHeader> impossible{
      {.ask = Ask::join},
      {.ask = static_cast<Ask>(99)},
      {.ask = Ask::all_reduce, .type = static_cast<NcclType>(99), .count = 1, .bytes = 1},
      {.ask = Ask::all_reduce, .reduction = static_cast<NcclReduction>(99), .count = 1, .bytes = 1},
      {.ask = Ask::broadcast, .root = 1, .count = 1},
      {.ask = Ask::broadcast, .root = -1, .count = 1},
      {.ask = Ask::all_reduce, .count = kHuge, .bytes = kHuge},
      {.ask = Ask::all_gather, .count = 8, .bytes = 0},
      {.ask = Ask::group, .sends = kHuge},
      {.ask = Ask::group, .receives = kHuge},
      {.ask = Ask::group, .bytes = 8},
  };
  const auto is_answered = [](const AskHeader& header, const std::vector<PeerPart>& parts) {
    const std::string hub = new_name();
    EXPECT_TRUE(start_hub(hub));
    const Socket only(hub);
    only.say_hello(0, 1);
    EXPECT_TRUE(only.is_answered());
    only.say(header);
    for (const PeerPart& part : parts) EXPECT_TRUE(send_all(only.get(), &part, sizeof part));
    return only.is_answered();
  };
  for (const AskHeader& header : impossible)
    EXPECT_FALSE(is_answered(header, {})) << static_cast<int>(header.ask);
  EXPECT_FALSE(is_answered({.ask = Ask::group, .receives = 1}, {{.peer = 1 << 30, .bytes = 1}}));
  EXPECT_FALSE(is_answered({.ask = Ask::group, .sends = 1, .bytes = 1}, {{.peer = 0, .bytes = kHuge}}));
}

}  // namespace
}  // namespace collbench::collectives::hub_test
