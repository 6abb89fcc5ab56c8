#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace collbench::launch {

/// Known to the ranks of one run only. Who asks shows the first, who answers the second.
struct RunSecrets {
  static constexpr std::size_t kLength = 32;  ///< characters each: 128 bits
  std::string asking;
  std::string answering;
};

/// From the system's random numbers. Throws Error (internal) where there are none.
[[nodiscard]] RunSecrets new_run_secrets();

/// The first line of a connection that lasts (Heartbeat), its end included, and the last one of a process
/// that ends on purpose.
[[nodiscard]] std::string heartbeat_greeting(const RunSecrets& secrets);
inline constexpr std::string_view kHeartbeatFarewell = "farewell";

struct NetworkLimits {
  std::size_t connections = 8;    ///< at a time; the next one is closed
  std::size_t line_bytes = 4096;  ///< of a question or a beat; who sends more is closed
  double seconds = 2;             ///< for all of a question and its answer, or a heartbeat's greeting
};

struct NetworkAddress {
  std::string address;  ///< "10.0.0.1", "fd00::2"
  std::uint16_t port = 0;
};

/// A line asked over TCP and a line answered, and connections that last as long as the process at their other
/// end, in a thread of its own that sleeps while nobody asks. Whoever does not begin with the run's secret is
/// closed without a word.
class HostNetwork {
 public:
  HostNetwork(RunSecrets secrets, NetworkLimits limits);
  HostNetwork(const HostNetwork&) = delete;
  HostNetwork& operator=(const HostNetwork&) = delete;
  HostNetwork(HostNetwork&&) = delete;
  HostNetwork& operator=(HostNetwork&&) = delete;
  /// Nothing is called any more when it is over.
  ~HostNetwork();

  /// Which answer a question gets; none: the connection is closed. Called on the network's thread.
  using Answer = std::function<std::optional<std::string>(std::string_view question)>;
  /// Whose heartbeat ended without a farewell: the process is gone. The line is the last that it sent; on the
  /// network's thread. A connection that breaks in another way says nothing: that may be the network.
  using Lost = std::function<void(std::string_view last_beat)>;
  /// Answers at `address`, at a port that the system chooses; none where that cannot be had.
  [[nodiscard]] std::optional<std::uint16_t> listen(
      const std::string& address, Answer answer, Lost lost = [](std::string_view) {});

  struct Answered {
    std::size_t by = 0;  ///< index among those that were asked
    std::string line;
  };
  /// Asks one after the other until one answers; each has the seconds of the limits. `done` is called on the
  /// network's thread; with none when nobody answered.
  void ask(std::vector<NetworkAddress> addresses, const std::string& question,
           std::function<void(std::optional<Answered>)> done);

 private:
  class Sockets;
  std::unique_ptr<Sockets> sockets_;
};

}  // namespace collbench::launch
