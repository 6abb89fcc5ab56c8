#include "launch/hosts/greeting.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include "base/error.hpp"
#include "base/text_input.hpp"

namespace collbench::launch {
namespace {

using Word = std::array<std::uint64_t, 2>;

constexpr std::array<std::string_view, 2> kPurposes{"asks ", "beat "};

std::string as_text(const Word& word) { return fmt::format("{:016x}{:016x}", word[0], word[1]); }

SipKey as_key(std::string_view secret) {
  const auto number = [](std::string_view digits) { return parse_hex(digits).value_or(0); };
  constexpr std::size_t kHalf = kRandomWordLength / 2;
  return {number(secret.substr(0, kHalf)), number(secret.substr(kHalf))};
}

/// Of parts of fixed lengths but the last one: none can be taken for another.
std::string proof(const std::string& secret, std::string_view challenge, std::string_view part,
                  std::string_view last) {
  return as_text(siphash_128(as_key(secret), fmt::format("{}{}{}", challenge, part, last)));
}

std::optional<Word> random_numbers() {
  Word word{};
  if (::getrandom(word.data(), sizeof word, 0) != static_cast<ssize_t>(sizeof word)) return std::nullopt;
  return word;
}

/// What follows `start`, of `greeting`.
std::string greeting_after(std::string_view start, const std::string& secret, const NetworkAddress& listener,
                           std::string_view challenge) {
  const std::string address = fmt::format("{} {}", listener.address, listener.port);
  return fmt::format("{} {}\n", start, proof(secret, challenge, start, address));
}

}  // namespace

std::string random_word() {
  const auto word = random_numbers();
  if (!word) throw Error(ExitStatus::internal, "getrandom", "gives no random numbers", "");
  return as_text(*word);
}

std::string secret_of(std::string_view text) { return as_text(siphash_128({}, text)); }

std::string new_challenge() {
  const auto word = random_numbers();
  return word ? fmt::format("{}{}\n", kChallengeStart, as_text(*word)) : "";
}

std::string greeting(const std::string& secret, Purpose purpose, const NetworkAddress& listener,
                     std::string_view challenge) {
  const auto word = random_numbers();
  if (!word) return "";
  const std::string start =
      fmt::format("{}{}", kPurposes.at(static_cast<std::size_t>(purpose)), as_text(*word));
  return greeting_after(start, secret, listener, challenge);
}

std::optional<Purpose> purpose_of(std::string_view greeting, const std::string& secret,
                                  const NetworkAddress& listener, std::string_view challenge) {
  const std::string_view start = greeting.substr(0, kPurposes[0].size() + kRandomWordLength);
  if (!equal_proofs(greeting, greeting_after(start, secret, listener, challenge))) return std::nullopt;
  return start.starts_with(kPurposes[0]) ? Purpose::question : Purpose::heartbeat;
}

std::string answer_proof(const std::string& secret, std::string_view challenge, std::string_view greeting,
                         std::string_view line) {
  return proof(secret, challenge, greeting, line);
}

bool equal_proofs(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned different = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    different |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return different == 0;
}

}  // namespace collbench::launch
