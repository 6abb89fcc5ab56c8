#include "launch/watchdog.hpp"

#include <chrono>
#include <utility>

namespace collbench::launch {

Watchdog::Watchdog(double period_seconds, std::function<void()> look)
    : period_seconds_(period_seconds), look_(std::move(look)) {
  if (look_) thread_ = std::thread([this] { watch(); });
}

Watchdog::~Watchdog() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Watchdog::watch() {
  std::unique_lock lock(mutex_);
  const std::chrono::duration<double> period(period_seconds_);
  while (!wake_.wait_for(lock, period, [this] { return over_; })) {
    lock.unlock();
    look_();
    lock.lock();
  }
}

}  // namespace collbench::launch
