#include "src/version.hpp"

#include <fmt/format.h>

#include "launch/mpi_session.hpp"
#include "launch/real_machine.hpp"

namespace collbench {

Versions versions() {
  return {.collbench = COLLBENCH_VERSION,
          .mpi = MpiSession::library_version(),
          .hwloc = hwloc_version(),
          .nccl = "",
          .cuda = ""};
}

std::string version_text() {
  const Versions all = versions();
  return fmt::format(
      "collbench {}\n"
      "MPI:   {}\n"
      "hwloc: {}\n"
      "NCCL:  off (this version measures host memory through MPI)\n"
      "CUDA:  off\n",
      all.collbench, all.mpi, all.hwloc);
}

}  // namespace collbench
