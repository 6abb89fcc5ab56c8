#include "tools/nccl_plan/simulated_gpu/memory.hpp"

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace collbench::simulated_gpu {
namespace {

const void* at(std::uintptr_t address) { return reinterpret_cast<const void*>(address); }

TEST(MemoryBlocks, FindsTheBlockOfAnAddressInIt) {
  MemoryBlocks blocks;
  blocks.add({0x1000, 16, BlockKind::allocated, 1});
  blocks.add({0x2000, 32, BlockKind::host, 0});
  EXPECT_EQ(blocks.find(at(0x100f))->address, 0x1000U);
  EXPECT_EQ(blocks.find(at(0x1010)), std::nullopt);
  EXPECT_EQ(blocks.find(at(0xfff)), std::nullopt);
  EXPECT_EQ(blocks.allocated_bytes(), 16U);
  EXPECT_EQ(blocks.remove(at(0x1001)), std::nullopt);
  EXPECT_EQ(blocks.remove(at(0x1000))->device, 1);
  EXPECT_EQ(blocks.find(at(0x1000)), std::nullopt);
  EXPECT_EQ(blocks.allocated_bytes(), 0U);
}

std::size_t resident_bytes(const DeviceArena& arena) {
  struct stat status{};
  ::fstat(arena.file(), &status);
  return static_cast<std::size_t>(status.st_blocks) * 512;
}

TEST(DeviceArena, PartsDoNotOverlapAndAreAligned) {
  DeviceArena arena;
  auto* const small = static_cast<std::byte*>(arena.allocate(100));
  auto* const next = static_cast<std::byte*>(arena.allocate(0));
  auto* const large = static_cast<std::byte*>(arena.allocate(kGranularityBytes + 1));
  EXPECT_GE(next, small + 100);
  EXPECT_GT(large, next);
  EXPECT_EQ(arena.offset_of(large) % kGranularityBytes, 0U);
  EXPECT_EQ(arena.allocate(~std::size_t{0}), nullptr);
  EXPECT_EQ(arena.allocate(std::size_t{1} << 41U), nullptr);
}

TEST(DeviceArena, TakesRoomOnlyForWhatIsWritten) {
  DeviceArena arena;
  constexpr std::size_t kBytes = std::size_t{64} << 20U;
  auto* const memory = static_cast<char*>(arena.allocate(kBytes));
  EXPECT_EQ(resident_bytes(arena), 0U);
  set_memory(memory, 0, kBytes);
  EXPECT_EQ(resident_bytes(arena), 0U);
  set_memory(memory, 7, kBytes);
  EXPECT_GE(resident_bytes(arena), kBytes);
  arena.release(memory, kBytes);
  EXPECT_EQ(resident_bytes(arena), 0U);
}

TEST(SetMemory, SetsExactlyTheseBytes) {
  DeviceArena arena;
  constexpr std::size_t kBytes = 4 * kPageBytes;
  auto* const memory = static_cast<char*>(arena.allocate(kBytes));
  for (const std::size_t first : {std::size_t{0}, std::size_t{1}, kPageBytes}) {
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{5}, kPageBytes, 2 * kPageBytes + 3}) {
      set_memory(memory, 9, kBytes);
      set_memory(memory + first, 0, bytes);
      EXPECT_EQ(static_cast<std::size_t>(std::count(memory, memory + kBytes, 0)), bytes);
      EXPECT_EQ(std::count(memory + first, memory + first + bytes, 0), static_cast<std::ptrdiff_t>(bytes));
    }
  }
  std::vector<char> ordinary(3 * kPageBytes, 5);  // what cannot be given back is written
  set_memory(ordinary.data(), 0, ordinary.size());
  EXPECT_EQ(std::count(ordinary.begin(), ordinary.end(), 0), static_cast<std::ptrdiff_t>(ordinary.size()));
}

TEST(MemoryHandles, AnotherProcessesHandleIsTheSameMemory) {
  MemoryHandles handles;
  MemoryHandle* const own = handles.create(kGranularityBytes, {});
  ASSERT_NE(own, nullptr);
  MemoryHandle* const other = handles.import(own->file, 3, kPosixFileDescriptor);
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(other->bytes, kGranularityBytes);
  EXPECT_EQ(other->properties.location, 3);
  const char letter = 'x';
  char read = 0;
  EXPECT_EQ(::pwrite(own->file, &letter, 1, 100), 1);
  EXPECT_EQ(::pread(other->file, &read, 1, 100), 1);
  EXPECT_EQ(read, letter);
  EXPECT_EQ(handles.import(-1, 0, kPosixFileDescriptor), nullptr);
}

TEST(MemoryHandles, LivesUntilItIsReleasedAndUnmapped) {
  MemoryHandles handles;
  MemoryHandle* const handle = handles.create(kPageBytes, {});
  const int file = handle->file;
  const auto open = [&] { return ::lseek(file, 0, SEEK_CUR) == 0; };
  handles.map(0x1000, handle);
  EXPECT_EQ(handles.retain(0x1000), handle);
  EXPECT_EQ(handles.retain(0x2000), nullptr);
  handles.release(handle);
  handles.release(handle);
  EXPECT_TRUE(open());
  handles.unmap(0x1000);
  EXPECT_FALSE(open());
}

}  // namespace
}  // namespace collbench::simulated_gpu
