#pragma once
#include <string>

#include "collectives/mpi/open_mpi/call_context.hpp"

namespace collbench::collectives {

/// What SimGrid's MPI runs in `call` when its setting for the operation (smpi/allreduce and the like) is
/// `configured`: by the name that Open MPI has for it where the two send the same messages, so that one
/// formula serves both, else by SMPI's own; its fallbacks are considered. "auto" for no setting and for the
/// settings that choose by size. Source: SimGrid 3.32, src/smpi/colls/.
[[nodiscard]] std::string smpi_runs(const std::string& configured, const CollectiveCall& call);

}  // namespace collbench::collectives
