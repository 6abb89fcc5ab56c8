#include "collectives/nccl/launch_pace.hpp"

#include <gtest/gtest.h>

#include <deque>

namespace collbench::collectives::launch_pace_test {
namespace {

/// A GPU that gets as far as a test lets it: events are over up to `over` of those that were recorded.
struct Gpu {
  std::deque<CudaEventHandle> recorded;
  std::size_t over = 0;
};
Gpu gpu;

CudaLibrary cuda() {
  static std::byte objects[8];
  static std::size_t made = 0;
  gpu = {};
  made = 0;
  CudaLibrary library;
  library.stream_create = [](CudaStreamHandle* stream, unsigned int) {
    *stream = nullptr;
    return CudaResult::success;
  };
  library.stream_destroy = [](CudaStreamHandle) { return CudaResult::success; };
  library.event_create = [](CudaEventHandle* event) {
    *event = reinterpret_cast<CudaEventHandle>(&objects[made++]);
    return CudaResult::success;
  };
  library.event_destroy = [](CudaEventHandle) { return CudaResult::success; };
  library.event_record = [](CudaEventHandle event, CudaStreamHandle) {
    gpu.recorded.push_back(event);
    return CudaResult::success;
  };
  // As CUDA: of an event, its newest record counts.
  library.event_query = [](CudaEventHandle event) {
    for (std::size_t i = gpu.recorded.size(); i > gpu.over; --i) {
      if (gpu.recorded[i - 1] == event) return CudaResult::not_ready;
    }
    return CudaResult::success;
  };
  return library;
}

class LaunchPaceTest : public testing::Test {
 protected:
  /// How many launches there is room for, one by one.
  int launches() {
    int count = 0;
    for (; pace_.has_room() && count < 100'000; ++count) pace_.add(1, stream_);
    return count;
  }

  CudaLibrary cuda_ = cuda();
  CudaStream stream_{cuda_};
  LaunchPace pace_{cuda_};
};

TEST_F(LaunchPaceTest, AGpuThatIsStuckGets768Launches) {
  EXPECT_EQ(launches(), 768);
  EXPECT_EQ(pace_.progress(), 0U);
}

TEST_F(LaunchPaceTest, AMarkThatIsOverMakesRoomForAsManyAsItStandsFor) {
  launches();
  for (std::size_t over = 1; over < 10; ++over) {
    gpu.over = over;
    EXPECT_EQ(launches(), 256) << over;
    EXPECT_EQ(pace_.progress(), over);
  }
}

TEST_F(LaunchPaceTest, AGroupOrAGraphOfManyIsAMarkOfItsOwn) {
  for (int group = 0; group < 3; ++group) {
    EXPECT_TRUE(pace_.has_room());
    pace_.add(1000, stream_);
  }
  EXPECT_FALSE(pace_.has_room());
  EXPECT_EQ(gpu.recorded.size(), 3U);
}

TEST_F(LaunchPaceTest, WhatCameBeforeAnIdleStreamCountsNoMore) {
  launches();
  gpu.over = gpu.recorded.size();
  pace_.begin();
  EXPECT_EQ(pace_.progress(), 0U);
  EXPECT_EQ(launches(), 768);
}

TEST_F(LaunchPaceTest, FewLaunchesRecordNothing) {
  for (int i = 0; i < 255; ++i) pace_.add(1, stream_);
  EXPECT_TRUE(gpu.recorded.empty());
}

}  // namespace
}  // namespace collbench::collectives::launch_pace_test
