#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "collectives/mpi/collective_call.hpp"

namespace collbench {

/// The algorithm that coll/tuned of Open MPI 4.1 takes for `call` when nothing else is set: its fixed rules
/// by ranks and bytes, the same in 4.1.0 to 4.1.8 (ompi/mca/coll/tuned/coll_tuned_decision_fixed.c). What
/// that algorithm hands over to is open_mpi_runs' matter. None for operations without rules here, and for
/// reductions that do not commute, which collbench never runs.
[[nodiscard]] std::optional<std::string> open_mpi_chooses(const CollectiveCall& call);

/// Whether the rules above are those of the library that calls itself `version` (MPI_Get_library_version).
[[nodiscard]] bool has_open_mpi_rules(std::string_view version);

}  // namespace collbench
