#include "collectives/nccl/loader/cuda_library.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <vector>

#include "base/shared_library.hpp"
#include "collectives/nccl/loader/cuda_obstacle.hpp"
#include "collectives/nccl/loader/library_search.hpp"

namespace collbench::collectives {
namespace {

/// Whether the driver says that it is too old for the runtime: it runs those of its own major version and
/// older (CUDA Compatibility guide). A runtime without the functions, and a host without a driver, are not
/// too new.
bool is_too_new(const SharedLibrary& runtime) {
  CudaResult (*runtime_version)(int*) = nullptr;
  CudaResult (*driver_version)(int*) = nullptr;
  runtime.find(runtime_version, "cudaRuntimeGetVersion");
  runtime.find(driver_version, "cudaDriverGetVersion");
  if (runtime_version == nullptr || driver_version == nullptr) return false;
  int has = 0;
  int can = 0;
  if (runtime_version(&has) != CudaResult::success || driver_version(&can) != CudaResult::success)
    return false;
  return can > 0 && can / 1000 < has / 1000;
}

SharedLibrary loaded_cuda() {
  std::vector<std::string> candidates =
      library_candidates(wanted_cuda_runtime(), package_folders(python_prefixes()));
  std::string unsupported_reason;
  const auto first = first_library(candidates, unsupported_reason);
  auto library = first;
  for (std::string later_reason; library && is_too_new(*library) && !candidates.empty();) {
    candidates.erase(candidates.begin());
    library = first_library(candidates, later_reason);
  }
  if (first) return library ? *library : *first;
  throw Error(ExitStatus::not_here, "CUDA", unsupported_reason,
              "install the CUDA runtime (Python's nvidia-cuda-runtime has it too), or name the file in "
              "COLLBENCH_CUDART");
}

Error lacks(const std::string& path, const char* name) {
  return {ExitStatus::not_here, "CUDA", fmt::format("{} lacks {}", path, name),
          "name another CUDA runtime, of 11 or newer, in COLLBENCH_CUDART"};
}

template <typename Function>
void need(const SharedLibrary& library, Function*& function, const char* name) {
  library.find(function, name);
  if (function == nullptr) throw lacks(library.path(), name);
}

/// Why there is no GPU, when CUDA says `result`.
Error no_gpu(const CudaLibrary& cuda, CudaResult result, std::string_view otherwise) {
  const int driver = cuda.driver_version();
  const std::string runtime = fmt::format("found CUDA runtime {}", cuda_version_text(cuda.version));
  const std::string instead = fmt::format("or {}", otherwise);
  if (driver == 0) {
    return {ExitStatus::not_here, "no GPU", runtime + ", but no NVIDIA driver",
            "start it on a host with a GPU and its driver, " + instead};
  }
  if (result == CudaResult::insufficient_driver || result == CudaResult::system_driver_mismatch) {
    return {ExitStatus::not_here, "no GPU",
            fmt::format("{}, but the driver supports only CUDA {}", runtime, cuda_version_text(driver)),
            "update the driver, or name an older runtime in COLLBENCH_CUDART"};
  }
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible != nullptr && (result == CudaResult::no_device || result == CudaResult::success)) {
    return {ExitStatus::not_here, "no GPU",
            fmt::format("CUDA_VISIBLE_DEVICES is '{}', which names none of this host's GPUs", visible),
            "unset it, or give it indices or UUIDs as nvidia-smi -L shows them"};
  }
  const auto obstacle = cuda_obstacle(result, CudaUser::runtime, "cudaGetDeviceCount");
  return {ExitStatus::not_here, "no GPU",
          fmt::format("{}, but CUDA reports: {}", runtime, cuda.get_error_string(result)),
          fmt::format("{}, {}", obstacle ? obstacle->next_step() : "check nvidia-smi", instead)};
}

}  // namespace

std::string cuda_version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

int CudaLibrary::driver_version() const {
  int driver = 0;
  return driver_get_version(&driver) == CudaResult::success ? driver : 0;
}

CudaLibrary CudaLibrary::load() {
  const SharedLibrary library = loaded_cuda();
  CudaLibrary cuda;
  cuda.path = library.path();
  CudaResult (*get_version)(int*) = nullptr;
  need(library, get_version, "cudaRuntimeGetVersion");
  get_version(&cuda.version);
  void (*simulation)() = nullptr;
  library.find(simulation, "collbench_simulated_gpu_load_nccl");
  cuda.is_simulated = simulation != nullptr;
  need(library, cuda.get_device_count, "cudaGetDeviceCount");
  need(library, cuda.driver_get_version, "cudaDriverGetVersion");
  need(library, cuda.set_device, "cudaSetDevice");
  need(library, cuda.device_get_pci_bus_id, "cudaDeviceGetPCIBusId");
  need(library, cuda.get_device_properties, "cudaGetDeviceProperties");
  need(library, cuda.memory_info, "cudaMemGetInfo");
  need(library, cuda.allocate, "cudaMalloc");
  need(library, cuda.free, "cudaFree");
  need(library, cuda.copy, "cudaMemcpy");
  need(library, cuda.copy_async, "cudaMemcpyAsync");
  need(library, cuda.set_bytes, "cudaMemsetAsync");
  need(library, cuda.stream_create, "cudaStreamCreateWithFlags");
  need(library, cuda.stream_destroy, "cudaStreamDestroy");
  need(library, cuda.stream_query, "cudaStreamQuery");
  need(library, cuda.event_create, "cudaEventCreate");
  need(library, cuda.event_destroy, "cudaEventDestroy");
  need(library, cuda.event_record, "cudaEventRecord");
  need(library, cuda.event_query, "cudaEventQuery");
  need(library, cuda.event_elapsed_time, "cudaEventElapsedTime");
  need(library, cuda.device_get_attribute, "cudaDeviceGetAttribute");
  need(library, cuda.stream_begin_capture, "cudaStreamBeginCapture");
  need(library, cuda.stream_end_capture, "cudaStreamEndCapture");
  library.find(cuda.graph_instantiate, "cudaGraphInstantiateWithFlags");
  need(library, cuda.graph_launch, "cudaGraphLaunch");
  need(library, cuda.graph_exec_destroy, "cudaGraphExecDestroy");
  need(library, cuda.graph_destroy, "cudaGraphDestroy");
  need(library, cuda.get_error_string, "cudaGetErrorString");
  library.find(cuda.host_allocate, "cudaHostAlloc");
  library.find(cuda.host_free, "cudaFreeHost");
  library.find(cuda.peer_possible, "cudaDeviceCanAccessPeer");
  library.find(cuda.peer_enable, "cudaDeviceEnablePeerAccess");
  library.find(cuda.peer_disable, "cudaDeviceDisablePeerAccess");
  library.find(cuda.copy_peer_async, "cudaMemcpyPeerAsync");
  return cuda;
}

void CudaLibrary::need_probe_functions() const {
  if (host_allocate == nullptr) throw lacks(path, "cudaHostAlloc");
  if (host_free == nullptr) throw lacks(path, "cudaFreeHost");
  if (peer_possible == nullptr) throw lacks(path, "cudaDeviceCanAccessPeer");
  if (peer_enable == nullptr) throw lacks(path, "cudaDeviceEnablePeerAccess");
  if (peer_disable == nullptr) throw lacks(path, "cudaDeviceDisablePeerAccess");
  if (copy_peer_async == nullptr) throw lacks(path, "cudaMemcpyPeerAsync");
}

int CudaLibrary::device_count(std::string_view instead) const {
  int count = 0;
  const CudaResult result = get_device_count(&count);
  if (result != CudaResult::success || count == 0) throw no_gpu(*this, result, instead);
  return count;
}

void CudaLibrary::check(CudaResult result, const char* call) const {
  if (result == CudaResult::success) return;
  if (const auto obstacle = cuda_obstacle(result, CudaUser::runtime, call)) throw Error(*obstacle);
  const std::string what = fmt::format("{} failed: {}", call, get_error_string(result));
  if (result == CudaResult::memory_allocation) {
    throw Error(ExitStatus::usage, "GPU memory", what, "give a smaller -e");
  }
  if (result == CudaResult::ecc_uncorrectable) {
    throw Error(ExitStatus::rank_lost, "GPU", what,
                "this GPU's memory is failing: nvidia-smi -q -d ECC shows the counts; drain the host");
  }
  throw Error(ExitStatus::rank_lost, "GPU", what,
              "check dmesg for an Xid, and nvidia-smi -q for the GPU's state");
}

}  // namespace collbench::collectives
