#pragma once
#include <string>

namespace collbench::simulated_gpu {

/// What was redirected of a libnccl, for messages and tests.
struct SimulatedNccl {
  void* library = nullptr;  ///< of dlopen; it stays loaded
  std::string path;
  int redirected = 0;       ///< functions of its CUDA runtime
  int simulated = 0;        ///< of these, those that do something here; the others say that they are not
  bool own_runtime = true;  ///< false: it takes its CUDA runtime from another library, and got this one
};

/// Loads a libnccl and gives it the simulated CUDA: one that has the runtime linked in gets a jump at each of
/// its entries, in the memory of this process alone. It also keeps NCCL from starting transfers over the
/// network (ncclProxySaveOp), which would wait forever for kernels that do not run. Throws Error (not_here)
/// when the file cannot be loaded, is no libnccl, is stripped or for another architecture.
[[nodiscard]] SimulatedNccl load_simulated_nccl(const std::string& name);

}  // namespace collbench::simulated_gpu

/// For programs that load this library with dlopen: as load_simulated_nccl. Returns the handle of dlopen;
/// null with one line in `reason` on failure.
extern "C" void* collbench_simulated_gpu_load_nccl(const char* name, char* reason, int reason_bytes);

/// As replace_export (redirection.hpp), for those that put themselves before NCCL's functions.
extern "C" void* collbench_simulated_gpu_replace_export(void* library, const char* name,
                                                        const void* replacement);
