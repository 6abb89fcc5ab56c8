#pragma once
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/files.hpp"

namespace collbench::launch {

/// What another rank said as it ended: it tells the user itself.
class LastWord : public Error {
 public:
  using Error::Error;
};

/// Messages over a connected TCP socket to another rank, in order. Each blocks until it is through. A rank
/// that is gone, or said its last word, is an Error (rank_lost) by `peer` or by that word.
class RankLink {
 public:
  /// `peer` names the other end in errors: "rank 3 (node1)".
  RankLink(std::unique_ptr<FileDescriptor> socket, std::string peer);

  void send(std::span<const std::byte> message) const;
  [[nodiscard]] std::string receive() const;
  /// A message of that size. Throws Error (rank_lost) for another one.
  void receive_into(std::span<std::byte> message) const;
  /// The last word: what the other end throws, whatever it waits for. Fails without one.
  void end(std::string_view why) const;

  /// Whether a message, or the end of the connection, is there within that time.
  [[nodiscard]] bool has_message(std::chrono::milliseconds within) const;
  /// How long a call waits for bytes before the other end counts as gone; 0: as long as it takes.
  void limit_waits(std::chrono::seconds limit) const;
  /// Whether the other end has closed, as far as that has been heard here, and nothing from it waits.
  [[nodiscard]] bool is_closed() const;

  [[nodiscard]] std::string own_address() const;
  [[nodiscard]] std::string peer_address() const;

 private:
  [[nodiscard]] std::size_t receive_size() const;

  std::unique_ptr<FileDescriptor> socket_;
  std::string peer_;
};

}  // namespace collbench::launch
