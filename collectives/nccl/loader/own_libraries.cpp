#include "collectives/nccl/loader/own_libraries.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/shared_library.hpp"
#include "collectives/nccl/loader/cuda_obstacle.hpp"
#include "collectives/nccl/loader/library_search.hpp"

namespace collbench::collectives {
namespace {

constexpr const char* kKernels = "libcollbench_kernels.so";
constexpr const char* kKernelsForCuda12 = "libcollbench_kernels_cuda12.so";
constexpr const char* kVariable = "COLLBENCH_KERNELS";

Error unusable(const std::string& what) {
  return {
      ExitStatus::not_here, "GPU kernels", what,
      fmt::format("build collbench where nvcc is installed (that makes {}) or scripts/setup bundle was run "
                  "({}), or name the file in {}",
                  kKernels, kKernelsForCuda12, kVariable)};
}

}  // namespace

std::vector<std::string> kernel_library_files(int driver_cuda) {
  constexpr int kCuda13 = 13000;
  if (driver_cuda > 0 && driver_cuda < kCuda13) return {kKernelsForCuda12, kKernels};
  return {kKernels, kKernelsForCuda12};
}

KernelLibrary KernelLibrary::load(int driver_cuda) {
  std::string unsupported_reason;
  std::string of_later_file;  // less telling
  std::optional<SharedLibrary> library;
  for (const std::string& file : kernel_library_files(driver_cuda)) {
    library = own_library(file, kVariable, unsupported_reason.empty() ? unsupported_reason : of_later_file);
    if (library) break;
  }
  if (!library) throw unusable(unsupported_reason);
  KernelInterface* interface = nullptr;
  KernelLibrary kernels;
  kernels.path = library->path();
  library->find(interface, "collbench_kernel_interface");
  library->find(kernels.set_device, "collbench_kernel_set_device");
  library->find(kernels.fill, "collbench_kernel_fill");
  library->find(kernels.check, "collbench_kernel_check");
  library->find(kernels.fill_normal, "collbench_kernel_fill_normal");
  library->find(kernels.triad, "collbench_kernel_triad");
  if (interface == nullptr || interface() != kKernelInterface || kernels.set_device == nullptr ||
      kernels.fill == nullptr || kernels.check == nullptr || kernels.fill_normal == nullptr ||
      kernels.triad == nullptr) {
    throw unusable(kernels.path + " belongs to another version of collbench");
  }
  return kernels;
}

void KernelLibrary::check_result(const CudaLibrary& cuda, int result, const char* what) {
  const auto code = static_cast<CudaResult>(result);
  if (const auto obstacle = cuda_obstacle(code, CudaUser::kernels, "GPU kernels")) throw Error(*obstacle);
  cuda.check(code, what);
}

std::optional<ObserverLibrary> ObserverLibrary::find(std::string& unsupported_reason) {
  const auto library = own_library("libcollbench_observer.so", "COLLBENCH_OBSERVER", unsupported_reason);
  if (!library) return std::nullopt;
  ObserverInterface* interface = nullptr;
  ObserverLibrary observer{.path = library->path()};
  library->find(interface, "collbench_observer_interface");
  library->find(observer.loaded, "collbench_observer_loaded");
  library->find(observer.begin, "collbench_observer_begin");
  library->find(observer.end, "collbench_observer_end");
  if (interface == nullptr || interface() != kObserverInterface || observer.loaded == nullptr ||
      observer.begin == nullptr || observer.end == nullptr) {
    unsupported_reason = observer.path + " belongs to another version of collbench";
    return std::nullopt;
  }
  return observer;
}

}  // namespace collbench::collectives
