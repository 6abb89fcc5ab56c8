// SimGrid's MPI is the only one in a simulation, and is linked.
#include "collectives/mpi/mpi_library.hpp"

namespace collbench::collectives {

const MpiFunctions& mpi_functions();  // collectives/mpi/mpi_functions.cpp

const MpiLibrary& mpi_library() {
  static const MpiLibrary library{.functions = &mpi_functions(), .passed_over = {}};
  return library;
}

std::vector<MpiAbi> mpi_abis(std::string_view /*named*/, std::optional<launch::MpiLauncher> /*launcher*/) {
  return {};
}

}  // namespace collbench::collectives
