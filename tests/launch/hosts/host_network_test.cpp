#include "launch/hosts/host_network.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/files.hpp"

namespace collbench::launch::host_network_test {
namespace {

constexpr const char* kHere = "127.0.0.1";
constexpr NetworkLimits kPatient{.seconds = 600};  // on a busy machine

const std::string kSecret(kRandomWordLength, 'a');

/// Somebody who asks by other means.
class Stranger {
 public:
  explicit Stranger(std::uint16_t port, const char* from = kHere)
      : listener_{kHere, port}, descriptor_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in own{};
    own.sin_family = AF_INET;
    ::inet_pton(AF_INET, from, &own.sin_addr);
    EXPECT_EQ(::bind(descriptor_.get(), reinterpret_cast<sockaddr*>(&own), sizeof own), 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    ::inet_pton(AF_INET, kHere, &to.sin_addr);
    connected_ = ::connect(descriptor_.get(), reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
  }
  void send(const std::string& text) const {
    EXPECT_TRUE(connected_);
    ::send(descriptor_.get(), text.data(), text.size(), MSG_NOSIGNAL);
  }
  /// The challenge, of which the greeting is made.
  [[nodiscard]] std::string challenge() const {
    std::string text(kChallengeBytes, '\0');
    EXPECT_EQ(::recv(descriptor_.get(), text.data(), text.size(), MSG_WAITALL), ssize_t{kChallengeBytes});
    return text;
  }
  [[nodiscard]] std::string greeting_to(const std::string& challenge,
                                        const std::string& secret = kSecret) const {
    return greeting(secret, Purpose::question, listener_, challenge);
  }
  /// All that comes until the other side closes.
  [[nodiscard]] std::string read() const {
    std::string text;
    std::array<char, 256> part{};
    for (ssize_t got = 0; (got = ::recv(descriptor_.get(), part.data(), part.size(), 0)) > 0;)
      text.append(part.data(), static_cast<std::size_t>(got));
    return text;
  }

 private:
  NetworkAddress listener_;
  FileDescriptor descriptor_;
  bool connected_ = false;
};

/// Another program's port.
std::uint16_t listen_at(const FileDescriptor& socket) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  ::inet_pton(AF_INET, kHere, &at.sin_addr);
  socklen_t size = sizeof at;
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&at), size), 0);
  EXPECT_EQ(::listen(socket.get(), 8), 0);
  EXPECT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&at), &size), 0);
  return ntohs(at.sin_port);
}

class HostNetworkTest : public ::testing::Test {
 protected:
  /// Answers "is QUESTION" to all but "nothing".
  std::uint16_t listen(HostNetwork& network) {
    const auto answer = [](std::string_view question) -> std::optional<std::string> {
      if (question == "nothing") return std::nullopt;
      return "is " + std::string(question);
    };
    const auto port = network.listen(kHere, {.answer = answer, .crowded = [this] { ++crowded_; }});
    EXPECT_TRUE(port.has_value());
    return port.value_or(0);
  }

  static std::optional<HostNetwork::Answered> ask(HostNetwork& network, std::vector<NetworkAddress> to,
                                                  const std::string& question) {
    std::promise<std::optional<HostNetwork::Answered>> answer;
    network.ask(std::move(to), question, [&](auto answered) { answer.set_value(std::move(answered)); });
    return answer.get_future().get();
  }

  std::atomic<int> crowded_ = 0;
};

TEST_F(HostNetworkTest, AQuestionIsAnswered) {
  HostNetwork server(kSecret, kPatient);
  const std::uint16_t port = listen(server);
  HostNetwork client(kSecret, kPatient);
  for (const std::string question : {"it", "it again"}) {
    const auto answered = ask(client, {{kHere, port}}, question);
    ASSERT_TRUE(answered);
    EXPECT_EQ(answered->line, "is " + question);
  }
}

// NOLINTBEGIN(misc-const-correctness): clang-tidy 19 takes networks that listen and ask for constants here
TEST_F(HostNetworkTest, TheFirstThatAnswersIsAsked) {
  HostNetwork closes(kSecret, kPatient);
  HostNetwork server(kSecret, kPatient);
  const auto none = closes.listen(kHere, {.answer = [](std::string_view) { return std::nullopt; }});
  ASSERT_TRUE(none);
  const std::uint16_t port = listen(server);
  HostNetwork client(kSecret, kPatient);
  const auto answered = ask(client, {{"no address", 1}, {kHere, 1}, {kHere, *none}, {kHere, port}}, "it");
  ASSERT_TRUE(answered);
  EXPECT_EQ(answered->by, 3U);
  EXPECT_FALSE(ask(client, {{kHere, port}}, "nothing"));
  EXPECT_FALSE(ask(client, {}, "it"));
}
// NOLINTEND(misc-const-correctness)

TEST_F(HostNetworkTest, WhoAcceptsAndSaysNothingIsGivenUp) {
  const FileDescriptor silent(::socket(AF_INET, SOCK_STREAM, 0));
  const std::uint16_t taken = listen_at(silent);
  HostNetwork server(kSecret, kPatient);
  const std::uint16_t port = listen(server);
  HostNetwork client(kSecret, {.seconds = 0.5});
  std::optional<HostNetwork::Answered> answered;
  while (!answered) answered = ask(client, {{kHere, taken}, {kHere, port}}, "it");
  EXPECT_EQ(answered->by, 1U);
}

TEST_F(HostNetworkTest, WhoDoesNotKnowTheSecretHearsNothing) {
  HostNetwork server(kSecret, kPatient);
  const std::uint16_t port = listen(server);
  const std::string other(kRandomWordLength, 'b');
  for (const int kind : {0, 1, 2, 3}) {
    const Stranger stranger(port);
    const std::string challenge = stranger.challenge();
    const std::array<std::string, 4> texts{
        stranger.greeting_to(challenge, other) + "it\n", std::string(100'000, 'x'),
        std::string("GET / HTTP/1.1\r\n\r\n") + stranger.greeting_to(challenge),
        stranger.greeting_to(challenge).substr(0, 40) + std::string(kGreetingBytes, '\n')};
    stranger.send(texts.at(static_cast<std::size_t>(kind)));
    EXPECT_EQ(stranger.read(), "");
  }
  const Stranger member(port);
  const std::string challenge = member.challenge();
  const std::string text = member.greeting_to(challenge);
  member.send(text + "it\n");
  EXPECT_EQ(member.read(), answer_proof(kSecret, challenge, text, "is it") + " is it\n");
}

TEST_F(HostNetworkTest, ARecordedConnectionIsOfNoUseOnAnotherOneAndDoesNotHoldTheSecret) {
  HostNetwork server(kSecret, kPatient);
  const std::uint16_t port = listen(server);
  const Stranger member(port);
  const std::string challenge = member.challenge();
  const std::string recorded = member.greeting_to(challenge) + "it\n";
  member.send(recorded);
  const std::string answer = member.read();
  EXPECT_NE(answer, "");
  EXPECT_EQ((challenge + recorded + answer).find(kSecret), std::string::npos);

  const Stranger replay(port);
  static_cast<void>(replay.challenge());
  replay.send(recorded);
  EXPECT_EQ(replay.read(), "");

  // Nor on the port of a listener that is gone, which passes what it is asked on to another one.
  const Stranger relay(port);
  relay.send(greeting(kSecret, Purpose::question, {kHere, 1}, relay.challenge()) + "it\n");
  EXPECT_EQ(relay.read(), "");
}

TEST_F(HostNetworkTest, AnAnswerWithoutTheSecretIsNone) {
  // It repeats what it answered before, to whatever it is asked.
  HostNetwork server(kSecret, kPatient);
  const std::uint16_t port = listen(server);
  const Stranger member(port);
  member.send(member.greeting_to(member.challenge()) + "it\n");
  const std::string recorded = member.read();
  ASSERT_NE(recorded, "");
  const FileDescriptor listening(::socket(AF_INET, SOCK_STREAM, 0));
  const std::uint16_t taken = listen_at(listening);
  std::thread repeats([&] {
    const FileDescriptor asker(::accept(listening.get(), nullptr, nullptr));
    const std::string text = new_challenge() + recorded;
    ::send(asker.get(), text.data(), text.size(), MSG_NOSIGNAL);
    std::array<char, 1000> question{};
    while (::recv(asker.get(), question.data(), question.size(), 0) > 0) {
    }
  });
  HostNetwork client(kSecret, kPatient);
  const auto answered = ask(client, {{kHere, taken}, {kHere, port}}, "it");
  repeats.join();
  ASSERT_TRUE(answered);
  EXPECT_EQ(answered->by, 1U);
}

TEST_F(HostNetworkTest, ALineThatIsTooLongIsRefused) {
  HostNetwork server(kSecret, {.line_bytes = 1000, .seconds = 600});
  const std::uint16_t port = listen(server);
  const Stranger member(port);
  member.send(member.greeting_to(member.challenge()) + std::string(1000, 'x') + "\n");
  EXPECT_NE(member.read(), "");
  const Stranger stranger(port);
  stranger.send(stranger.greeting_to(stranger.challenge()) + std::string(5000, 'x'));
  EXPECT_EQ(stranger.read(), "");
}

TEST_F(HostNetworkTest, WhoIsSlowIsClosed) {
  HostNetwork server(kSecret, {.seconds = 0.2});
  const std::uint16_t port = listen(server);
  const Stranger silent(port);
  EXPECT_EQ(silent.read().size(), kChallengeBytes);
  const Stranger halfway(port);
  halfway.send(halfway.greeting_to(halfway.challenge()) + "half of a li");
  EXPECT_EQ(halfway.read(), "");
}

TEST_F(HostNetworkTest, StrangersThatHoldTheirConnectionsKeepNobodyOut) {
  HostNetwork server(kSecret, {.connections = 2, .strangers = 3, .seconds = 600});
  const std::uint16_t port = listen(server);
  const Stranger first(port);
  std::vector<std::unique_ptr<Stranger>> held;
  for (int i = 0; i < 20; ++i) held.push_back(std::make_unique<Stranger>(port));
  EXPECT_EQ(first.read().size(), kChallengeBytes) << "the first to come goes";
  HostNetwork client(kSecret, kPatient);
  EXPECT_TRUE(ask(client, {{kHere, port}}, "it"));
  EXPECT_GE(crowded_, 18);
}

TEST_F(HostNetworkTest, WhereSomebodyGreetedBeforeTheOthersGoFirst) {
  HostNetwork server(kSecret, {.strangers = 3, .seconds = 600});
  const std::uint16_t port = listen(server);
  HostNetwork client(kSecret, kPatient);
  ASSERT_TRUE(ask(client, {{kHere, port}}, "it"));
  const Stranger member(port);
  std::vector<std::unique_ptr<Stranger>> crowd;
  for (int i = 0; i < 20; ++i) {
    crowd.push_back(std::make_unique<Stranger>(port, "127.0.0.2"));
    static_cast<void>(crowd.back()->challenge());  // it was let in
  }
  member.send(member.greeting_to(member.challenge()) + "it\n");
  EXPECT_NE(member.read(), "");
}

TEST_F(HostNetworkTest, WhoGreetsWhenAllConnectionsAreTakenIsClosed) {
  HostNetwork server(kSecret, {.connections = 1, .seconds = 600});
  const std::uint16_t port = listen(server);
  HostNetwork client(kSecret, kPatient);
  {
    const Stranger member(port);
    member.send(member.greeting_to(member.challenge()));
    while (ask(client, {{kHere, port}}, "it")) {  // until the server has read the greeting
    }
  }
  while (!ask(client, {{kHere, port}}, "it")) {  // until the server has seen that it is gone
  }
}

TEST_F(HostNetworkTest, WhatIsNoAddressOfThisHostCannotBeListenedAt) {
  for (const char* const address : {"", "no address", "192.0.2.1"}) {
    HostNetwork server(kSecret, kPatient);  // NOLINT(misc-const-correctness): it listens
    EXPECT_FALSE(server.listen(address, {.answer = [](std::string_view) { return std::nullopt; }}))
        << address;
  }
}

}  // namespace
}  // namespace collbench::launch::host_network_test
