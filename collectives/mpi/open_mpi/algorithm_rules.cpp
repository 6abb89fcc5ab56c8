#include "collectives/mpi/open_mpi/algorithm_rules.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <span>
#include <sstream>
#include <string_view>

namespace collbench::collectives {
namespace {

/// The rules of communicators of fewer than `below_ranks`.
struct Band {
  int below_ranks;
  const char* rules;  ///< "A 8 B 4096 C": A below 8 bytes, B below 4096, C from there on
};
constexpr int kAnyRanks = std::numeric_limits<int>::max();

/// By the bytes of the buffer.
constexpr std::array<Band, 11> kAllReduceBands{{
    {4,
     "ring 8 recursive_doubling 4096 ring 8192 recursive_doubling 16384 ring 65536 "
     "segmented_ring 262144 rabenseifner"},
    {8, "ring 16 recursive_doubling 8192 rabenseifner"},
    {16, "recursive_doubling 8192 rabenseifner"},
    {32, "segmented_ring 64 recursive_doubling 4096 rabenseifner"},
    {64, "segmented_ring 128 rabenseifner"},
    {128, "recursive_doubling 262144 rabenseifner"},
    {256, "nonoverlapping 131072 recursive_doubling 262144 rabenseifner"},
    {512, "nonoverlapping 4096 rabenseifner"},
    {2048, "nonoverlapping 2048 recursive_doubling 16384 rabenseifner"},
    {4096, "nonoverlapping 2048 segmented_ring 4096 recursive_doubling 16384 rabenseifner"},
    {kAnyRanks, "nonoverlapping 2048 segmented_ring 16384 recursive_doubling 32768 rabenseifner"},
}};

/// By the bytes of one rank's block.
constexpr std::array<Band, 10> kAllGatherBands{{
    {3, "two_proc"},
    {32, "recursive_doubling"},
    {64, "recursive_doubling 1024 neighbor 65536 ring"},
    {128, "recursive_doubling 512 neighbor 65536 ring"},
    {256, "recursive_doubling 512 neighbor 131072 ring 524288 neighbor 1048576 ring"},
    {512,
     "recursive_doubling 32 bruck 128 recursive_doubling 1024 neighbor 131072 ring 524288 "
     "neighbor 1048576 ring"},
    {1024, "recursive_doubling 64 bruck 256 recursive_doubling 2048 neighbor"},
    {2048,
     "recursive_doubling 4 bruck 8 recursive_doubling 16 bruck 32 recursive_doubling 256 "
     "bruck 512 recursive_doubling 4096 neighbor"},
    {4096, "bruck 32 recursive_doubling 128 bruck 512 recursive_doubling 4096 neighbor"},
    {kAnyRanks,
     "recursive_doubling 2 bruck 8 recursive_doubling 16 bruck 512 recursive_doubling 4096 neighbor"},
}};

/// By the bytes of the input, all blocks.
constexpr std::array<Band, 11> kReduceScatterBands{{
    {4, "ring 65536 butterfly 131072 ring"},
    {8, "non-overlapping 8 recursive_halving 262144 ring"},
    {32, "recursive_halving 262144 ring"},
    {64, "non-overlapping 64 recursive_halving 2048 butterfly 524288 ring"},
    {128, "non-overlapping 256 recursive_halving 512 butterfly 2048 recursive_halving 4096 butterfly"},
    {256, "non-overlapping 256 recursive_halving 512 butterfly"},
    {512, "non-overlapping 256 recursive_halving 1024 butterfly"},
    {1024, "non-overlapping 512 recursive_halving 2048 butterfly 8192 recursive_halving 16384 butterfly"},
    {2048, "non-overlapping 512 recursive_halving 4096 butterfly 16384 recursive_halving 32768 butterfly"},
    {4096, "non-overlapping 512 recursive_halving 4096 butterfly"},
    {kAnyRanks, "non-overlapping 1024 recursive_halving 8192 butterfly"},
}};

/// By the bytes that a rank sends to each other one.
constexpr std::array<Band, 12> kAllToAllBands{{
    {3,
     "pairwise 2 two_proc 4 pairwise 16 two_proc 64 pairwise 256 two_proc 4096 "
     "pairwise 32768 linear_sync 262144 two_proc 1048576 pairwise"},
    {8, "linear_sync 8192 linear 16384 linear_sync 65536 linear 524288 pairwise 1048576 linear"},
    {16, "linear_sync 262144 linear"},
    {32,
     "linear_sync 4 modified_bruck 512 linear_sync 8192 linear 32768 linear_sync 262144 "
     "linear 524288 linear_sync"},
    {64, "modified_bruck 512 linear 524288 linear_sync"},
    {128, "modified_bruck 1024 linear 2048 linear_sync 4096 linear 262144 pairwise"},
    {256, "modified_bruck 1024 linear_sync 2048 linear 262144 pairwise"},
    {512, "modified_bruck 1024 linear_sync 8192 linear 32768 pairwise"},
    {1024, "modified_bruck 512 linear_sync 8192 linear 16384 linear_sync 131072 linear 262144 pairwise"},
    {2048, "modified_bruck 512 linear_sync 1024 linear 2048 linear_sync 16384 linear 262144 linear_sync"},
    {4096, "modified_bruck 1024 linear_sync 4096 linear 8192 linear_sync 131072 linear"},
    {kAnyRanks,
     "modified_bruck 2048 linear_sync 8192 linear 16384 linear_sync 32768 linear 65536 linear_sync"},
}};

struct Rules {
  std::span<const Band> bands;
  std::uint64_t bytes = 0;  ///< what the bands go by
};

Rules rules_of(const CollectiveCall& call) {
  const std::uint64_t block = call.count * call.element_bytes;
  switch (call.operation) {
    case OperationId::all_reduce:
      return {kAllReduceBands, block};
    case OperationId::all_gather:
      return {kAllGatherBands, block};
    case OperationId::reduce_scatter:
      return {kReduceScatterBands, block * static_cast<std::uint64_t>(call.ranks)};
    case OperationId::all_to_all:
      return {kAllToAllBands, block};
    case OperationId::all_to_all_v:
    case OperationId::send_recv:
    case OperationId::ping_pong:
    case OperationId::broadcast:
    case OperationId::reduce:
    case OperationId::gather:
    case OperationId::scatter:
    case OperationId::step:  // its AllReduce is asked for
    case OperationId::hypercube:
      return {};
  }
  return {};
}

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

bool is_power_of_two(int ranks) { return std::has_single_bit(static_cast<unsigned>(ranks)); }

/// Source: coll_base_allgather.c, ompi_coll_base_allgather_intra_{recursivedoubling,neighborexchange}.
std::string all_gather_runs(const std::string& algorithm, int ranks) {
  if (algorithm == "recursive_doubling" && !is_power_of_two(ranks)) return "bruck";
  if (algorithm == "neighbor" && ranks % 2 != 0) return "ring";
  return algorithm;
}

/// smpi_coll.cpp, smpi_coll_descriptions: the entries that are selectors, not algorithms.
constexpr std::array<std::string_view, 7> kSelectors{"",         "default", "ompi",     "mpich",
                                                     "mvapich2", "impi",    "automatic"};

/// allreduce-lr.cpp: a ring over what divides by the ranks; the rest, or all of it, by reduction and
/// broadcast.
std::string ring_and_rest(const CollectiveCall& call) {
  const auto ranks = static_cast<std::uint64_t>(call.ranks);
  if (call.count < ranks) return "redbcast";
  return call.count % ranks == 0 ? "ring" : "ring+redbcast";
}

/// An algorithm that SMPI calls otherwise than Open MPI. Names that are not here are the same, such as bruck
/// and Reduce's binomial, or mean another algorithm: "pair" exchanges with rank xor step, which is not Open
/// MPI's "pairwise".
struct SmpiName {
  OperationId operation;
  std::string_view smpi;
  const char* ours;
  bool of_power_of_two = false;  ///< on other numbers of ranks it is something else
};

}  // namespace

std::optional<std::string> open_mpi_chooses(const CollectiveCall& call) {
  if (!call.commutative) return std::nullopt;
  const Rules rules = rules_of(call);
  for (const Band& band : rules.bands) {
    if (call.ranks >= band.below_ranks) continue;
    std::istringstream words(band.rules);
    std::string algorithm;
    std::uint64_t below_bytes = 0;
    while (words >> algorithm && words >> below_bytes && rules.bytes >= below_bytes) {
    }
    return algorithm;
  }
  return std::nullopt;
}

bool has_open_mpi_rules(std::string_view version) { return version.starts_with("Open MPI v4.1."); }

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
    case OperationId::reduce_scatter:  // coll_base_reduce_scatter.c: none hands over
    case OperationId::all_to_all_v:    // no algorithm of this one and the next can be forced
    case OperationId::send_recv:
    case OperationId::ping_pong:
    case OperationId::broadcast:
    case OperationId::reduce:
    case OperationId::gather:
    case OperationId::scatter:
    case OperationId::step:  // its AllReduce is asked for
    case OperationId::hypercube:
      return forced;
  }
  return forced;
}

std::optional<std::string> open_mpi_refuses(OperationId operation, const std::string& forced, int ranks) {
  // coll_base_allgather.c and coll_base_alltoall.c, …_intra_two_procs: MPI_ERR_UNSUPPORTED_OPERATION
  const bool has_two_proc = operation == OperationId::all_gather || operation == OperationId::all_to_all;
  if (has_two_proc && forced == "two_proc" && ranks > 2) return "two_proc needs exactly 2 ranks";
  return std::nullopt;
}

std::string smpi_runs(const std::string& configured, const CollectiveCall& call) {
  using enum OperationId;
  static constexpr std::array<SmpiName, 16> kNames{{
      {all_reduce, "rdb", "recursive_doubling"},
      {all_reduce, "rab_rdb", "rabenseifner", true},
      {all_gather, "NTSLR", "ring"},   // passes blocks on from neighbor to neighbor
      {all_gather, "ring", "direct"},  // sends every block to its reader, at distance 1, 2, …
      {all_gather, "rdb", "recursive_doubling", true},
      {reduce_scatter, "ompi_ring", "ring"},
      {reduce_scatter, "ompi_basic_recursivehalving", "recursive_halving"},
      {reduce_scatter, "ompi_butterfly", "butterfly"},
      {all_to_all, "basic_linear", "linear"},
      {all_to_all, "ring", "pairwise"},
      {all_to_all, "bruck", "modified_bruck"},
      {broadcast, "binomial_tree", "binomial"},
      {gather, "ompi_binomial", "binomial"},
      {scatter, "ompi_binomial", "binomial"},
      {gather, "ompi_basic_linear", "basic_linear"},
      {scatter, "ompi_basic_linear", "basic_linear"},
  }};
  if (std::ranges::find(kSelectors, configured) != kSelectors.end()) return "auto";
  if (call.ranks == 1) return "self";
  if (call.operation == all_reduce && configured == "lr") return ring_and_rest(call);
  if (call.operation == all_reduce && configured == "ompi_ring_segmented") {  // with segments of 1 MiB
    constexpr std::uint64_t kSegmentBytes = 1U << 20U;
    const std::string runs = open_mpi_runs("segmented_ring", call, kSegmentBytes);
    return runs == "segmented_ring" ? runs : ring_and_rest(call);
  }
  if (call.operation == all_gather && configured == "ompi_neighborexchange")
    return call.ranks % 2 == 0 ? "neighbor" : "ring";
  for (const SmpiName& each : kNames) {
    const bool is_it = each.operation == call.operation && each.smpi == configured;
    if (is_it && (!each.of_power_of_two || is_power_of_two(call.ranks))) return each.ours;
  }
  return configured;
}

}  // namespace collbench::collectives
