#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/record/operation.hpp"

namespace collbench::collectives {

/// One call of a collective, as far as the library's choice of algorithm depends on it.
struct CollectiveCall {
  OperationId operation = OperationId::all_reduce;
  std::uint64_t count = 0;        ///< elements: the count argument of the call, as in RowKey::count
  std::size_t element_bytes = 1;  ///< bytes of one element
  int ranks = 1;                  ///< size of the communicator
  bool commutative = true;        ///< whether the reduction's MPI_Op is; true for operations without one
  bool in_place = false;          ///< the send buffer is MPI_IN_PLACE
};

/// The algorithm that coll/tuned of Open MPI 4.1 takes for `call` when nothing else is set: its fixed rules
/// by ranks and bytes, the same in 4.1.0 to 4.1.8 (ompi/mca/coll/tuned/coll_tuned_decision_fixed.c). What
/// that algorithm hands over to is open_mpi_runs' matter. None for operations without rules here, and for
/// reductions that do not commute, which collbench never runs.
[[nodiscard]] std::optional<std::string> open_mpi_chooses(const CollectiveCall& call);

/// Whether the rules above are those of the library that calls itself `version` (MPI_Get_library_version).
[[nodiscard]] bool has_open_mpi_rules(std::string_view version);

// Open MPI's coll/tuned runs the algorithm that it was told to for every size, and some of its algorithms
// hand over to another one where they do not fit. These two functions restate that, as read in Open MPI 4.1.4
// (ompi/mca/coll/base/coll_base_*.c; 5.0.10 does the same). Algorithms they have never heard of run as named.

/// What runs in `call` when `forced` was selected. `segment_bytes` is what
/// coll_tuned_allreduce_algorithm_segmentsize says (0: no segments), and counts for "segmented_ring" alone.
/// "self" on one rank (coll/self copies), "none" for a call without elements (MPI returns at once).
[[nodiscard]] std::string open_mpi_runs(const std::string& forced, const CollectiveCall& call,
                                        std::uint64_t segment_bytes);

/// Why a call of `operation` on `ranks` ranks would come back with an MPI error when `forced` was selected;
/// none when it would not.
[[nodiscard]] std::optional<std::string> open_mpi_refuses(OperationId operation, const std::string& forced,
                                                          int ranks);

/// What SimGrid's MPI runs in `call` when its setting for the operation (smpi/allreduce and the like) is
/// `configured`: by the name that Open MPI has for it where the two send the same messages, so that one
/// formula serves both, else by SMPI's own; its fallbacks are considered. "auto" for no setting and for the
/// settings that choose by size. Source: SimGrid 3.32, src/smpi/colls/.
[[nodiscard]] std::string smpi_runs(const std::string& configured, const CollectiveCall& call);

}  // namespace collbench::collectives
