#pragma once
#include <array>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/nccl_version.hpp"
#include "base/record/data_type.hpp"
#include "collectives/nccl/loader/cuda_library.hpp"

// What we use of NCCL's interface, in our own words, so that a build needs no NCCL: names and values that are
// the same in every NCCL from 2.18 on. tests/collectives/nccl/headers_test.cpp compares them with the real
// nccl.h where there is one.

namespace collbench::collectives {

enum class NcclResult : int {
  success = 0,
  unhandled_cuda_error = 1,
  system_error = 2,
  internal_error = 3,
  invalid_argument = 4,
  invalid_usage = 5,
  remote_error = 6,
  in_progress = 7,
};

enum class NcclType : int {
  int8 = 0,
  uint8 = 1,
  int32 = 2,
  uint32 = 3,
  int64 = 4,
  uint64 = 5,
  float16 = 6,
  float32 = 7,
  float64 = 8,
  bfloat16 = 9,
  float8_e4m3 = 10,  ///< this and the next: from 2.24 on
  float8_e5m2 = 11,
};

enum class NcclReduction : int { sum = 0, prod = 1, max = 2, min = 3, avg = 4 };

/// What the ranks of one communicator agree on: rank 0 makes it and sends it to the others.
struct NcclUniqueId {
  std::array<char, 128> internal;
};

/// ncclConfig_t, the settings of a communicator, of 2.30.7; what an older NCCL has is its beginning. Every
/// NCCL copies as many bytes as `size` says, at most those of its own, and takes its own defaults for what
/// came later than `version` (2.18.5 to 2.30.7, src/init.cc, parseCommConfig): one size serves all of them.
struct NcclConfig {
  static constexpr int kUndefined = INT_MIN;

  std::size_t size = sizeof(NcclConfig);
  unsigned int magic = 0xcafebeef;
  unsigned int version = 23007;
  int blocking = kUndefined;
  int cga_cluster_size = kUndefined;
  int min_ctas = kUndefined;
  int max_ctas = kUndefined;
  const char* net_name = nullptr;
  int split_share = kUndefined;
  int traffic_class = kUndefined;           ///< from 2.26 on
  const char* communicator_name = nullptr;  ///< this to nvls_ctas: from 2.27 on
  int collnet_enable = kUndefined;
  int cta_policy = kUndefined;
  int shrink_share = kUndefined;
  int nvls_ctas = kUndefined;
  int channels_per_net_peer = kUndefined;  ///< this and the next: from 2.28 on
  int nvlink_centric_scheduling = kUndefined;
  int graph_usage_mode = kUndefined;  ///< this and the next: from 2.29 on
  int rma_contexts = kUndefined;
  int max_p2p_peers = kUndefined;          ///< from 2.30 on
  int graph_stream_ordering = kUndefined;  ///< from 2.30.7 on
};

/// ncclCollConfig_t, the settings of one call, of 2.31.2; what is newer is behind it, and at NCCL's defaults
/// where `size` ends before (2.31.2, src/config/collconfig.cc).
struct NcclCallConfig {
  std::size_t size = sizeof(NcclCallConfig);
  unsigned int magic = 0xcafebeef;
  unsigned int version = 23102;
  void* extensions = nullptr;
  int min_ctas = NcclConfig::kUndefined;
  int max_ctas = NcclConfig::kUndefined;
  int nvls_ctas = NcclConfig::kUndefined;
  int cga_cluster_size = NcclConfig::kUndefined;
  const char* selection = nullptr;  ///< of algorithms, in NCCL's words; null: NCCL's choice
  int selection_is_forced = 1;      ///< what cannot be is an error, and not another algorithm
  int cta_policy = NcclConfig::kUndefined;
  std::uint64_t profiler_tag = 0;
};

struct NcclCommunicatorObject;  ///< NCCL's own
using NcclHandle = NcclCommunicatorObject*;

struct NcclWindowObject;  ///< NCCL's own
using NcclWindowHandle = NcclWindowObject*;

/// Of ncclCommWindowRegister, NCCL_WIN_COLL_SYMMETRIC: every rank registers its buffer in the same call.
inline constexpr int kNcclSymmetricWindow = 1;

/// libnccl, reached through one table of functions. It stays loaded to the end of the process.
struct NcclLibrary {
  std::string path;
  int version = 0;  ///< major × 10000 + minor × 100 + patch
  std::function<std::vector<std::string>()>
      warnings;  ///< of NCCL's log, the newest last; null: there is none

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
  /// These three are null before 2.28.
  NcclResult (*all_to_all)(const void* send, void* receive, std::size_t count, NcclType, NcclHandle,
                           CudaStreamHandle) = nullptr;
  NcclResult (*gather)(const void* send, void* receive, std::size_t count, NcclType, int root, NcclHandle,
                       CudaStreamHandle) = nullptr;
  NcclResult (*scatter)(const void* send, void* receive, std::size_t count, NcclType, int root, NcclHandle,
                        CudaStreamHandle) = nullptr;
  /// These three are null before 2.31.
  NcclResult (*all_reduce_config)(const void* send, void* receive, std::size_t count, NcclType, NcclReduction,
                                  NcclHandle, CudaStreamHandle, const NcclCallConfig*) = nullptr;
  NcclResult (*all_gather_config)(const void* send, void* receive, std::size_t count, NcclType, NcclHandle,
                                  CudaStreamHandle, const NcclCallConfig*) = nullptr;
  NcclResult (*reduce_scatter_config)(const void* send, void* receive, std::size_t count, NcclType,
                                      NcclReduction, NcclHandle, CudaStreamHandle,
                                      const NcclCallConfig*) = nullptr;

  /// These four are null before 2.19, and the two after them before 2.27.
  NcclResult (*memory_allocate)(void**, std::size_t bytes) = nullptr;
  NcclResult (*memory_free)(void*) = nullptr;
  NcclResult (*comm_register)(NcclHandle, void* buffer, std::size_t bytes, void** registration) = nullptr;
  NcclResult (*comm_deregister)(NcclHandle, void* registration) = nullptr;
  NcclResult (*comm_window_register)(NcclHandle, void* buffer, std::size_t bytes, NcclWindowHandle*,
                                     int flags) = nullptr;
  NcclResult (*comm_window_deregister)(NcclHandle, NcclWindowHandle) = nullptr;

  /// Finds libnccl and fills the table: of the candidates the first that can be loaded, is 2.18 or newer and
  /// lacks no function that we need. Throws Error (not_here) when there is none, with why each was left.
  [[nodiscard]] static NcclLibrary load();
  /// Likewise, but only one that can use this process's current GPU, which it asks for no memory of: what is
  /// made for a newer CUDA than the driver's is passed over. `before_first_call` of each: in its first one
  /// NCCL reads how much it shall log.
  [[nodiscard]] static NcclLibrary load_for_gpu(const std::function<void(int version)>& before_first_call);

  /// An Error of `status` in NCCL's own words for `result` of `call`. Where they tell that CUDA cannot work
  /// here, it is cuda_obstacle's instead.
  [[nodiscard]] Error error(NcclResult result, const std::string& call, ExitStatus status) const;
};

/// NCCL's name for elements of `type`, and the other way round: both have the same order.
[[nodiscard]] constexpr NcclType nccl_type(DataType type) { return static_cast<NcclType>(type); }
[[nodiscard]] constexpr DataType data_type(NcclType type) { return static_cast<DataType>(type); }
static_assert(nccl_type(DataType::int8) == NcclType::int8 && nccl_type(DataType::uint8) == NcclType::uint8 &&
              nccl_type(DataType::int32) == NcclType::int32 &&
              nccl_type(DataType::uint32) == NcclType::uint32 &&
              nccl_type(DataType::int64) == NcclType::int64 &&
              nccl_type(DataType::uint64) == NcclType::uint64 &&
              nccl_type(DataType::float16) == NcclType::float16 &&
              nccl_type(DataType::float32) == NcclType::float32 &&
              nccl_type(DataType::float64) == NcclType::float64 &&
              nccl_type(DataType::bfloat16) == NcclType::bfloat16 &&
              nccl_type(DataType::float8_e4m3) == NcclType::float8_e4m3 &&
              nccl_type(DataType::float8_e5m2) == NcclType::float8_e5m2);

[[nodiscard]] NcclReduction nccl_reduction(Reduction reduction);

/// Units in the last place by which a result may be off. Every result is exact but a float average, which
/// NCCL makes by scaling each rank's element first; nccl-tests 2.19.6 allows the same two
/// (verifiable/verifiable.cu).
[[nodiscard]] unsigned tolerance_ulp(DataType type, Reduction reduction);

}  // namespace collbench::collectives
