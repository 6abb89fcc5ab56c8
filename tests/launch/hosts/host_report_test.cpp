#include "launch/hosts/host_report.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace collbench::launch::host_report_test {
namespace {

RankActivity full_rank(int rank) {
  return {.rank = rank,
          .ranks = std::numeric_limits<int>::max(),
          .host = std::string(63, 'h'),
          .gpu = std::string(64, '\x02'),
          .device = std::string(64, '\x04'),
          .pid = std::numeric_limits<int>::max(),
          .process = ProcessState::stopped,
          .step = std::string(64, '\x03'),
          .steps = std::numeric_limits<std::uint64_t>::max(),
          .pass = std::numeric_limits<int>::max(),
          .calls = {.entered = std::numeric_limits<std::uint64_t>::max(), .left = 3},
          .calls_before_step = 7,
          .exchanges = {.entered = std::numeric_limits<std::uint64_t>::max(), .left = 4},
          .is_over = true,
          .idle_seconds = 1.2345678901234567e-10,
          .resent_to = "10.93.1.2",
          .resent_times = 4,
          .heard = 0};
}

TEST(HostReport, IsReadBackAsItWas) {
  const HostReport report{.node = 3, .ranks = {full_rank(1), full_rank(2)}};
  EXPECT_EQ(report_from_line(report_line(report)), report);
  RankActivity idle = full_rank(5);
  idle.idle_seconds.reset();
  EXPECT_EQ(report_from_line(report_line({.node = 0, .ranks = {idle}}))->ranks.at(0), idle);
}

TEST(HostReport, IsOneLineOfAKnownLength) {
  for (const std::size_t ranks : {0U, 1U, 64U}) {
    HostReport report{.node = std::numeric_limits<int>::max(), .ranks = {}};
    for (std::size_t i = 0; i < ranks; ++i) report.ranks.push_back(full_rank(1'000'000'000));
    const std::string line = report_line(report);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    EXPECT_LE(line.size(), max_report_bytes(ranks));
  }
}

TEST(HostReport, AnythingElseIsNone) {
  const std::string good = report_line({.node = 0, .ranks = {full_rank(1)}});
  for (std::size_t end = 0; end < good.size(); ++end) EXPECT_FALSE(report_from_line(good.substr(0, end)));
  for (const std::string& text :
       {std::string("[]"), std::string("7"), std::string(R"({"node":-1,"ranks":[]})"),
        std::string(R"({"node":0,"ranks":7})"), std::string(R"({"node":0,"ranks":[{}]})"),
        std::string(100'000, '['), std::string("\xff\xfe\0x", 4)}) {
    EXPECT_FALSE(report_from_line(text)) << text.substr(0, 40);
  }
  const auto with = [&](const std::string& what, const std::string& instead) {
    std::string text = good;
    return report_from_line(text.replace(text.find(what), what.size(), instead));
  };
  EXPECT_FALSE(with(R"("stopped")", R"("asleep")"));
  EXPECT_FALSE(with(R"("left":3)", R"("left":-3)"));
  EXPECT_FALSE(with(R"("rank":1)", R"("rank":4294967296)"));
}

TEST(HostReply, IsReadBackAsItWas) {
  for (const bool is_said : {false, true}) {
    const HostReply reply{.changes = std::numeric_limits<std::uint64_t>::max(), .is_said = is_said};
    EXPECT_EQ(reply_from_line(reply_line(reply)), reply);
  }
  for (const char* const text :
       {"", "x", "7", "7 ", "7 saidx", "-1 said", "99999999999999999999 said", "7  said"})
    EXPECT_FALSE(reply_from_line(text)) << text;
}

}  // namespace
}  // namespace collbench::launch::host_report_test
