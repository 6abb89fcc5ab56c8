#pragma once
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/files.hpp"
#include "launch/hosts/host_network.hpp"

namespace collbench::launch {

/// A connection to a rank of another host that lasts as long as this process does: when the process is
/// killed, the kernel closes it, and the other side knows at once. A rank whose host has nobody else to look
/// after it has one. Nothing here waits for the other side but farewell(); any thread may call anything.
class Heartbeat {
 public:
  /// Begins to connect. An address that cannot be had or does not answer: nobody hears of this rank.
  Heartbeat(const NetworkAddress& to, const RunSecrets& secrets);

  /// What this rank is doing, on one line. Left out while an earlier one is still on its way.
  void beat(std::string_view line);

  /// This process ends on purpose, or lets others end it. Waits at most 0.2 s for room to say it.
  void farewell();

 private:
  void begin_connection(const NetworkAddress& to);
  void send_pending();

  std::mutex mutex_;
  std::optional<FileDescriptor> socket_;  // none: nobody hears of this rank
  std::string pending_;
};

}  // namespace collbench::launch
