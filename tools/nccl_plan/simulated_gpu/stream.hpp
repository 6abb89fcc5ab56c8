#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace collbench::simulated_gpu {

using Task = std::function<void()>;

/// What an event waits for: that everything before it on its stream is done.
struct Moment {
  std::atomic<bool> over{false};
  std::chrono::steady_clock::time_point when;
};

/// What a graph was told to keep alive (cudaUserObjectCreate): its owner's function runs with the last
/// holder.
class UserObject {
 public:
  UserObject(void (*destroy)(void*), void* data) : destroy_(destroy), data_(data) {}
  UserObject(const UserObject&) = delete;
  UserObject& operator=(const UserObject&) = delete;
  UserObject(UserObject&&) = delete;
  UserObject& operator=(UserObject&&) = delete;
  ~UserObject() { destroy_(data_); }

 private:
  void (*destroy_)(void*);
  void* data_;
};

/// A graph: what was put on the streams of a capture, in that order, which is one of those that their events
/// allow. Each launch runs it all.
struct TaskGraph {
  unsigned long long capture_id = 0;
  bool capturing = true;
  std::vector<Task> tasks;
  std::vector<std::shared_ptr<UserObject>> held;
};

/// cudaEvent_t.
struct Event {
  std::shared_ptr<Moment> moment;    ///< null until it is recorded
  std::weak_ptr<TaskGraph> capture;  ///< of the stream that it was recorded on; an event keeps no graph alive
};

/// cudaStream_t: tasks run in their order, one after the other. A brief one with nothing before it runs at
/// once, in the caller's thread; the others on a thread of the stream's own, which starts with the first of
/// them. Where kMaxQueued wait, the caller waits for room, as a launch does while the driver's queue is full.
class Stream {
 public:
  /// About what a real driver's queue takes (docs/notes/gpu-evidence.md, "When a stream is full").
  static constexpr std::size_t kMaxQueued = 1024;

  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  Stream(Stream&&) = delete;
  Stream& operator=(Stream&&) = delete;
  ~Stream();

  /// A brief task returns at once and calls nothing of CUDA. During a capture either kind becomes part of the
  /// graph.
  void put_brief(Task task);
  void put(Task task);

  [[nodiscard]] bool idle() const;
  void wait() const;

  /// The graph that is being captured; null outside of a capture.
  std::shared_ptr<TaskGraph> capture;

 private:
  void enqueue(std::unique_lock<std::mutex>& lock, Task task);
  void work();

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  mutable std::condition_variable done_;  ///< a task of those that wait
  std::deque<Task> queue_;
  bool over_ = false;
  std::thread thread_;
};

/// All streams of the process. The default stream is one like the others.
class Streams {
 public:
  Stream* create();
  void destroy(Stream* stream);
  /// The stream behind a handle: 0, 1 and 2 are the default stream (null, legacy and per thread).
  [[nodiscard]] Stream& of(void* handle);
  /// Until nothing runs on any stream.
  void wait_for_all();
  /// Ends the graph's capture on every stream that takes part in it.
  void end_capture(std::shared_ptr<TaskGraph> graph);

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Stream>> streams_;
  Stream default_;
};

}  // namespace collbench::simulated_gpu
