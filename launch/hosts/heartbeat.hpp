#pragma once
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/files.hpp"
#include "launch/hosts/greeting.hpp"

namespace collbench::launch {

/// A connection to a rank of another host that lasts as long as this process does: when the process is
/// killed, the kernel closes it, and the other side knows at once. One that something else closes, such as a
/// relay between, is made again. A rank whose host has nobody else to look after it has one. Nothing here
/// waits for the other side but farewell(); any thread may call anything.
class Heartbeat {
 public:
  /// Begins to connect. An address that cannot be had or does not answer: nobody hears of this rank.
  Heartbeat(NetworkAddress to, std::string secret);

  /// What this rank is doing, on one line. Left out until the other side has begun, and while an earlier one
  /// is still on its way. To be called again and again, at each look: it makes the connection.
  void beat(std::string_view line);

  /// This process ends on purpose, or lets others end it. Waits at most 0.2 s until that is said, by a new
  /// connection if the last one was closed.
  void farewell();

 private:
  [[nodiscard]] bool is_greeted() const { return socket_ && challenge_.size() == kChallengeBytes; }
  void begin_connection();
  void read();
  void send_pending();

  std::mutex mutex_;
  const NetworkAddress to_;
  const std::string secret_;
  bool is_over_ = false;
  std::optional<FileDescriptor> socket_;  // none: nobody hears of this rank
  int beats_ungreeted_ = 0;               // of this connection
  std::string challenge_;                 // as much of it as has come
  std::string pending_;
  std::string last_line_;  // with its end; empty: nobody has heard of this rank
};

}  // namespace collbench::launch
