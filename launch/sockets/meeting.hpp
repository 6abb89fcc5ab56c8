#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "launch/sockets/rank_link.hpp"

namespace collbench::launch {

/// Who meets, and by which word they know each other.
struct Party {
  int rank = 0;   ///< of this process
  int ranks = 1;  ///< of all, this one among them
  std::string word;
};

/// Rank 0's door: an open port, at which the other ranks of a party knock.
class Door {
 public:
  /// The first of `ports` ports from `port` on that can be had (0: whichever the system gives), at the
  /// loopback address alone where `only_here`. Throws Error (not_here) where none can.
  Door(std::uint16_t port, std::uint16_t ports, bool only_here);
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;
  Door(Door&&) = delete;
  Door& operator=(Door&&) = delete;
  ~Door();

  [[nodiscard]] std::uint16_t port() const;

  /// Told of the ranks that have not come yet, once, after some seconds.
  using Waits = std::function<void(const std::vector<int>& missing)>;
  /// A link to each other rank, by rank, once all have come. Whoever does not know the word is closed in
  /// silence. Throws Error: rank_lost with who is missing after `seconds` (0: never); usage when a rank comes
  /// twice or believes in another number of ranks.
  [[nodiscard]] std::vector<RankLink> receive(const Party& party, double seconds, const Waits& waits);

 private:
  class Sockets;
  std::unique_ptr<Sockets> sockets_;
};

/// Finds rank 0 of the party at one of those ports of `host`, again and again for as long as `seconds` (0:
/// for ever): it may start later. Throws Error: usage when rank 0 refuses this rank; rank_lost when the time
/// is up, with what was found last.
[[nodiscard]] RankLink knock(const std::string& host, std::uint16_t port, std::uint16_t ports,
                             const Party& party, double seconds);

}  // namespace collbench::launch
