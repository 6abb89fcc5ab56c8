#include "launch/watchdog.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <utility>

namespace collbench::launch {

Watchdog::Watchdog(double period_seconds, std::function<void()> look) {
  if (!look) return;
  const std::chrono::duration<double> period(period_seconds);
  thread_ = std::jthread([period, look = std::move(look)](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    // Not by what wait_for returns: a stop that comes just before it waits is no period that has passed.
    for (;;) {
      wake.wait_for(lock, stop, period, [] { return false; });
      if (stop.stop_requested()) return;
      look();
    }
  });
}

}  // namespace collbench::launch
