// The CUDA runtime of a job over simulated GPUs in which a rank stays away:
// COLLBENCH_STAND_IN=init_hang:N@RANK (injected_fault.hpp), from its N-th communicator.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>

#include "collectives/nccl/loader/nccl_library.hpp"
#include "tests/collectives/nccl/stand_in/injected_fault.hpp"

using namespace collbench::collectives;

extern "C" void* collbench_simulated_gpu_replace_export(void* library, const char* name,
                                                        const void* replacement);

namespace {

using Initialize = NcclResult(NcclHandle*, int, NcclUniqueId, int, NcclConfig*);
Initialize* original = nullptr;

NcclResult come_or_stay_away(NcclHandle* handle, int ranks, NcclUniqueId id, int rank, NcclConfig* config) {
  static int communicators_made = 0;
  while (injected_fault("init_hang") == communicators_made + 1) ::pause();
  ++communicators_made;
  return original(handle, ranks, id, rank, config);
}

/// After the job's own library has put itself before NCCL: this one needs it.
[[gnu::constructor]] void wrap_nccl() {
  const char* const name = std::getenv("COLLBENCH_NCCL");
  void* const nccl = name == nullptr ? nullptr : ::dlopen(name, RTLD_NOW | RTLD_NOLOAD);
  if (nccl == nullptr) return;
  original = reinterpret_cast<Initialize*>(collbench_simulated_gpu_replace_export(
      nccl, "ncclCommInitRankConfig", reinterpret_cast<const void*>(&come_or_stay_away)));
}

}  // namespace
