#include "base/record/operation.hpp"

#include <algorithm>
#include <cctype>
#include <string>

namespace collbench {
namespace {

using enum SizeMeaning;
constexpr std::array<Operation, 12> kOperations{{
    {OperationId::all_reduce, "AllReduce", "all_reduce", "all_reduce", buffer, BusFactor::twice_others, true,
     true, false},
    {OperationId::all_gather, "AllGather", "all_gather", "all_gather", total, BusFactor::others, false, true,
     false},
    {OperationId::reduce_scatter, "ReduceScatter", "reduce_scatter", "reduce_scatter", total,
     BusFactor::others, true, true, false},
    {OperationId::all_to_all, "AllToAll", "all_to_all", "alltoall", total, BusFactor::others, false, false,
     false},
    {OperationId::send_recv, "SendRecv", "send_recv", "sendrecv", message, BusFactor::one, false, false,
     true},
    {OperationId::all_to_all_v, "AllToAllv", "all_to_all_v", "alltoallv", largest_rank_total,
     BusFactor::others, false, false, false},
    {OperationId::gather, "Gather", "gather", "gather", total, BusFactor::others, false, true, false, true},
    {OperationId::scatter, "Scatter", "scatter", "scatter", total, BusFactor::others, false, true, false,
     true},
    {OperationId::broadcast, "Broadcast", "broadcast", "broadcast", buffer, BusFactor::one, false, true,
     false, true},
    {OperationId::reduce, "Reduce", "reduce", "reduce", buffer, BusFactor::one, true, true, false, true},
    {OperationId::hypercube, "HyperCube", "hypercube", "hypercube", hypercube_base, BusFactor::one, false,
     true, false},
    {OperationId::ping_pong, "PingPong", "ping_pong", "", message, BusFactor::one, false, false, true},
}};

std::string folded(std::string_view name) {
  std::string result;
  for (const char c : name) {
    if (c != '_' && c != '-') result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return result;
}

}  // namespace

std::span<const Operation> operations() { return kOperations; }

const Operation& operation(OperationId id) { return kOperations.at(static_cast<std::size_t>(id)); }

const Operation* find_operation(std::string_view name) {
  const std::string wanted = folded(name);
  const auto* found = std::find_if(kOperations.begin(), kOperations.end(), [&](const Operation& candidate) {
    return folded(candidate.name) == wanted;
  });
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
