#include "collectives/nccl/kernel_library.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/error.hpp"
#include "base/shared_library.hpp"

namespace collbench {
namespace {

constexpr const char* kFile = "libcollbench_kernels.so";
constexpr const char* kVariable = "COLLBENCH_KERNELS";

Error unusable(const std::string& what) {
  return {ExitStatus::not_here, "GPU kernels", what,
          fmt::format("build collbench where nvcc is (it makes {} then), or name the file in {}", kFile,
                      kVariable)};
}

}  // namespace

std::vector<std::string> kernel_library_places(const std::string& program, const char* named) {
  if (named != nullptr && *named != '\0') return {named};
  const std::filesystem::path folder = std::filesystem::path(program).parent_path();
  return {(folder / kFile).string(), (folder.parent_path() / "lib" / kFile).string()};
}

KernelLibrary KernelLibrary::load() {
  std::error_code none;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", none).string();
  std::string why_not;
  const auto library = first_library(kernel_library_places(program, std::getenv(kVariable)), why_not);
  if (!library) throw unusable(why_not);
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

}  // namespace collbench
