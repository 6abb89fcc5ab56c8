#include "tools/nccl_plan/simulated_gpu/system_calls.hpp"

#include <gmock/gmock.h>

namespace collbench::simulated_gpu {
namespace {

TEST(SharedMemoryName, StandsForTheFile) {
  for (const OpenFile& file : {OpenFile{1, 0}, OpenFile{4711, 123}, OpenFile{1 << 22, 12999}}) {
    const auto name = shared_memory_name(file);
    ASSERT_TRUE(name);
    EXPECT_EQ(name->size(), std::string("/dev/shm/nccl-XXXXXX").size());
    EXPECT_EQ(shared_memory_file(*name)->process, file.process);
    EXPECT_EQ(shared_memory_file(*name)->file, file.file);
  }
}

TEST(SharedMemoryName, NoneForWhatDoesNotFit) {
  EXPECT_FALSE(shared_memory_name({1, 13000}));
  EXPECT_FALSE(shared_memory_name({1, -1}));
  EXPECT_FALSE(shared_memory_name({(1 << 22) + 1, 1}));
  EXPECT_FALSE(shared_memory_file("/dev/shm/nccl-12345"));
  EXPECT_FALSE(shared_memory_file("/dev/shm/nccl-12345."));
  EXPECT_FALSE(shared_memory_file("/sys/class/nccl-123456"));
}

}  // namespace
}  // namespace collbench::simulated_gpu
