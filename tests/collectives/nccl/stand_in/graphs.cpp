// CUDA graphs of the stand-in runtime (cudart.cpp): a list of tasks that each launch puts on a stream anew.
#include <atomic>

#include "collectives/nccl/loader/cuda_library.hpp"
#include "tests/collectives/nccl/stand_in/cuda_stream.hpp"
#include "tests/collectives/nccl/stand_in/injected_fault.hpp"

using namespace collbench;
using namespace collbench::collectives;

namespace {

std::atomic<int> launches{0};

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the names are the library's.
extern "C" {

CudaResult cudaGraphInstantiateWithFlags(CudaGraphExecHandle* exec, CudaGraphHandle graph,
                                         unsigned long long /*flags*/) {
  *exec = new CudaGraphExecObject{graph->tasks};
  return CudaResult::success;
}

CudaResult cudaGraphLaunch(CudaGraphExecHandle exec, CudaStreamHandle stream) {
  if (injected_fault("graph_error") == ++launches) return CudaResult{719};
  for (const auto& task : exec->tasks) stream->put(task);
  return CudaResult::success;
}

CudaResult cudaGraphExecDestroy(CudaGraphExecHandle exec) {
  delete exec;
  return CudaResult::success;
}

CudaResult cudaGraphDestroy(CudaGraphHandle graph) {
  delete graph;
  return CudaResult::success;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
