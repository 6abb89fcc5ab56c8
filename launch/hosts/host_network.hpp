#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launch/hosts/greeting.hpp"

namespace collbench::launch {

/// The last line of a heartbeat whose process ends on purpose.
inline constexpr std::string_view kHeartbeatFarewell = "farewell";

struct NetworkLimits {
  std::size_t connections = 8;    ///< that have greeted, at a time; the next one is closed
  std::size_t strangers = 32;     ///< that have not; the next one takes the room of the first
  std::size_t line_bytes = 4096;  ///< of a question or a beat; who sends more is closed
  double seconds = 2;             ///< for all of a question and its answer, or a heartbeat's greeting
};

/// A line asked over TCP and a line answered, and connections that last as long as the process at their other
/// end, in a thread of its own that sleeps while nobody asks. Whoever does not greet as
/// one that knows the run's secret is closed without a word, and takes no room from those that do.
class HostNetwork {
 public:
  HostNetwork(std::string secret, NetworkLimits limits);
  HostNetwork(const HostNetwork&) = delete;
  HostNetwork& operator=(const HostNetwork&) = delete;
  /// Nothing is called any more when it is over.
  ~HostNetwork();

  /// All called on the network's thread.
  struct Listener {
    /// Which answer a question gets; none: the connection is closed.
    std::function<std::optional<std::string>(std::string_view question)> answer;
    /// A line of a heartbeat.
    std::function<void(std::string_view beat)> beat = [](std::string_view) {};
    /// A heartbeat that ended without a farewell, and its last line: the process is gone, or something
    /// between closed the connection. One that breaks in another way says nothing: that may be the network.
    std::function<void(std::string_view last_beat)> lost = [](std::string_view) {};
    /// One that had not greeted was closed to make room for the next.
    std::function<void()> crowded = [] {};
  };
  /// Answers at `address`, at a port that the system chooses; none where that cannot be had.
  [[nodiscard]] std::optional<std::uint16_t> listen(const std::string& address, Listener listener);

  struct Answered {
    std::size_t by = 0;  ///< index among those that were asked
    std::string line;
  };
  /// Asks one after the other until one answers; each has the seconds of the limits. `done` is called on the
  /// network's thread; with none when nobody answered.
  void ask(std::vector<NetworkAddress> addresses, const std::string& question,
           std::function<void(std::optional<Answered>)> done);

 private:
  struct Reception;
  class Visit;
  class Sockets;
  std::unique_ptr<Sockets> sockets_;
};

}  // namespace collbench::launch
