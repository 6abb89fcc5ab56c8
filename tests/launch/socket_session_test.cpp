#include "launch/socket_session.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "base/files.hpp"
#include "launch/hosts/greeting.hpp"
#include "launch/sockets/meeting.hpp"

namespace collbench::launch::socket_session_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double kPatience = 60;

/// A port that nobody had a moment ago.
std::uint16_t free_port() { return Door(0, 1, "127.0.0.1").port(); }

Rendezvous at(std::uint16_t port, int rank, int ranks) {
  Rendezvous where;
  where.rank = rank;
  where.ranks = ranks;
  where.host = "localhost";
  where.port = port;
  where.job = "word";
  where.by = "test";
  return where;
}

/// Runs each rank in a thread of its own; what it failed with, by rank.
std::vector<std::optional<Error>> on_ranks(int ranks, const std::function<void(Session&)>& work) {
  const std::uint16_t port = free_port();
  std::vector<std::optional<Error>> errors(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        CallCounter calls;
        const auto session = make_socket_session(at(port, rank, ranks), {.seconds = kPatience}, calls);
        work(*session);
      } catch (const Error& error) {
        errors[static_cast<std::size_t>(rank)] = error;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return errors;
}

void expect_no_error(const std::vector<std::optional<Error>>& errors) {
  for (const auto& error : errors) EXPECT_FALSE(error.has_value()) << error->what();
}

TEST(SocketSession, EveryRankHearsTheSame) {
  expect_no_error(on_ranks(4, [](Session& session) {
    Ranks& ranks = session.ranks();
    const int rank = ranks.rank();
    EXPECT_EQ(ranks.size(), 4);
    ranks.barrier();
    for (int root = 0; root < 4; ++root)
      EXPECT_EQ(broadcast_text(ranks, "of " + std::to_string(rank), root), "of " + std::to_string(root));
    EXPECT_THAT(ranks.all_gather(std::string(static_cast<std::size_t>(rank), 'x')),
                ElementsAre("", "x", "xx", "xxx"));
    const auto at_root = ranks.gather(std::to_string(rank));
    EXPECT_EQ(at_root.size(), rank == 0 ? 4U : 0U);
    std::array<double, 2> values{static_cast<double>(rank), -1.0 * rank};
    ranks.reduce(values, RankAggregate::minimum);
    EXPECT_THAT(values, ElementsAre(0, -3));
    values = {static_cast<double>(rank), 8};
    ranks.reduce(values, RankAggregate::average);
    EXPECT_THAT(values, ElementsAre(1.5, 8));
    values = {static_cast<double>(rank) + 5, 0};
    ranks.reduce(values, RankAggregate::rank0);
    EXPECT_EQ(values[0], 5);
    EXPECT_EQ(session.shared_memory_leader(), 0);
    EXPECT_FALSE(session.has_mpi());
    EXPECT_EQ(session.library(), "no MPI (test)");
  }));
}

TEST(SocketSession, LargeMessagesArriveWhole) {
  expect_no_error(on_ranks(3, [](Session& session) {
    const std::string large(std::size_t{5} << 20, static_cast<char>('a' + session.ranks().rank()));
    const auto all = session.ranks().all_gather(large);
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[2].size(), large.size());
    EXPECT_EQ(all[2].back(), 'c');
  }));
}

TEST(SocketSession, GroupsMeasureAmongThemselves) {
  expect_no_error(on_ranks(5, [](Session& session) {
    const int rank = session.ranks().rank();
    const auto group = session.ranks_of(rank % 2);
    EXPECT_EQ(group->size(), rank % 2 == 0 ? 3 : 2);
    EXPECT_EQ(group->rank(), rank / 2);
    EXPECT_EQ(group->number_in_run(group->rank()), rank);
    // One group calls more often than the other: they wait for nobody else.
    for (int call = 0; call <= rank % 2; ++call) {
      std::array<double, 1> sum{static_cast<double>(rank)};
      group->reduce(sum, RankAggregate::maximum);
      EXPECT_EQ(sum[0], rank % 2 == 0 ? 4 : 3);
    }
    session.ranks().barrier();
  }));
}

TEST(SocketSession, OneRankIsASessionToo) {
  expect_no_error(on_ranks(1, [](Session& session) {
    session.ranks().barrier();
    EXPECT_THAT(session.ranks().all_gather("a"), ElementsAre("a"));
    EXPECT_EQ(session.ranks_of(3)->size(), 1);
  }));
}

TEST(SocketSession, WhoIsGoneIsNamedToAll) {
  const auto errors = on_ranks(4, [](Session& session) {
    if (session.ranks().rank() == 2) return;  // its socket closes
    session.ranks().barrier();
    session.ranks().barrier();
  });
  EXPECT_FALSE(errors[2].has_value());
  for (const std::size_t rank : {0U, 1U, 3U}) {
    ASSERT_TRUE(errors[rank].has_value()) << rank;
    EXPECT_EQ(errors[rank]->status(), ExitStatus::rank_lost);
    EXPECT_THAT(errors[rank]->what(), HasSubstr("rank 2 (")) << rank;
  }
}

/// A socket that is connected to `port` of this host.
std::unique_ptr<FileDescriptor> connected_to(std::uint16_t port) {
  auto own = std::make_unique<FileDescriptor>(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(own->get(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  return own;
}

/// The next line with its end; what came of it where the connection ended before.
std::string next_line(int socket) {
  std::string line;
  for (char next = 0; ::recv(socket, &next, 1, 0) == 1;) {
    line += next;
    if (next == '\n') break;
  }
  return line;
}

void say(int socket, const std::string& text) {
  // A stranger's end may be closed already.
  static_cast<void>(::send(socket, text.data(), text.size(), MSG_NOSIGNAL));
}

/// Connects, is challenged and says `text`; whether anything but the end of the connection came back.
bool is_answered(std::uint16_t port, const std::string& text) {
  const auto own = connected_to(port);
  EXPECT_EQ(next_line(own->get()).size(), kChallengeBytes);
  say(own->get(), text);
  return !next_line(own->get()).empty();
}

/// What a rank that knows `word` says, who believes that it is at `port`.
std::string introduced(const std::string& word, std::uint16_t port, const std::string& challenge,
                       const std::string& who) {
  return who + " " + introduction_proof(word, port, challenge, who) + "\n";
}

TEST(SocketSession, InAGroupRanksAreNamedByTheirNumbersInTheRun) {
  const auto errors = on_ranks(4, [](Session& session) {
    const int rank = session.ranks().rank();
    const auto group = session.ranks_of(rank % 2);
    if (rank == 3) return;  // rank 1 of its group
    for (int call = 0; call < 2; ++call) group->barrier();
    session.ranks().barrier();
  });
  ASSERT_TRUE(errors[1].has_value());
  EXPECT_THAT(errors[1]->what(), HasSubstr("rank 3 ("));
}

TEST(SocketSession, AGroupsFirstCallMayBeABroadcast) {
  for (int time = 0; time < 20; ++time) {
    expect_no_error(on_ranks(3, [](Session& session) {
      const auto group = session.ranks_of(0);
      EXPECT_EQ(broadcast_text(*group, group->is_root() ? "first" : ""), "first");
    }));
  }
}

TEST(SocketSession, AnotherNumberOfValuesIsAnError) {
  const auto errors = on_ranks(2, [](Session& session) {
    std::vector<double> values(session.ranks().rank() == 0 ? 3 : 1);
    session.ranks().reduce(values, RankAggregate::maximum);
  });
  ASSERT_TRUE(errors[0].has_value());
  EXPECT_THAT(errors[0]->what(), HasSubstr("sent 8 bytes where 24 were expected"));
}

TEST(SocketSession, WhoHasComeHearsWhoHasNot) {
  const std::uint16_t port = free_port();
  std::optional<Error> heard;
  std::thread guest([&] {
    CallCounter calls;
    try {
      static_cast<void>(make_socket_session(at(port, 1, 3), {.seconds = kPatience}, calls));
    } catch (const Error& error) {
      heard = error;
    }
  });
  CallCounter calls;
  EXPECT_THROW(static_cast<void>(make_socket_session(at(port, 0, 3), {.seconds = 2}, calls)), Error);
  guest.join();
  ASSERT_TRUE(heard.has_value());
  EXPECT_EQ(heard->status(), ExitStatus::rank_lost);
  EXPECT_THAT(heard->what(), HasSubstr("only 2 of 3 ranks have connected"));
}

TEST(SocketSession, ARankThatIsGoneBeforeAllHaveComeMayBeReplaced) {
  Door door(0, 1, "127.0.0.1");
  std::vector<RankLink> links;
  std::thread root([&] {
    links = door.receive({.rank = 0, .ranks = 3, .word = "word"}, kPatience, [](const std::vector<int>&) {});
  });
  {
    const auto first = connected_to(door.port());
    say(first->get(), introduced("word", door.port(), next_line(first->get()), "1 3 n1 random"));
    ASSERT_THAT(next_line(first->get()), HasSubstr(" welcome"));
  }
  std::thread second([&] {
    static_cast<void>(knock("localhost", door.port(), 1, {.rank = 1, .ranks = 3, .word = "word"}, kPatience));
  });
  static_cast<void>(knock("localhost", door.port(), 1, {.rank = 2, .ranks = 3, .word = "word"}, kPatience));
  second.join();
  root.join();
  EXPECT_EQ(links.size(), 2U);
}

TEST(SocketSession, AnInterruptionEndsTheMeetingOnEitherSide) {
  Party party{.rank = 1, .ranks = 2, .word = "word", .numbers = {}, .interruption = [] { return "SIGTERM"; }};
  const auto expect_interrupted = [](const std::function<void()>& meet) {
    try {
      meet();
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "interrupted by SIGTERM");
    }
  };
  expect_interrupted([&] { static_cast<void>(knock("localhost", free_port(), 1, party, 0)); });
  party.rank = 0;
  Door door(0, 1, "127.0.0.1");
  expect_interrupted([&] { static_cast<void>(door.receive(party, 0, [](const std::vector<int>&) {})); });
}

/// Of this host alone.
std::uint16_t listen_at_any_port(const FileDescriptor& socket) {
  sockaddr_in own{};
  own.sin_family = AF_INET;
  own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof own;
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&own), size), 0);
  EXPECT_EQ(::listen(socket.get(), 8), 0);
  EXPECT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &size), 0);
  return ntohs(own.sin_port);
}

TEST(SocketSession, AMuteProgramAtTheFirstPortIsPassedOver) {
  const FileDescriptor mute(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const std::uint16_t port = listen_at_any_port(mute);
  if (port > 65000) GTEST_SKIP() << "no ports above it";
  Door door(port, 8, "127.0.0.1");
  EXPECT_GT(door.port(), port);
  std::thread root([&] {
    static_cast<void>(
        door.receive({.rank = 0, .ranks = 2, .word = "word"}, kPatience, [](const std::vector<int>&) {}));
  });
  EXPECT_NO_THROW(
      static_cast<void>(knock("localhost", port, 8, {.rank = 1, .ranks = 2, .word = "word"}, kPatience)));
  root.join();
}

/// Welcomes one rank as who knows `word` does, says `more` and then nothing until it is gone.
void welcome_one(const FileDescriptor& at, const std::string& word, const std::string& more) {
  const FileDescriptor guest(::accept4(at.get(), nullptr, nullptr, SOCK_CLOEXEC));
  const std::string challenge = new_challenge();
  say(guest.get(), challenge);
  const std::string line = next_line(guest.get());
  const std::string who = line.substr(0, line.rfind(' '));
  say(guest.get(), reply_proof(word, challenge, who, "welcome") + " welcome\n" + more);
  char byte = 0;
  while (::recv(guest.get(), &byte, 1, 0) > 0) {
  }
}

TEST(SocketSession, WhoWelcomesAndSaysNothingMoreIsNotWaitedForWithoutEnd) {
  for (const char* more : {"", "x"}) {
    const FileDescriptor stranger(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const std::uint16_t port = listen_at_any_port(stranger);
    std::thread answers([&] { welcome_one(stranger, "word", more); });
    try {
      static_cast<void>(knock("localhost", port, 1, {.rank = 1, .ranks = 2, .word = "word"}, 1));
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), ExitStatus::rank_lost);
      EXPECT_THAT(error.what(), more[0] == 'x' ? HasSubstr("gone") : HasSubstr("has said nothing since"));
    }
    answers.join();
  }
}

TEST(SocketSession, WhoWelcomesAndDoesNotKnowTheWordIsNotRank0) {
  const FileDescriptor stranger(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const std::uint16_t port = listen_at_any_port(stranger);
  std::thread answers([&] { welcome_one(stranger, "another", ""); });
  try {
    static_cast<void>(knock("localhost", port, 1, {.rank = 1, .ranks = 2, .word = "word"}, 1));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("rank 1 has not found rank 0"));
  }
  answers.join();
}

TEST(SocketSession, StrangersAreClosedWithoutAWordAndCountForNobody) {
  Door door(0, 1, "127.0.0.1");
  const Party party{.rank = 0, .ranks = 2, .word = "word"};
  std::vector<RankLink> links;
  std::thread root([&] { links = door.receive(party, kPatience, [](const std::vector<int>&) {}); });
  EXPECT_FALSE(is_answered(door.port(), "GET / HTTP/1.1\r\n\r\n"));
  EXPECT_FALSE(is_answered(door.port(), std::string(5000, 'x')));
  const auto says = [&](const std::string& word, std::uint16_t at, const std::string& who) {
    const auto own = connected_to(door.port());
    const std::string line = introduced(word, at, next_line(own->get()), who);
    say(own->get(), line);
    EXPECT_EQ(next_line(own->get()), "") << line;
  };
  says("another", door.port(), "1 2 host random");
  says("word", static_cast<std::uint16_t>(door.port() + 1),
       "1 2 host random");  // passed on by who took a port
  says("word", door.port(), "one of us");
  // What is true on another connection, whose challenge is another one.
  const auto other = connected_to(door.port());
  EXPECT_FALSE(
      is_answered(door.port(), introduced("word", door.port(), next_line(other->get()), "1 2 host random")));
  const RankLink link =
      knock("localhost", door.port(), 1, {.rank = 1, .ranks = 2, .word = "word"}, kPatience);
  root.join();
  ASSERT_EQ(links.size(), 1U);
  const std::string hello = "hello";
  link.send(std::as_bytes(std::span(hello)));
  EXPECT_EQ(links[0].receive(), "hello");
}

TEST(SocketSession, StrangersThatHoldTheirConnectionsKeepNobodyOut) {
  Door door(0, 1, "127.0.0.1");
  std::vector<RankLink> links;
  std::thread root([&] {
    links = door.receive({.rank = 0, .ranks = 2, .word = "word"}, kPatience, [](const std::vector<int>&) {});
  });
  std::vector<std::unique_ptr<FileDescriptor>> strangers;
  for (int i = 0; i < 200; ++i) strangers.push_back(connected_to(door.port()));
  static_cast<void>(knock("localhost", door.port(), 1, {.rank = 1, .ranks = 2, .word = "word"},
                          4));  // before their time is over
  root.join();
  EXPECT_EQ(links.size(), 1U);
}

TEST(SocketSession, WhoBelievesInAnotherNumberOfRanksIsRefused) {
  for (const Party& other :
       {Party{.rank = 1, .ranks = 3, .word = "word"}, Party{.rank = 7, .ranks = 2, .word = "word"},
        Party{.rank = 0, .ranks = 2, .word = "word"}, Party{.rank = -1, .ranks = 2, .word = "word"}}) {
    Door door(0, 1, "127.0.0.1");
    std::thread guest([&, port = door.port()] {
      try {
        static_cast<void>(knock("localhost", port, 1, other, kPatience));
        ADD_FAILURE();
      } catch (const Error& error) {
        EXPECT_EQ(error.status(), ExitStatus::usage) << error.what();
      }
    });
    EXPECT_THROW(static_cast<void>(door.receive({.rank = 0, .ranks = 2, .word = "word"}, kPatience,
                                                [](const std::vector<int>&) {})),
                 Error);
    guest.join();
  }
}

TEST(SocketSession, WhoDoesNotComeIsNamed) {
  CallCounter calls;
  try {
    static_cast<void>(make_socket_session(at(free_port(), 0, 3), {.seconds = 0.5}, calls));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::rank_lost);
    EXPECT_THAT(error.what(), HasSubstr("only 1 of 3 ranks have connected"));
    EXPECT_THAT(error.what(), HasSubstr("missing: 1, 2"));
  }
}

TEST(SocketSession, TheNextPortIsTakenWhereTheFirstIsNot) {
  const Door taken(0, 1, "127.0.0.1");
  if (taken.port() > 65000) GTEST_SKIP() << "no ports above it";
  const Door next(taken.port(), 8, "127.0.0.1");
  EXPECT_GT(next.port(), taken.port());
  EXPECT_THROW(Door(taken.port(), 1, "127.0.0.1"), Error);
}

}  // namespace
}  // namespace collbench::launch::socket_session_test
