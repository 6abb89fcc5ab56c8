#include "collectives/nccl/loader/kernel_library.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "base/error.hpp"
#include "base/shared_library.hpp"
#include "collectives/nccl/loader/library_search.hpp"

namespace collbench::collectives {
namespace {

constexpr const char* kFile = "libcollbench_kernels.so";
constexpr const char* kVariable = "COLLBENCH_KERNELS";

Error unusable(const std::string& what) {
  return {ExitStatus::not_here, "GPU kernels", what,
          fmt::format("build collbench where nvcc is (it makes {} then), or name the file in {}", kFile,
                      kVariable)};
}

}  // namespace

KernelLibrary KernelLibrary::load() {
  std::string unsupported_reason;
  const auto library =
      first_library(own_library_candidates(kFile, own_program(), std::getenv(kVariable)), unsupported_reason);
  if (!library) throw unusable(unsupported_reason);
  KernelInterface* interface = nullptr;
  KernelLibrary kernels;
  kernels.path = library->path();
  library->find(interface, "collbench_kernel_interface");
  library->find(kernels.set_device, "collbench_kernel_set_device");
  library->find(kernels.fill, "collbench_kernel_fill");
  library->find(kernels.check, "collbench_kernel_check");
  if (interface == nullptr || interface() != kKernelInterface || kernels.set_device == nullptr ||
      kernels.fill == nullptr || kernels.check == nullptr) {
    throw unusable(kernels.path + " belongs to another version of collbench");
  }
  return kernels;
}

}  // namespace collbench::collectives
