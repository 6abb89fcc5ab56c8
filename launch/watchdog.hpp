#pragma once
#include <functional>
#include <thread>

namespace collbench::launch {

/// Looks around every now and then, from a thread of its own: whoever waits inside a library for a rank that
/// hangs can notice nothing.
class Watchdog {
 public:
  /// `look` is called every `period_seconds` on the watchdog's thread, until this object is gone; it must
  /// call no MPI. An empty one: never.
  Watchdog(double period_seconds, std::function<void()> look);
  Watchdog(const Watchdog&) = delete;  // `look` may know where its owner is
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog() = default;

 private:
  std::jthread thread_;
};

}  // namespace collbench::launch
