#include "launch/available_memory.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/base/temporary_folder.hpp"

namespace collbench::launch::available_memory_test {
namespace {

constexpr std::uint64_t kMiB = 1U << 20U;

/// A machine's files, with 1000 MiB to be had without limits.
class AvailableMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    write("proc/meminfo", "MemTotal: 9000000 kB\nMemAvailable: 1024000 kB\nHugePages_Total: 0\n");
  }

  void write(const std::string& file, const std::string& text) const {
    const std::filesystem::path path = folder_.path() / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << '\n';
  }
  void limit_v1(const std::string& group, std::uint64_t limit_mib, std::uint64_t used_mib) const {
    write(group + "/memory.limit_in_bytes", std::to_string(limit_mib * kMiB));
    write(group + "/memory.usage_in_bytes", std::to_string(used_mib * kMiB));
    write(group + "/memory.use_hierarchy", "1");
  }
  void limit_v2(const std::string& group, const std::string& limit, std::uint64_t used_mib) const {
    write(group + "/memory.max", limit);
    write(group + "/memory.current", std::to_string(used_mib * kMiB));
  }
  [[nodiscard]] std::uint64_t mib() const { return available_memory_bytes(folder_.path()) / kMiB; }

  TemporaryFolder folder_;
};

constexpr const char* kUnlimitedV1 = "9223372036854771712";
constexpr const char* kMountsV1 =
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    "34 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime shared:9 - cgroup cgroup rw,cpuset\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 master:2 - cgroup cgroup rw,memory\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw";
constexpr const char* kGroupsV1 = "9:name=systemd:/\n4:memory:/slurm/job_7/step_0\n3:cpuset:/other\n0::/";

TEST_F(AvailableMemory, IsTheHostsWithoutGroups) { EXPECT_EQ(mib(), 1000U); }

TEST_F(AvailableMemory, OfThisMachineIsKnown) { EXPECT_GT(available_memory_bytes(), kMiB); }

TEST_F(AvailableMemory, IsNotKnownWithoutProc) {
  EXPECT_EQ(available_memory_bytes(folder_.path() / "nowhere"), 0U);
}

TEST_F(AvailableMemory, OfVersion1IsTheLeastOfItsGroupAndThoseAbove) {
  write("proc/self/mountinfo", kMountsV1);
  write("proc/self/cgroup", kGroupsV1);
  limit_v1("sys/fs/cgroup/memory/slurm/job_7/step_0", 600, 100);
  EXPECT_EQ(mib(), 500U);
  limit_v1("sys/fs/cgroup/memory/slurm/job_7", 400, 150);
  EXPECT_EQ(mib(), 250U);
  limit_v1("sys/fs/cgroup/memory/slurm/job_7/step_0", 200, 100);
  EXPECT_EQ(mib(), 100U);
  write("sys/fs/cgroup/memory/slurm/job_7/step_0/memory.limit_in_bytes", kUnlimitedV1);
  write("sys/fs/cgroup/memory/slurm/job_7/memory.limit_in_bytes", kUnlimitedV1);
  EXPECT_EQ(mib(), 1000U);
  limit_v1("sys/fs/cgroup/memory", 90, 10);  // of the whole machine
  EXPECT_EQ(mib(), 80U);
}

TEST_F(AvailableMemory, CountsWhatVersion1HasCachedAsLeft) {
  write("proc/self/mountinfo", kMountsV1);
  write("proc/self/cgroup", kGroupsV1);
  limit_v1("sys/fs/cgroup/memory/slurm", 600, 500);
  write("sys/fs/cgroup/memory/slurm/memory.stat",
        "inactive_file 1\nactive_file 1\ntotal_inactive_file 104857600\ntotal_active_file "
        "52428800\ntotal_shmem 10485760");
  EXPECT_EQ(mib(), 250U);
}

TEST_F(AvailableMemory, GroupsOfVersion1ThatCountAloneDoNotBoundThoseBelow) {
  write("proc/self/mountinfo", kMountsV1);
  write("proc/self/cgroup", kGroupsV1);
  limit_v1("sys/fs/cgroup/memory/slurm/job_7/step_0", 600, 100);
  limit_v1("sys/fs/cgroup/memory/slurm/job_7", 400, 150);
  write("sys/fs/cgroup/memory/slurm/job_7/memory.use_hierarchy", "0");
  EXPECT_EQ(mib(), 500U);
}

TEST_F(AvailableMemory, OfVersion2IsTheLeastOfItsGroupAndThoseAbove) {
  write("proc/self/mountinfo",
        "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot");
  write("proc/self/cgroup", "0::/system.slice/job 7/step_0");
  limit_v2("sys/fs/cgroup/system.slice/job 7/step_0", "max", 100);
  limit_v2("sys/fs/cgroup/system.slice/job 7", "629145600", 200);
  write("sys/fs/cgroup/system.slice/job 7/memory.stat",
        "file 9\ninactive_file 10485760\nactive_file 10485760");
  EXPECT_EQ(mib(), 420U);
  limit_v2("sys/fs/cgroup/system.slice/job 7/step_0", "104857600", 90);
  EXPECT_EQ(mib(), 10U);
}

// Then /proc/self/cgroup has the host's names, and the mount shows this container's group or one above.
TEST_F(AvailableMemory, InAContainerTheMountSaysWhichGroupIsSeen) {
  write("proc/self/mountinfo",
        "35 31 0:32 /docker/12 /sys/fs/cgroup/me\\040mory ro,relatime master:2 - cgroup cgroup rw,memory");
  write("proc/self/cgroup", "4:memory:/docker/12/inner");
  limit_v1("sys/fs/cgroup/me mory", 400, 100);
  EXPECT_EQ(mib(), 300U);
  limit_v1("sys/fs/cgroup/me mory/inner", 200, 100);
  EXPECT_EQ(mib(), 100U);
  write("proc/self/cgroup", "4:memory:/elsewhere");
  EXPECT_EQ(mib(), 300U);
}

TEST_F(AvailableMemory, AFullGroupIsNotTakenForAnUnknownOne) {
  write("proc/self/mountinfo", kMountsV1);
  write("proc/self/cgroup", kGroupsV1);
  limit_v1("sys/fs/cgroup/memory/slurm/job_7/step_0", 100, 100);
  EXPECT_EQ(available_memory_bytes(folder_.path()), 4096U);
}

TEST_F(AvailableMemory, WhatCannotBeReadIsNoLimit) {
  write("proc/self/mountinfo", std::string(kMountsV1) + "\n- - -\n1 2 3\n35 31 0:32 / /a b c - cgroup\n\n");
  write("proc/self/cgroup", "memory\n:\n::\n4:memory\n4:memory:\n0::");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "-1");
  write("sys/fs/cgroup/unified/memory.max", "99999999999999999999999");
  EXPECT_EQ(mib(), 1000U);
}

}  // namespace
}  // namespace collbench::launch::available_memory_test
