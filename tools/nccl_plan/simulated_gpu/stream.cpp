#include "tools/nccl_plan/simulated_gpu/stream.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace collbench::simulated_gpu {

Stream::~Stream() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Stream::put_brief(Task task) {
  if (capture) {
    capture->tasks.push_back(std::move(task));
    return;
  }
  std::unique_lock lock(mutex_);
  if (queue_.empty()) {
    task();
  } else {
    enqueue(lock, std::move(task));
  }
}

void Stream::put(Task task) {
  if (capture) {
    capture->tasks.push_back(std::move(task));
    return;
  }
  std::unique_lock lock(mutex_);
  enqueue(lock, std::move(task));
}

void Stream::enqueue(std::unique_lock<std::mutex>& lock, Task task) {
  done_.wait(lock, [this] { return queue_.size() < kMaxQueued; });
  queue_.push_back(std::move(task));
  if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  wake_.notify_one();
}

bool Stream::idle() const {
  const std::lock_guard lock(mutex_);
  return queue_.empty();
}

void Stream::wait() const {
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return queue_.empty(); });
}

void Stream::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return over_ || !queue_.empty(); });
    if (queue_.empty()) return;
    {
      const Task task = std::move(queue_.front());
      lock.unlock();
      task();
    }
    lock.lock();
    queue_.pop_front();  // only now: what runs is not idle
    done_.notify_all();
  }
}

Stream* Streams::create() {
  const std::lock_guard lock(mutex_);
  return streams_.emplace_back(std::make_unique<Stream>()).get();
}

void Streams::destroy(Stream* stream) {
  std::unique_ptr<Stream> destroyed;  // its tasks end outside of the lock
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find_if(streams_, [&](const auto& each) { return each.get() == stream; });
    if (found == streams_.end()) return;
    destroyed = std::move(*found);
    streams_.erase(found);
  }
  destroyed->wait();
}

Stream& Streams::of(void* handle) {
  return reinterpret_cast<std::uintptr_t>(handle) <= 2 ? default_ : *static_cast<Stream*>(handle);
}

void Streams::wait_for_all() {
  default_.wait();
  std::vector<Stream*> all;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& stream : streams_) all.push_back(stream.get());
  }
  for (const Stream* stream : all) stream->wait();
}

void Streams::end_capture(std::shared_ptr<TaskGraph> graph) {  // NOLINT(performance-unnecessary-value-param):
                                                               // it may be one of those that are reset
  const std::lock_guard lock(mutex_);
  graph->capturing = false;
  if (default_.capture == graph) default_.capture.reset();
  for (const auto& stream : streams_) {
    if (stream->capture == graph) stream->capture.reset();
  }
}

}  // namespace collbench::simulated_gpu
