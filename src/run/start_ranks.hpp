#pragma once

namespace collbench::program {

/// Replaces this process by `mpirun -np N` of the same command line (-g N without a launcher). Returns only
/// by throwing Error (not_here) when there is no mpirun.
[[noreturn]] void start_ranks(int ranks, int argc, char** argv);

/// Whether this process is one of those ranks.
[[nodiscard]] bool started_by_start_ranks();

}  // namespace collbench::program
