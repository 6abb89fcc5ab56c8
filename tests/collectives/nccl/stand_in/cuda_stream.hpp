#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "collectives/nccl/loader/cuda_library.hpp"

// What the stand-in runtime's handles point to: events, graphs and streams.

namespace collbench::collectives {

/// A stream that has yet to record it keeps the moment: cudaEventDestroy may come first.
struct CudaEventObject {
  struct Moment {
    std::atomic<bool> over{false};
    std::chrono::steady_clock::time_point when;
    double simulated_seconds = 0;  ///< of its stream, until then
    CudaResult result = CudaResult::success;
  };
  std::shared_ptr<Moment> moment = std::make_shared<Moment>();
};

using CudaTasks = std::vector<std::function<void()>>;

/// What was captured, as a list of tasks.
struct CudaGraphObject {
  CudaTasks tasks;
};
struct CudaGraphExecObject {
  CudaTasks tasks;
};

/// A queue and the thread that works it off.
struct CudaStreamObject {
  CudaStreamObject() : thread([this] { work(); }) {}
  CudaStreamObject(const CudaStreamObject&) = delete;
  CudaStreamObject& operator=(const CudaStreamObject&) = delete;
  CudaStreamObject(CudaStreamObject&&) = delete;
  CudaStreamObject& operator=(CudaStreamObject&&) = delete;
  ~CudaStreamObject() {
    {
      const std::lock_guard lock(mutex);
      over = true;
    }
    wake.notify_one();
    thread.join();
  }

  void put(std::function<void()> task) {
    if (capture) {
      capture->push_back(std::move(task));
      return;
    }
    {
      std::unique_lock lock(mutex);
      has_room.wait(lock, [this] { return queue.size() < kQueue; });
      queue.push_back(std::move(task));
    }
    wake.notify_one();
  }

  void work() {
    std::unique_lock lock(mutex);
    while (true) {
      wake.wait(lock, [this] { return over || !queue.empty(); });
      if (queue.empty()) return;
      const auto task = std::move(queue.front());
      lock.unlock();
      task();
      lock.lock();
      queue.pop_front();  // only now: cudaStreamQuery counts what is being done
      has_room.notify_one();
    }
  }

  /// What a stream takes; the next launch blocks, as in the driver ("about 1,024", which CUDA promises
  /// nobody).
  static constexpr std::size_t kQueue = 1024;

  std::mutex mutex;
  std::condition_variable wake;
  std::condition_variable has_room;
  std::deque<std::function<void()>> queue;
  bool over = false;
  CudaResult error = CudaResult::success;
  int device = 0;
  double simulated_seconds = 0;        // that its work is said to have taken: the thread's own
  std::unique_ptr<CudaTasks> capture;  // between cudaStreamBeginCapture and -EndCapture: what was put on it
  std::thread thread;                  // last: it uses the others
};

}  // namespace collbench::collectives
