#include "collectives/mpi/open_mpi_fallbacks.hpp"

#include <bit>

namespace collbench {
namespace {

/// Elements of one segment, rounded to the nearest, or all of them where segments make no sense. Source:
/// coll_base_functions.h, COLL_BASE_COMPUTED_SEGCOUNT.
std::uint64_t segment_elements(const CollectiveCall& call, std::uint64_t segment_bytes) {
  if (segment_bytes < call.element_bytes || segment_bytes >= call.element_bytes * call.count) {
    return call.count;
  }
  const std::uint64_t whole = segment_bytes / call.element_bytes;
  return segment_bytes % call.element_bytes > call.element_bytes / 2 ? whole + 1 : whole;
}

/// Source: coll_base_allreduce.c, ompi_coll_base_allreduce_intra_{ring_segmented,ring,redscat_allgather}.
std::string all_reduce_runs(std::string algorithm, const CollectiveCall& call, std::uint64_t segment_bytes) {
  const auto ranks = static_cast<std::uint64_t>(call.ranks);
  if (algorithm == "segmented_ring" && call.count < ranks * segment_elements(call, segment_bytes)) {
    algorithm = "ring";  // without a segment size there is never more than one segment
  }
  if (algorithm == "ring" && call.count < ranks) return "recursive_doubling";
  if (algorithm == "rabenseifner" && (call.count < std::bit_floor(ranks) || !call.commutative)) {
    return "basic_linear";
  }
  return algorithm;
}

/// Source: coll_base_allgather.c, ompi_coll_base_allgather_intra_{recursivedoubling,neighborexchange}.
std::string all_gather_runs(const std::string& algorithm, int ranks) {
  if (algorithm == "recursive_doubling" && !std::has_single_bit(static_cast<unsigned>(ranks))) return "bruck";
  if (algorithm == "neighbor" && ranks % 2 != 0) return "ring";
  return algorithm;
}

}  // namespace

std::string open_mpi_runs(const std::string& forced, const CollectiveCall& call,
                          std::uint64_t segment_bytes) {
  if (call.count == 0) return "none";  // the first lines of ompi/mpi/c/{allreduce,allgather,…}.c
  if (call.ranks == 1) return "self";  // coll_tuned_module.c, ompi_coll_tuned_comm_query: not below two ranks
  switch (call.operation) {
    case OperationId::all_reduce:
      return all_reduce_runs(forced, call, segment_bytes);
    case OperationId::all_gather:
      return all_gather_runs(forced, call.ranks);
    case OperationId::all_to_all:
      // coll_base_alltoall.c: each of them begins with mca_coll_base_alltoall_intra_basic_inplace
      return call.in_place ? "basic_inplace" : forced;
    default:  // coll_base_reduce_scatter.c: none hands over
      return forced;
  }
}

std::optional<std::string> open_mpi_refuses(OperationId operation, const std::string& forced, int ranks) {
  // coll_base_allgather.c and coll_base_alltoall.c, …_intra_two_procs: MPI_ERR_UNSUPPORTED_OPERATION
  const bool has_two_proc = operation == OperationId::all_gather || operation == OperationId::all_to_all;
  if (has_two_proc && forced == "two_proc" && ranks > 2) return "two_proc needs exactly 2 ranks";
  return std::nullopt;
}

}  // namespace collbench
