#include "src/cli/version.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/nccl_version.hpp"
#include "collectives/mpi/mpi_library.hpp"
#include "collectives/nccl/loader/cuda_library.hpp"
#include "collectives/nccl/loader/nccl_library.hpp"
#include "collectives/nccl/loader/own_libraries.hpp"
#include "launch/real_machine.hpp"
#include "src/cli/version_number.hpp"

namespace collbench::program {

Versions versions() {
  return {.collbench = std::string(version_number()),
          .mpi = "",
          .hwloc = launch::hwloc_version(),
          .nccl = "",
          .cuda = ""};
}

namespace {

/// The version and file of a library, or that there is none and why.
template <typename Library>
std::string found(const Library& load) {
  try {
    return load();
  } catch (const Error& error) {
    return fmt::format("not found ({}; {})", error.what(), error.next_step());
  }
}

std::string with_path(const std::string& version, const std::string& path) {
  return fmt::format("{} ({})", version, path);
}

}  // namespace

std::string version_text() {
  const Versions all = versions();
  const std::string mpi = found([] { return collectives::mpi_library().functions->library_version(); });
  const std::string nccl = found([] {
    const collectives::NcclLibrary library = collectives::NcclLibrary::load();
    return with_path(nccl_version_text(library.version), library.path);
  });
  int driver = 0;
  const std::string cuda = found([&driver] {
    const collectives::CudaLibrary library = collectives::CudaLibrary::load();
    driver = library.driver_version();
    return with_path(collectives::cuda_version_text(library.version), library.path);
  });
  const std::string kernels = found([driver] { return collectives::KernelLibrary::load(driver).path; });
  std::string unsupported_reason;
  const auto observer = collectives::ObserverLibrary::find(unsupported_reason);
  return fmt::format(
      "collbench {}\n"
      "MPI:   {}\n"
      "hwloc: {}\n"
      "NCCL:  {}\n"
      "CUDA:  {}\n"
      "GPU kernels: {}\n"
      "NCCL observer: {}\n"
      // What is built into no version, so that nobody has to look for the option.
      "Not supported: CUDA-aware MPI (MPI measures host memory), one process with several GPUs (there is a "
      "rank for each),\n"
      "  naming the algorithm that MPI itself chose where it is not Open MPI 4.1\n",
      all.collbench, mpi, all.hwloc, nccl, cuda, kernels,
      observer ? observer->path : fmt::format("not found ({})", unsupported_reason));
}

}  // namespace collbench::program
