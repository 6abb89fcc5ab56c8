#include "launch/hosts/host_network.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <future>
#include <string>
#include <vector>

#include "base/files.hpp"

namespace collbench::launch::host_network_test {
namespace {

constexpr const char* kHere = "127.0.0.1";
constexpr NetworkLimits kPatient{.seconds = 600};  // on a busy machine

const RunSecrets kSecrets{.asking = std::string(RunSecrets::kLength, 'a'),
                          .answering = std::string(RunSecrets::kLength, 'b')};

std::string greeting(char secret) {
  return "collbench-hosts-1 " + std::string(RunSecrets::kLength, secret) + "\n";
}

/// Somebody who asks by other means.
class Stranger {
 public:
  explicit Stranger(std::uint16_t port) : descriptor_(::socket(AF_INET, SOCK_STREAM, 0)) {
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
  /// All that comes until the other side closes.
  [[nodiscard]] std::string read() const {
    std::string text;
    std::array<char, 256> part{};
    for (ssize_t got = 0; (got = ::recv(descriptor_.get(), part.data(), part.size(), 0)) > 0;)
      text.append(part.data(), static_cast<std::size_t>(got));
    return text;
  }

 private:
  FileDescriptor descriptor_;
  bool connected_ = false;
};

class HostNetworkTest : public ::testing::Test {
 protected:
  /// Answers "is QUESTION" to all but "nothing".
  std::uint16_t listen(HostNetwork& network) {
    const auto port = network.listen(kHere, [](std::string_view question) -> std::optional<std::string> {
      if (question == "nothing") return std::nullopt;
      return "is " + std::string(question);
    });
    EXPECT_TRUE(port.has_value());
    return port.value_or(0);
  }

  static std::optional<HostNetwork::Answered> ask(HostNetwork& network, std::vector<NetworkAddress> to,
                                                  const std::string& question) {
    std::promise<std::optional<HostNetwork::Answered>> answer;
    network.ask(std::move(to), question, [&](auto answered) { answer.set_value(std::move(answered)); });
    return answer.get_future().get();
  }
};

TEST_F(HostNetworkTest, AQuestionIsAnswered) {
  HostNetwork server(kSecrets, kPatient);
  const std::uint16_t port = listen(server);
  HostNetwork client(kSecrets, kPatient);
  for (const std::string question : {"it", "it again"}) {
    const auto answered = ask(client, {{kHere, port}}, question);
    ASSERT_TRUE(answered);
    EXPECT_EQ(answered->line, "is " + question);
  }
}

// NOLINTBEGIN(misc-const-correctness): clang-tidy 19 takes networks that listen and ask for constants here
TEST_F(HostNetworkTest, TheFirstThatAnswersIsAsked) {
  HostNetwork closes(kSecrets, kPatient);
  HostNetwork server(kSecrets, kPatient);
  const auto none = closes.listen(kHere, [](std::string_view) { return std::nullopt; });
  ASSERT_TRUE(none);
  const std::uint16_t port = listen(server);
  HostNetwork client(kSecrets, kPatient);
  const auto answered = ask(client, {{"no address", 1}, {kHere, 1}, {kHere, *none}, {kHere, port}}, "it");
  ASSERT_TRUE(answered);
  EXPECT_EQ(answered->by, 3U);
  EXPECT_FALSE(ask(client, {{kHere, port}}, "nothing"));
  EXPECT_FALSE(ask(client, {}, "it"));
}
// NOLINTEND(misc-const-correctness)

TEST_F(HostNetworkTest, WhoAcceptsAndSaysNothingIsGivenUp) {
  const FileDescriptor silent(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  ::inet_pton(AF_INET, kHere, &at.sin_addr);
  socklen_t size = sizeof at;
  ASSERT_EQ(::bind(silent.get(), reinterpret_cast<sockaddr*>(&at), size), 0);
  ASSERT_EQ(::listen(silent.get(), 8), 0);
  ASSERT_EQ(::getsockname(silent.get(), reinterpret_cast<sockaddr*>(&at), &size), 0);
  HostNetwork server(kSecrets, kPatient);
  const std::uint16_t port = listen(server);
  HostNetwork client(kSecrets, {.seconds = 0.5});
  std::optional<HostNetwork::Answered> answered;
  while (!answered) answered = ask(client, {{kHere, ntohs(at.sin_port)}, {kHere, port}}, "it");
  EXPECT_EQ(answered->by, 1U);
}

TEST_F(HostNetworkTest, WhoDoesNotKnowTheSecretHearsNothing) {
  HostNetwork server(kSecrets, kPatient);
  const std::uint16_t port = listen(server);
  for (const std::string& text : {greeting('x') + "it\n", std::string(100'000, 'x'),
                                  std::string("GET / HTTP/1.1\r\n\r\n") + greeting('a'),
                                  greeting('a').substr(0, 40) + std::string(40, '\n')}) {
    const Stranger stranger(port);
    stranger.send(text);
    EXPECT_EQ(stranger.read(), "");
  }
  const Stranger member(port);
  member.send(greeting('a') + "it\n");
  EXPECT_EQ(member.read(), std::string(RunSecrets::kLength, 'b') + " is it\n");
}

TEST_F(HostNetworkTest, AnAnswerWithoutTheSecretIsNone) {
  HostNetwork server({.asking = kSecrets.asking, .answering = std::string(RunSecrets::kLength, 'x')},
                     kPatient);
  const std::uint16_t port = listen(server);
  HostNetwork client(kSecrets, kPatient);
  EXPECT_FALSE(ask(client, {{kHere, port}}, "it"));
}

TEST_F(HostNetworkTest, ALineThatIsTooLongIsRefused) {
  HostNetwork server(kSecrets, {.line_bytes = 1000, .seconds = 600});
  const std::uint16_t port = listen(server);
  const Stranger member(port);
  member.send(greeting('a') + std::string(1000, 'x') + "\n");
  EXPECT_NE(member.read(), "");
  const Stranger stranger(port);
  stranger.send(greeting('a') + std::string(5000, 'x'));
  EXPECT_EQ(stranger.read(), "");
}

TEST_F(HostNetworkTest, WhoIsSlowIsClosed) {
  HostNetwork server(kSecrets, {.seconds = 0.2});
  const std::uint16_t port = listen(server);
  const Stranger silent(port);
  EXPECT_EQ(silent.read(), "");
  const Stranger halfway(port);
  halfway.send(greeting('a') + "half of a li");
  EXPECT_EQ(halfway.read(), "");
}

TEST_F(HostNetworkTest, WhoComesWhenAllConnectionsAreTakenIsClosed) {
  HostNetwork server(kSecrets, {.connections = 2, .seconds = 600});
  const std::uint16_t port = listen(server);
  {
    const Stranger first(port);
    const Stranger second(port);
    const Stranger third(port);
    EXPECT_EQ(third.read(), "");
  }
  HostNetwork client(kSecrets, kPatient);
  while (!ask(client, {{kHere, port}}, "it")) {  // until the server has seen that they are gone
  }
}

TEST_F(HostNetworkTest, WhatIsNoAddressOfThisHostCannotBeListenedAt) {
  for (const char* const address : {"", "no address", "192.0.2.1"}) {
    HostNetwork server(kSecrets, kPatient);  // NOLINT(misc-const-correctness): it listens
    EXPECT_FALSE(server.listen(address, [](std::string_view) { return std::nullopt; })) << address;
  }
}

TEST(RunSecrets, AreLongAndNeverTheSame) {
  const RunSecrets first = new_run_secrets();
  const RunSecrets second = new_run_secrets();
  EXPECT_EQ(first.asking.size(), RunSecrets::kLength);
  EXPECT_EQ(first.answering.size(), RunSecrets::kLength);
  EXPECT_NE(first.asking, first.answering);
  EXPECT_NE(first.asking, second.asking);
}

}  // namespace
}  // namespace collbench::launch::host_network_test
