#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/record/identities.hpp"
#include "collectives/nccl/cuda_handles.hpp"
#include "collectives/nccl/gpu_choice.hpp"
#include "collectives/nccl/loader/cuda_library.hpp"
#include "collectives/nccl/loader/nccl_library.hpp"
#include "collectives/nccl/loader/own_libraries.hpp"
#include "collectives/nccl/nccl_config.hpp"
#include "launch/collective_wait.hpp"

namespace collbench::collectives {

class CallIssuer;

/// What one rank works with: the libraries, its GPU, and a stream on it.
struct GpuSession {
  /// Finds the libraries and the GPU of every rank, and makes it this thread's current one. Collective.
  /// `machines` are the hosts that there really are. Throws the same AgreedError (not_here) on all ranks when
  /// a library or a GPU is missing, when NCCL's versions differ, and when ranks would share a GPU unless
  /// `share`. `before_nccl`: before the first call of each libnccl that is tried.
  GpuSession(const launch::CollectiveWait& waiter, const Identities& machines, bool share, bool inside_slurm,
             const std::function<void(int version)>& before_nccl);
  GpuSession(const GpuSession&) = delete;
  GpuSession& operator=(const GpuSession&) = delete;
  ~GpuSession() = default;

  CudaLibrary cuda;
  NcclLibrary nccl;
  KernelLibrary kernels;
  NcclConfigValues settings;     ///< that every communicator is made with
  std::vector<VisibleGpu> gpus;  ///< of every rank, by rank
  bool shared = false;           ///< some ranks work on one GPU: nothing about speed can be said
  int compute_capability = 0;    ///< of this rank's GPU, major × 10 + minor
  std::uint64_t l2_bytes = 0;    ///< of the GPU that has the largest L2; 0: none says
  std::uint64_t free_bytes = 0;  ///< of the memory of the GPU that has least left for one rank
  std::unique_ptr<CudaStream> stream;
  CallIssuer* issuer = nullptr;  ///< that puts the calls of rows on it; of NcclProcess
  int rank_of_issuer = 0;        ///< among the ranks that it does so for
};

}  // namespace collbench::collectives
