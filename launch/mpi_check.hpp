#pragma once
#include <string_view>

namespace collbench {

/// Throws Error (rank_lost) with MPI's own words when `code` is not MPI_SUCCESS. `call` names what was
/// called.
void check_mpi(int code, std::string_view call);

}  // namespace collbench
