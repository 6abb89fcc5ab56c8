#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace collbench::launch {

// How two ranks of a run show each other over TCP that they know its secret, which itself is never sent
// there: the listener begins with a random number, its challenge. The other side greets with one of its own
// and a keyed hash over both, and an answer bears such a hash, too: what was recorded of one connection says
// nothing on another one. The hash covers the listener's address: who took the port of a listener that is
// gone cannot pass a greeting on to another one.

struct NetworkAddress {
  std::string address;  ///< "10.0.0.1", "fd00::2"
  std::uint16_t port = 0;
};

/// 32 hexadecimal digits: 128 bits of the system's random numbers. A run's secret is one. Throws Error
/// (internal) where there are none.
inline constexpr std::size_t kRandomWordLength = 32;
[[nodiscard]] std::string random_word();
/// One that is made of any text, for whoever was given such.
[[nodiscard]] std::string secret_of(std::string_view text);

enum class Purpose {
  question,   ///< a line asked, and a line answered
  heartbeat,  ///< lines for as long as the process at its other end lives
};

inline constexpr std::string_view kChallengeStart = "collbench-hosts-2 ";
inline constexpr std::size_t kChallengeBytes = kChallengeStart.size() + kRandomWordLength + 1;
inline constexpr std::size_t kGreetingBytes =
    std::string_view("asks ").size() + kRandomWordLength + 1 + kRandomWordLength + 1;

/// The first line of a connection, by `listener`; with its end, as the next one. Both are empty where the
/// system has no random numbers: the connection is then closed, on threads where nobody would catch an Error.
[[nodiscard]] std::string new_challenge();
/// The answer to it.
[[nodiscard]] std::string greeting(const std::string& secret, Purpose purpose, const NetworkAddress& listener,
                                   std::string_view challenge);
/// None for any other text, and from whoever does not know the secret.
[[nodiscard]] std::optional<Purpose> purpose_of(std::string_view greeting, const std::string& secret,
                                                const NetworkAddress& listener, std::string_view challenge);
/// What goes before the line that a greeted connection is answered.
[[nodiscard]] std::string answer_proof(const std::string& secret, std::string_view challenge,
                                       std::string_view greeting, std::string_view line);
/// In a time that does not depend on where they differ.
[[nodiscard]] bool equal_proofs(std::string_view a, std::string_view b);

struct SipKey {
  std::uint64_t first = 0;  ///< the lower eight of its bytes, little-endian
  std::uint64_t second = 0;
};

/// SipHash-2-4 with 128 bits of result, by J.-P. Aumasson and D. J. Bernstein
/// (https://www.aumasson.jp/siphash/siphash.pdf), the keyed hash that is made to authenticate short messages:
/// who does not know the key can neither compute nor guess it. Little-endian as the key.
[[nodiscard]] std::array<std::uint64_t, 2> siphash_128(SipKey key, std::string_view message);

}  // namespace collbench::launch
