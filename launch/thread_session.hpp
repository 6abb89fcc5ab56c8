#pragma once
#include <memory>

#include "launch/flight/flight_page.hpp"
#include "launch/session.hpp"

namespace collbench::launch {

/// Ranks that are threads: so many in each process of a session. The threads of process p are the ranks from
/// p × threads on, in order.
class ThreadSessions {
 public:
  /// `processes` connects the processes and outlives this; each has `threads` threads, at least 1.
  ThreadSessions(const Session& processes, int threads);
  ThreadSessions(const ThreadSessions&) = delete;
  ThreadSessions& operator=(const ThreadSessions&) = delete;
  ~ThreadSessions();

  /// That of a thread, whose exchanges with others `exchanges` counts; this outlives it. Thread 0, the one
  /// that made `processes`, speaks with the other processes, for MPI may be called by no other; it meets the
  /// others of its process before and after. A thread that ends without abort() leaves them waiting.
  [[nodiscard]] std::unique_ptr<Session> session(int thread, CallCounter& exchanges);

  struct Shared;

 private:
  std::unique_ptr<Shared> shared_;
};

}  // namespace collbench::launch
