#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace collbench::launch {

/// Notices a step that takes too long, from a thread of its own: whoever waits inside a library for a rank
/// that hangs can notice nothing.
class Watchdog {
 public:
  /// `on_stall` is called once, on the watchdog's thread, with the name of a step that has taken `seconds`;
  /// it must call no MPI. 0 seconds: never. Time in which the process itself is stopped (Ctrl-Z, a debugger)
  /// does not count.
  Watchdog(double seconds, std::function<void(const std::string& step)> on_stall);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  Watchdog(Watchdog&&) = delete;
  Watchdog& operator=(Watchdog&&) = delete;
  ~Watchdog();

  /// The last step is over and this one begins.
  void step(std::string name);

  /// The same, of a step that may take any time.
  void step_without_limit(std::string name);

 private:
  void begin(std::string name, bool limited);
  void watch();

  double seconds_;
  std::function<void(const std::string&)> on_stall_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::string step_;
  int ticks_ = 0;  // that the step has taken
  bool limited_ = true;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace collbench::launch
