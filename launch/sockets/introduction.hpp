#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace collbench::launch {

// How a rank and rank 0 show each other at a port that they know the job's word. Rank 0 begins with a
// challenge. The other rank answers with who it is, a random number and a keyed hash over all of it, and the
// reply to that bears one, too: the word itself is never sent, and what was recorded of one connection says
// nothing on another one (launch/hosts/greeting.hpp). The port is in the hash: who took the first port before
// rank 0 cannot pass an introduction on to the next one.

/// Who stands at the door.
struct Guest {
  int rank = 0;
  int ranks = 0;
  std::string host;
  std::string introduction;
};

/// "RANK RANKS HOST RANDOM" of this process.
[[nodiscard]] std::string introduction(int rank, int ranks);

/// Goes behind it on its line, after a blank.
[[nodiscard]] std::string introduction_proof(std::string_view word, std::uint16_t port,
                                             std::string_view challenge, std::string_view introduction);

/// Goes before the reply on its line.
[[nodiscard]] std::string reply_proof(std::string_view word, std::string_view challenge,
                                      std::string_view introduction, std::string_view reply);

/// Of the line "INTRODUCTION PROOF"; none for a stranger.
[[nodiscard]] std::optional<Guest> guest_of(std::string_view line, std::string_view word, std::uint16_t port,
                                            std::string_view challenge);

}  // namespace collbench::launch
