#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace collbench {

/// Every operation whose rows can be read or measured: the table of nccl-tests 2.19.6 (src/*.cu,
/// GetCollByteCount and GetBw), which measuring and importing share; PingPong, which it lacks; and
/// Step, a training step: compute, then AllReduce.
enum class OperationId {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  send_recv,
  all_to_all_v,
  gather,
  scatter,
  broadcast,
  reduce,
  hypercube,
  ping_pong,
  step,
};
inline constexpr std::size_t kOperationCount =
    static_cast<std::size_t>(OperationId::step) + 1;  // the last one

/// What the bytes S of the size column are.
enum class SizeMeaning {
  buffer,  ///< the buffer of one rank (AllReduce, Broadcast, Reduce)
  total,   ///< ranks × count: the larger buffer (AllGather, ReduceScatter, AllToAll, Gather, Scatter)
  largest_rank_total,  ///< the most that one rank sends or receives (AllToAllv)
  message,             ///< what one rank sends to one peer (SendRecv, PingPong)
  hypercube_base,      ///< the largest exchange; a rank moves base × (ranks − 1) in all (HyperCube)
};

/// How bus bandwidth follows from algorithm bandwidth.
enum class BusFactor {
  twice_others,  ///< 2(p − 1)/p
  others,        ///< (p − 1)/p
  one,           ///< 1
};

struct Operation {
  OperationId id;
  std::string_view name;             ///< as printed and in records: "AllReduce"
  std::string_view option;           ///< as typed: "all_reduce"
  std::string_view nccl_tests_name;  ///< the program's name without "_perf": "all_reduce"; empty: none
  SizeMeaning size_meaning;
  BusFactor bus_factor;
  bool reduces = false;          ///< takes a reduction (sum, prod, …)
  bool has_in_place = false;     ///< NCCL and MPI both define an in-place form
  bool needs_two_ranks = false;  ///< has no meaning on one rank
  bool has_root = false;         ///< one rank has a part of its own: -r says which
  bool has_bandwidth = true;     ///< its time is that of its bytes
};

/// All operations that can be run, in the order of OperationId; an entry of the table in operation.cpp each.
[[nodiscard]] std::span<const Operation> operations();

[[nodiscard]] const Operation& operation(OperationId id);

/// One that can be run, by any of its names, ignoring case, "_" and "-"; null when there is none.
[[nodiscard]] const Operation* find_operation(std::string_view name);

/// busbw / algbw for `ranks` ranks. 0 where one rank moves nothing. Source: nccl-tests doc/PERFORMANCE.md and
/// src/*.cu.
[[nodiscard]] double bus_factor(const Operation& operation, int ranks);

/// Algorithm bandwidth in bytes per second of an operation with `size_bytes` in its size column.
[[nodiscard]] double algorithm_bandwidth(const Operation& operation, std::uint64_t size_bytes, int ranks,
                                         double seconds);

/// Bus bandwidth in bytes per second: algorithm bandwidth × bus factor.
[[nodiscard]] double bus_bandwidth(const Operation& operation, std::uint64_t size_bytes, int ranks,
                                   double seconds);

}  // namespace collbench
