#include "launch/flight/process_stat.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace collbench::launch::tcp_connections_test {
namespace {

/// A socket that listens on this host, and those that connect to it; closed when it is destroyed.
class Listener {
 public:
  explicit Listener(int backlog) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(listens(), any(), size_), 0);
    EXPECT_EQ(::listen(listens(), backlog), 0);
    EXPECT_EQ(::getsockname(listens(), any(), &size_), 0);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() {
    for (const int each : sockets_) ::close(each);
  }

  [[nodiscard]] int listens() const { return sockets_.front(); }
  int connect(int flags = 0) {
    sockets_.push_back(::socket(AF_INET, SOCK_STREAM | flags, 0));
    EXPECT_TRUE(::connect(sockets_.back(), any(), size_) == 0 || errno == EINPROGRESS);
    return sockets_.back();
  }

 private:
  sockaddr* any() { return reinterpret_cast<sockaddr*>(&address_); }  // NOLINT(*-reinterpret-cast)

  sockaddr_in address_{};
  socklen_t size_ = sizeof address_;
  std::vector<int> sockets_{::socket(AF_INET, SOCK_STREAM, 0)};
};

/// What goes to other hosts is tried between such (tests/src/fabric_test.py).
TEST(TcpConnections, WhatStaysOnThisHostLosesNothingAndCountsNothing) {
  Listener listener(1);
  const int sends = listener.connect(SOCK_NONBLOCK);
  const std::string text(1 << 16, 'x');
  while (::send(sends, text.data(), text.size(), 0) > 0) continue;
  EXPECT_EQ(view_tcp_bytes().sent, 0U);
  EXPECT_EQ(view_unacknowledged().times, 0U);
}

TEST(TcpConnections, OneThatWaitsForAQueueIsNoLossOfALink) {
  Listener listener(0);
  for (int i = 0; i < 4; ++i) listener.connect(SOCK_NONBLOCK);  // what the queue has no room for is dropped
  std::this_thread::sleep_for(
      std::chrono::milliseconds(1200));  // the first timeout of a connection that is made
  EXPECT_EQ(view_unacknowledged().times, 0U);
}

}  // namespace
}  // namespace collbench::launch::tcp_connections_test
