#pragma once
#include "src/run/options.hpp"

namespace collbench::program {

/// A run, from the start of its ranks to the exit status of this process, with what this rank has to report
/// on stderr. With -g and without a launcher it replaces this process by mpirun's. Throws Error before MPI
/// has started, and where this is not the launcher of this MPI.
[[nodiscard]] int start_run(const RunOptions& options, int argc, char** argv);

}  // namespace collbench::program
