#include "tools/nccl_plan/simulated_gpu/stream.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

namespace collbench::simulated_gpu {
namespace {

using testing::ElementsAre;

TEST(Stream, TasksRunInTheirOrder) {
  Stream stream;
  std::promise<void> go;
  std::vector<int> order;
  stream.put([&] {
    go.get_future().wait();
    order.push_back(1);
  });
  stream.put_brief([&] { order.push_back(2); });
  stream.put([&] { order.push_back(3); });
  EXPECT_FALSE(stream.idle());
  go.set_value();
  stream.wait();
  EXPECT_TRUE(stream.idle());
  EXPECT_THAT(order, ElementsAre(1, 2, 3));
}

TEST(Stream, ABriefTaskWithNothingBeforeItIsDoneAtOnce) {
  Stream stream;
  bool done = false;
  stream.put_brief([&] { done = true; });
  EXPECT_TRUE(done);
}

TEST(Stream, ACallerWaitsWhileTheQueueIsFull) {
  Stream stream;
  std::promise<void> go;
  std::atomic<std::size_t> put{0};
  stream.put([&] { go.get_future().wait(); });
  std::thread caller([&] {
    for (; put < Stream::kMaxQueued; ++put) stream.put([] {});
  });
  while (put + 1 < Stream::kMaxQueued) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // for a put that would not wait
  EXPECT_EQ(put, Stream::kMaxQueued - 1) << "with the one that runs, the queue is full";
  EXPECT_FALSE(stream.idle()) << "who asks does not wait";
  go.set_value();
  caller.join();
  stream.wait();
  EXPECT_EQ(put, Stream::kMaxQueued);
}

TEST(Stream, ACaptureKeepsWhatIsPutOnIt) {
  Stream stream;
  stream.capture = std::make_shared<TaskGraph>();
  int calls = 0;
  stream.put([&] { ++calls; });
  stream.put_brief([&] { ++calls; });
  EXPECT_EQ(calls, 0);
  ASSERT_EQ(stream.capture->tasks.size(), 2U);
  for (const Task& task : stream.capture->tasks) task();
  EXPECT_EQ(calls, 2);
}

TEST(Streams, HandlesUpToTwoAreTheDefaultStream) {
  Streams streams;
  Stream* const own = streams.create();
  EXPECT_EQ(&streams.of(own), own);
  EXPECT_EQ(&streams.of(nullptr), &streams.of(reinterpret_cast<void*>(2)));
  EXPECT_NE(&streams.of(nullptr), own);
}

TEST(Streams, ACaptureEndsOnAllItsStreams) {
  Streams streams;
  Stream* const first = streams.create();
  Stream* const second = streams.create();
  Stream* const other = streams.create();
  first->capture = std::make_shared<TaskGraph>();
  second->capture = first->capture;
  other->capture = std::make_shared<TaskGraph>();
  const auto ended = first->capture;
  streams.end_capture(first->capture);
  EXPECT_FALSE(ended->capturing);
  EXPECT_EQ(first->capture, nullptr);
  EXPECT_EQ(second->capture, nullptr);
  EXPECT_NE(other->capture, nullptr);
}

TEST(Streams, DestroyWaitsForWhatRuns) {
  Streams streams;
  Stream* const stream = streams.create();
  std::atomic<bool> done{false};
  stream->put([&] { done = true; });
  streams.destroy(stream);
  EXPECT_TRUE(done);
  streams.destroy(stream);  // a handle that is no more
  streams.wait_for_all();
}

TEST(TaskGraph, AnEventKeepsNone) {
  auto graph = std::make_shared<TaskGraph>();
  const Event event{.moment = nullptr, .capture = graph};
  graph.reset();
  EXPECT_EQ(event.capture.lock(), nullptr);
}

TEST(TaskGraph, ItsHolderEndsWithTheLastOwner) {
  static int destroyed = 0;
  auto graph = std::make_shared<TaskGraph>();
  graph->held.push_back(
      std::make_shared<UserObject>([](void* count) { ++*static_cast<int*>(count); }, &destroyed));
  const auto executable = std::make_unique<std::shared_ptr<TaskGraph>>(graph);
  graph.reset();
  EXPECT_EQ(destroyed, 0);
  executable->reset();
  EXPECT_EQ(destroyed, 1);
}

}  // namespace
}  // namespace collbench::simulated_gpu
