#include "base/record/operation.hpp"

#include <algorithm>
#include <cctype>
#include <string>

namespace collbench {
namespace {

using enum SizeMeaning;
using enum BusFactor;

constexpr Operation kAllReduce{.id = OperationId::all_reduce,
                               .name = "AllReduce",
                               .option = "all_reduce",
                               .nccl_tests_name = "all_reduce",
                               .size_meaning = buffer,
                               .bus_factor = twice_others,
                               .reduces = true,
                               .has_in_place = true};
constexpr Operation kAllGather{.id = OperationId::all_gather,
                               .name = "AllGather",
                               .option = "all_gather",
                               .nccl_tests_name = "all_gather",
                               .size_meaning = total,
                               .bus_factor = others,
                               .has_in_place = true};
constexpr Operation kReduceScatter{.id = OperationId::reduce_scatter,
                                   .name = "ReduceScatter",
                                   .option = "reduce_scatter",
                                   .nccl_tests_name = "reduce_scatter",
                                   .size_meaning = total,
                                   .bus_factor = others,
                                   .reduces = true,
                                   .has_in_place = true};
constexpr Operation kAllToAll{.id = OperationId::all_to_all,
                              .name = "AllToAll",
                              .option = "all_to_all",
                              .nccl_tests_name = "alltoall",
                              .size_meaning = total,
                              .bus_factor = others};
constexpr Operation kSendRecv{.id = OperationId::send_recv,
                              .name = "SendRecv",
                              .option = "send_recv",
                              .nccl_tests_name = "sendrecv",
                              .size_meaning = message,
                              .bus_factor = one,
                              .needs_two_ranks = true};
constexpr Operation kAllToAllv{.id = OperationId::all_to_all_v,
                               .name = "AllToAllv",
                               .option = "all_to_all_v",
                               .nccl_tests_name = "alltoallv",
                               .size_meaning = largest_rank_total,
                               .bus_factor = others};
constexpr Operation kGather{.id = OperationId::gather,
                            .name = "Gather",
                            .option = "gather",
                            .nccl_tests_name = "gather",
                            .size_meaning = total,
                            .bus_factor = others,
                            .has_in_place = true,
                            .has_root = true};
constexpr Operation kScatter{.id = OperationId::scatter,
                             .name = "Scatter",
                             .option = "scatter",
                             .nccl_tests_name = "scatter",
                             .size_meaning = total,
                             .bus_factor = others,
                             .has_in_place = true,
                             .has_root = true};
constexpr Operation kBroadcast{.id = OperationId::broadcast,
                               .name = "Broadcast",
                               .option = "broadcast",
                               .nccl_tests_name = "broadcast",
                               .size_meaning = buffer,
                               .bus_factor = one,
                               .has_in_place = true,
                               .has_root = true};
constexpr Operation kReduce{.id = OperationId::reduce,
                            .name = "Reduce",
                            .option = "reduce",
                            .nccl_tests_name = "reduce",
                            .size_meaning = buffer,
                            .bus_factor = one,
                            .reduces = true,
                            .has_in_place = true,
                            .has_root = true};
constexpr Operation kHyperCube{.id = OperationId::hypercube,
                               .name = "HyperCube",
                               .option = "hypercube",
                               .nccl_tests_name = "hypercube",
                               .size_meaning = hypercube_base,
                               .bus_factor = one,
                               .has_in_place = true};
constexpr Operation kPingPong{.id = OperationId::ping_pong,
                              .name = "PingPong",
                              .option = "ping_pong",
                              .nccl_tests_name = "",
                              .size_meaning = message,
                              .bus_factor = one,
                              .needs_two_ranks = true};

/// A compute kernel, then AllReduce of S.
constexpr Operation kStep{.id = OperationId::step,
                          .name = "Step",
                          .option = "step",
                          .nccl_tests_name = "",
                          .size_meaning = buffer,
                          .bus_factor = twice_others,
                          .reduces = true,
                          .has_in_place = true,
                          .has_bandwidth = false};

constexpr std::array<Operation, 13> kOperations{kAllReduce, kAllGather, kReduceScatter, kAllToAll,  kSendRecv,
                                                kAllToAllv, kGather,    kScatter,       kBroadcast, kReduce,
                                                kHyperCube, kPingPong,  kStep};

std::string folded(std::string_view name) {
  std::string result;
  for (const char c : name) {
    if (c != '_' && c != '-') result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return result;
}

}  // namespace

std::span<const Operation> operations() { return kOperations; }

const Operation& operation(OperationId id) {
  switch (id) {
    case OperationId::all_reduce:
      return kAllReduce;
    case OperationId::all_gather:
      return kAllGather;
    case OperationId::reduce_scatter:
      return kReduceScatter;
    case OperationId::all_to_all:
      return kAllToAll;
    case OperationId::send_recv:
      return kSendRecv;
    case OperationId::all_to_all_v:
      return kAllToAllv;
    case OperationId::gather:
      return kGather;
    case OperationId::scatter:
      return kScatter;
    case OperationId::broadcast:
      return kBroadcast;
    case OperationId::reduce:
      return kReduce;
    case OperationId::hypercube:
      return kHyperCube;
    case OperationId::ping_pong:
      return kPingPong;
    case OperationId::step:
      return kStep;
  }
  return kAllReduce;  // not reached: every operation is above
}

const Operation* find_operation(std::string_view name) {
  const std::string wanted = folded(name);
  const auto* found = std::ranges::find_if(
      kOperations, [&](const Operation& candidate) { return folded(candidate.name) == wanted; });
  return found == kOperations.end() ? nullptr : found;
}

double bus_factor(const Operation& operation, int ranks) {
  const double p = ranks;
  switch (operation.bus_factor) {
    case BusFactor::twice_others:
      return 2 * (p - 1) / p;
    case BusFactor::others:
      return (p - 1) / p;
    case BusFactor::one:
      return 1;
  }
  return 1;
}

double algorithm_bandwidth(const Operation& operation, std::uint64_t size_bytes, int ranks, double seconds) {
  const double moves = operation.size_meaning == SizeMeaning::hypercube_base ? ranks - 1 : 1;
  return static_cast<double>(size_bytes) * moves / seconds;
}

double bus_bandwidth(const Operation& operation, std::uint64_t size_bytes, int ranks, double seconds) {
  return algorithm_bandwidth(operation, size_bytes, ranks, seconds) * bus_factor(operation, ranks);
}

}  // namespace collbench
