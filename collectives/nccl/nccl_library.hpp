#pragma once
#include <cstddef>
#include <string>

#include "base/error.hpp"
#include "collectives/nccl/cuda_types.hpp"
#include "collectives/nccl/nccl_types.hpp"

namespace collbench {

/// libnccl, reached through one table of functions. It stays loaded to the end of the process.
struct NcclLibrary {
  std::string path;
  int version = 0;  ///< major × 10000 + minor × 100 + patch

  NcclResult (*get_unique_id)(NcclUniqueId*) = nullptr;
  NcclResult (*comm_init_rank_config)(NcclHandle*, int ranks, NcclUniqueId, int rank, NcclConfig*) = nullptr;
  NcclResult (*comm_get_async_error)(NcclHandle, NcclResult*) = nullptr;
  NcclResult (*comm_finalize)(NcclHandle) = nullptr;
  NcclResult (*comm_destroy)(NcclHandle) = nullptr;
  NcclResult (*comm_abort)(NcclHandle) = nullptr;
  const char* (*get_error_string)(NcclResult) = nullptr;
  const char* (*get_last_error)(NcclHandle) = nullptr;
  NcclResult (*group_start)() = nullptr;
  NcclResult (*group_end)() = nullptr;
  NcclResult (*all_reduce)(const void* send, void* receive, std::size_t count, NcclType, NcclReduction,
                           NcclHandle, CudaStreamHandle) = nullptr;
  NcclResult (*all_gather)(const void* send, void* receive, std::size_t count, NcclType, NcclHandle,
                           CudaStreamHandle) = nullptr;
  NcclResult (*reduce_scatter)(const void* send, void* receive, std::size_t count, NcclType, NcclReduction,
                               NcclHandle, CudaStreamHandle) = nullptr;
  NcclResult (*broadcast)(const void* send, void* receive, std::size_t count, NcclType, int root, NcclHandle,
                          CudaStreamHandle) = nullptr;
  NcclResult (*reduce)(const void* send, void* receive, std::size_t count, NcclType, NcclReduction, int root,
                       NcclHandle, CudaStreamHandle) = nullptr;
  NcclResult (*send)(const void*, std::size_t count, NcclType, int peer, NcclHandle,
                     CudaStreamHandle) = nullptr;
  NcclResult (*recv)(void*, std::size_t count, NcclType, int peer, NcclHandle, CudaStreamHandle) = nullptr;
  /// Null before 2.28.
  NcclResult (*all_to_all)(const void* send, void* receive, std::size_t count, NcclType, NcclHandle,
                           CudaStreamHandle) = nullptr;

  /// Finds libnccl and fills the table. Throws Error (not_here) when there is none, when it is older than
  /// 2.18, and when it lacks a function that we need, which is then named.
  [[nodiscard]] static NcclLibrary load();

  /// An Error of `status` in NCCL's own words for `result` of `call`. `communicator` may be null.
  [[nodiscard]] Error error(NcclResult result, const std::string& call, ExitStatus status) const;
};

/// 22809 as "2.28.9".
[[nodiscard]] std::string nccl_version_text(int version);

}  // namespace collbench
