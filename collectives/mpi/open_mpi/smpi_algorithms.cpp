#include "collectives/mpi/open_mpi/smpi_algorithms.hpp"

#include <array>
#include <bit>
#include <string_view>

#include "collectives/mpi/open_mpi/algorithm_rules.hpp"

namespace collbench::collectives {
namespace {

/// smpi_coll.cpp, smpi_coll_descriptions: the entries that are selectors, not algorithms.
constexpr std::array<std::string_view, 7> kSelectors{"",         "default", "ompi",     "mpich",
                                                     "mvapich2", "impi",    "automatic"};

bool is_power_of_two(int ranks) { return std::has_single_bit(static_cast<unsigned>(ranks)); }

/// allreduce-lr.cpp: a ring over what divides by the ranks; the rest, or all of it, by reduction and
/// broadcast.
std::string ring_and_rest(const CollectiveCall& call) {
  const auto ranks = static_cast<std::uint64_t>(call.ranks);
  if (call.count < ranks) return "redbcast";
  return call.count % ranks == 0 ? "ring" : "ring+redbcast";
}

std::string smpis_all_reduce(const std::string& configured, const CollectiveCall& call) {
  if (configured == "lr") return ring_and_rest(call);
  if (configured == "rdb") return "recursive_doubling";
  if (configured == "rab_rdb" && is_power_of_two(call.ranks)) return "rabenseifner";
  if (configured == "ompi_ring_segmented") {  // Open MPI's, with segments of 1 MiB
    constexpr std::uint64_t kSegmentBytes = 1U << 20U;
    const std::string runs = open_mpi_runs("segmented_ring", call, kSegmentBytes);
    return runs == "segmented_ring" ? runs : ring_and_rest(call);
  }
  return configured;
}

/// SMPI's "ring" sends every block to its reader directly, at distance 1, 2, …; the ring that passes blocks
/// on from neighbour to neighbour is its "NTSLR".
std::string smpis_all_gather(const std::string& configured, int ranks) {
  if (configured == "NTSLR") return "ring";
  if (configured == "ring") return "direct";
  if (configured == "rdb" && is_power_of_two(ranks)) return "recursive_doubling";
  if (configured == "ompi_neighborexchange") return ranks % 2 == 0 ? "neighbor" : "ring";
  return configured;  // bruck has the same name
}

std::string reduce_scatter_runs(const std::string& configured) {
  if (configured == "ompi_ring") return "ring";
  if (configured == "ompi_basic_recursivehalving") return "recursive_halving";
  if (configured == "ompi_butterfly") return "butterfly";
  return configured;
}

/// SMPI's "pair" exchanges with rank xor step, which is not Open MPI's "pairwise"; its "ring" is.
std::string all_to_all_runs(const std::string& configured) {
  if (configured == "basic_linear") return "linear";
  if (configured == "ring") return "pairwise";
  if (configured == "bruck") return "modified_bruck";
  return configured;
}

/// Of Broadcast and Reduce, and of Gather and Scatter.
std::string rooted_runs(const std::string& configured, OperationId operation) {
  const bool of_one_buffer = operation == OperationId::broadcast || operation == OperationId::reduce;
  if (configured == "binomial_tree" && operation == OperationId::broadcast) return "binomial";
  if (configured == "ompi_binomial" && !of_one_buffer) return "binomial";
  if (configured == "ompi_basic_linear" && !of_one_buffer) return "basic_linear";
  return configured;  // Reduce's binomial has the same name
}

}  // namespace

std::string smpi_runs(const std::string& configured, const CollectiveCall& call) {
  for (const std::string_view selector : kSelectors) {
    if (configured == selector) return "auto";
  }
  if (call.ranks == 1) return "self";
  switch (call.operation) {
    case OperationId::all_reduce:
      return smpis_all_reduce(configured, call);
    case OperationId::all_gather:
      return smpis_all_gather(configured, call.ranks);
    case OperationId::reduce_scatter:
      return reduce_scatter_runs(configured);
    case OperationId::all_to_all:
      return all_to_all_runs(configured);
    case OperationId::broadcast:
    case OperationId::reduce:
    case OperationId::gather:
    case OperationId::scatter:
      return rooted_runs(configured, call.operation);
    case OperationId::all_to_all_v:  // SMPI has no setting for these
    case OperationId::send_recv:
    case OperationId::ping_pong:
    case OperationId::hypercube:
      return configured;
  }
  return configured;
}

}  // namespace collbench::collectives
