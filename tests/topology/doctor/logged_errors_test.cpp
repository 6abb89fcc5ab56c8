#include "topology/doctor/logged_errors.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace collbench::topology {
namespace {

/// As the versions of NCCL from 2.2 to 2.29, aws-ofi-nccl and CUDA word them.
const std::vector<std::pair<LoggedError, std::string>>& lines() {
  static const std::vector<std::pair<LoggedError, std::string>> all{
      {LoggedError::shared_memory,
       "include/shm.h:28 NCCL WARN Call to posix_fallocate failed : No space left on device"},
      {LoggedError::shared_memory, "include/shm.h:27 NCCL WARN Call to shm_open failed : Permission denied"},
      {LoggedError::shared_memory,
       "NCCL WARN Error while attaching to shared memory segment /dev/shm/nccl- (size 0)"},
      {LoggedError::no_interface, "NCCL WARN Bootstrap : no socket interface found"},
      {LoggedError::no_interface,
       "include/socket.h:311 WARN Socket creation failed : Address family not supported by protocol"},
      {LoggedError::no_interface,
       "NCCL WARN Net : No interface found in the same subnet as remote address 10.0.0.1<27030>"},
      {LoggedError::connection, "WARN Call to connect failed : Connection timed out"},
      {LoggedError::connection,
       "os/linux.cc:200 NCCL WARN ncclOsSocketPollConnect: connect to 10.0.0.1<37857> returned Connection "
       "refused, "
       "exceeded error retry count after 35 attempts"},
      {LoggedError::connection,
       "[n1][[1,1],2][btl_tcp_endpoint.c:796:mca_btl_tcp_endpoint_complete_connect] connect() to 172.17.0.1 "
       "failed: Connection refused (111)"},
      {LoggedError::ranks_disagree,
       "ncclSocketInit: connecting to address  with family 59936 is neither AF_INET(2) nor AF_INET6(10)"},
      {LoggedError::ranks_disagree, "NCCL WARN Message truncated : received 1024 bytes instead of 256"},
      {LoggedError::port_error, "NCCL WARN NET/IB : Got async event : port error"},
      {LoggedError::port_error, "NCCL WARN NET/IB : mlx5_0:1 Got async error event: port error"},
      {LoggedError::no_provider,
       "NCCL WARN NET/OFI Unable to find a protocol that worked.  Failing initialization."},
      {LoggedError::fabric_not_ready,
       "ggml_cuda_init: failed to initialize CUDA: system not yet initialized"},
      {LoggedError::gpu_memory, "include/alloc.h:178 NCCL WARN Cuda failure 'out of memory'"},
  };
  return all;
}

TEST(LoggedErrors, AreKnownByTheWordsOfAllVersions) {
  for (const auto& [error, line] : lines()) EXPECT_TRUE(says(line, error)) << line;
}

TEST(LoggedErrors, ALineIsOfOneKind) {
  for (const auto& [error, line] : lines())
    for (const auto& [other, unused] : lines()) EXPECT_EQ(says(line, other), other == error) << line;
}

/// What NCCL says while all is well, or while it waits.
TEST(LoggedErrors, WhatIsNoneIsNotTakenForOne) {
  for (const char* line : {
           "NCCL INFO Call to connect returned Connection refused, retrying",
           "NCCL INFO socketPollConnect: connect returned Connection refused, retrying (3/34) after sleep "
           "for 300 msec",
           "NCCL INFO NET/IB : mlx5_0:1 Got async event : port active",
           "NCCL INFO NET/OFI Selected provider is efa, fabric is efa (found 4 nics)",
           "NCCL WARN socketTryAccept: exceeded error retry count after 35 attempts, Success",
           "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
       }) {
    EXPECT_FALSE(says_any_error(line)) << line;
  }
}

}  // namespace
}  // namespace collbench::topology
