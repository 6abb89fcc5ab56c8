#pragma once
#include <memory>

#include "launch/flight/flight_page.hpp"
#include "launch/ranks.hpp"

namespace collbench::launch {

/// All ranks of MPI_COMM_WORLD, over a duplicate of it, so that the harness's messages never meet the
/// measured ones. No call gives a rank more messages than a few times log2 of the ranks
/// (docs/notes/benchmarks.md has them counted). Collective; between MPI_Init and MPI_Finalize. Its calls are
/// counted in `exchanges`, which must outlive it.
[[nodiscard]] std::unique_ptr<Ranks> make_mpi_ranks(CallCounter& exchanges);

}  // namespace collbench::launch
