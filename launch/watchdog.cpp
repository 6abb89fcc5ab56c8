#include "launch/watchdog.hpp"

#include <chrono>
#include <utility>

namespace collbench::launch {
namespace {

// Counted instead of looking at a clock, which runs on while the process is stopped.
constexpr int kTicks = 20;

}  // namespace

Watchdog::Watchdog(double seconds, std::function<void(const std::string&)> on_stall)
    : seconds_(seconds), on_stall_(std::move(on_stall)) {
  if (seconds > 0) thread_ = std::thread([this] { watch(); });
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

void Watchdog::step(std::string name) { begin(std::move(name), true); }

void Watchdog::step_without_limit(std::string name) { begin(std::move(name), false); }

void Watchdog::begin(std::string name, bool limited) {
  const std::lock_guard lock(mutex_);
  step_ = std::move(name);
  ticks_ = 0;
  limited_ = limited;
}

void Watchdog::watch() {
  std::unique_lock lock(mutex_);
  const std::chrono::duration<double> tick(seconds_ / kTicks);
  while (!wake_.wait_for(lock, tick, [this] { return over_; })) {
    if (!limited_ || ++ticks_ <= kTicks) continue;
    const std::string stalled = step_;
    lock.unlock();
    on_stall_(stalled);
    return;
  }
}

}  // namespace collbench::launch
