#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launch/sockets/rank_link.hpp"

namespace collbench::launch {

/// Who meets, and by which word they know each other.
struct Party {
  int rank = 0;   ///< of this process
  int ranks = 1;  ///< of all, this one among them
  std::string word;
  std::vector<int> numbers{};  ///< of these ranks in the run, for messages; empty: they are all of it
  /// The signal that ends the meeting; empty: none has come.
  std::function<std::string()> interruption = [] { return std::string(); };

  [[nodiscard]] int number(int of) const {
    return numbers.empty() ? of : numbers.at(static_cast<std::size_t>(of));
  }
};

/// Rank 0's door: an open port, at which the other ranks of a party knock.
class Door {
 public:
  /// The first of `ports` ports from `port` on that can be had (0: whichever the system gives), at `address`,
  /// a number (empty: at all). Throws Error (not_here) where none can.
  Door(std::uint16_t port, std::uint16_t ports, const std::string& address);
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;
  ~Door();

  [[nodiscard]] std::uint16_t port() const;

  /// Told of the ranks that have not come yet, once, after some seconds.
  using Waits = std::function<void(const std::vector<int>& missing)>;
  /// A link to each other rank, by rank, once all have come; each has then been sent an empty message.
  /// Whoever does not show that it knows the word is disconnected without an answer; a rank that is gone
  /// again may be replaced. Throws Error, and tells it those that have come: rank_lost with who is missing
  /// after `seconds` (0: never), or on an interruption; usage when a rank comes twice or believes in another
  /// number of ranks.
  [[nodiscard]] std::vector<RankLink> receive(const Party& party, double seconds, const Waits& waits);

 private:
  class Sockets;
  std::unique_ptr<Sockets> sockets_;
};

/// Finds rank 0 of the party at one of those ports of `host`, again and again for as long as `seconds` (0:
/// for ever): it may start later. Then waits, as long as rank 0 does, until all have come. Throws Error:
/// usage when rank 0 refuses this rank; rank_lost when the time is up, with what was found last, when rank 0
/// gives up, with its reason, and on an interruption.
[[nodiscard]] RankLink knock(const std::string& host, std::uint16_t port, std::uint16_t ports,
                             const Party& party, double seconds);

// How a rank and rank 0 show each other at a port that they know the job's word. Rank 0 begins with a
// challenge. The other rank answers with who it is, a random number and a keyed hash over all of it, and the
// reply to that bears one, too: the word itself is never sent, and what was recorded of one connection says
// nothing on another one (launch/hosts/greeting.hpp). The port is in the hash: who took the first port before
// rank 0 cannot pass an introduction on to the next one.

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
