#include "launch/rank_use.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

namespace collbench::launch {
namespace {

/// Sends `bytes` to itself over a TCP connection that stays open until it is destroyed.
class Loopback {
 public:
  explicit Loopback(std::size_t bytes) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);  // NOLINT(*-reinterpret-cast)
    EXPECT_EQ(::bind(listens_, any, size), 0);
    EXPECT_EQ(::listen(listens_, 1), 0);
    EXPECT_EQ(::getsockname(listens_, any, &size), 0);
    EXPECT_EQ(::connect(sends_, any, size), 0);
    receives_ = ::accept(listens_, nullptr, nullptr);
    const std::string text(bytes, 'x');
    EXPECT_EQ(::send(sends_, text.data(), text.size(), 0), static_cast<ssize_t>(bytes));
    std::string got(bytes, ' ');
    EXPECT_EQ(::recv(receives_, got.data(), got.size(), MSG_WAITALL), static_cast<ssize_t>(bytes));
  }
  Loopback(const Loopback&) = delete;
  Loopback& operator=(const Loopback&) = delete;
  ~Loopback() {
    for (const int each : {sends_, receives_, listens_}) ::close(each);
  }

 private:
  int listens_ = ::socket(AF_INET, SOCK_STREAM, 0);
  int sends_ = ::socket(AF_INET, SOCK_STREAM, 0);
  int receives_ = -1;
};

TEST(RankUse, CountsWhatItsConnectionsSent) {
  const RankUse before = view_rank_use();
  const Loopback loopback(10'000);
  const RankUse use = rank_use_since(before, view_rank_use());
  EXPECT_EQ(use.tcp_sent_bytes, 10'000U);
  EXPECT_EQ(use.tcp_resent_bytes, 0U);
  EXPECT_GE(use.ran_seconds, 0);
}

TEST(RankUse, OfAConnectionThatWasClosedNothingIsNegative) {
  EXPECT_EQ(rank_use_since({3, 2, 9, 4}, {5, 1, 6, 4}), (RankUse{2, 0, 0, 0}));
}

TEST(RankUse, SaysWhoRetransmitted) {
  const Identities ranks{{0, "a", 0, 0}, {1, "b", 1, 0}, {2, "c", 2, 0}, {3, "d", 3, 0}};
  const std::vector<RankUse> uses{{1, 0, 1'000'000'000, 300'000},  // one packet in 3,300
                                  {1, 0, 1'000'000'000, 9'000'000},
                                  {1, 0, 100'000, 60'000},  // a burst as a connection was made
                                  {}};
  const std::vector<std::string> lines = lost_packets(uses, ranks);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].find("rank 1 (b) retransmitted 0.9 % of its TCP bytes"), 0U) << lines[0];
  EXPECT_TRUE(lost_packets({}, ranks).empty());  // on the other ranks
}

}  // namespace
}  // namespace collbench::launch
