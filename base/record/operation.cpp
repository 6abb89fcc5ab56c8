#include "base/record/operation.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace collbench {
namespace {

using enum SizeMeaning;
using enum BusFactor;

/// As printed and in records, as typed, and as nccl-tests calls its program; empty: it has none.
struct OperationNames {
  std::string_view name;
  std::string_view option;
  std::string_view nccl_tests_name;
};

/// What holds of an operation beside that, in any combination.
enum OperationTraits : unsigned { kReduces = 1, kInPlace = 2, kTwoRanks = 4, kRoot = 8, kNoBandwidth = 16 };

constexpr Operation operation_entry(OperationId id, const OperationNames& names, SizeMeaning size,
                                    BusFactor factor, unsigned traits = 0) {
  return {.id = id,
          .name = names.name,
          .option = names.option,
          .nccl_tests_name = names.nccl_tests_name,
          .size_meaning = size,
          .bus_factor = factor,
          .reduces = (traits & kReduces) != 0,
          .has_in_place = (traits & kInPlace) != 0,
          .needs_two_ranks = (traits & kTwoRanks) != 0,
          .has_root = (traits & kRoot) != 0,
          .has_bandwidth = (traits & kNoBandwidth) == 0};
}

constexpr Operation described(OperationId id) {
  switch (id) {
    case OperationId::all_reduce:
      return operation_entry(id, {"AllReduce", "all_reduce", "all_reduce"}, buffer, twice_others,
                             kReduces | kInPlace);
    case OperationId::all_gather:
      return operation_entry(id, {"AllGather", "all_gather", "all_gather"}, total, others, kInPlace);
    case OperationId::reduce_scatter:
      return operation_entry(id, {"ReduceScatter", "reduce_scatter", "reduce_scatter"}, total, others,
                             kReduces | kInPlace);
    case OperationId::all_to_all:
      return operation_entry(id, {"AllToAll", "all_to_all", "alltoall"}, total, others);
    case OperationId::send_recv:
      return operation_entry(id, {"SendRecv", "send_recv", "sendrecv"}, message, one, kTwoRanks);
    case OperationId::all_to_all_v:
      return operation_entry(id, {"AllToAllv", "all_to_all_v", "alltoallv"}, largest_rank_total, others);
    case OperationId::gather:
      return operation_entry(id, {"Gather", "gather", "gather"}, total, others, kInPlace | kRoot);
    case OperationId::scatter:
      return operation_entry(id, {"Scatter", "scatter", "scatter"}, total, others, kInPlace | kRoot);
    case OperationId::broadcast:
      return operation_entry(id, {"Broadcast", "broadcast", "broadcast"}, buffer, one, kInPlace | kRoot);
    case OperationId::reduce:
      return operation_entry(id, {"Reduce", "reduce", "reduce"}, buffer, one, kReduces | kInPlace | kRoot);
    case OperationId::hypercube:
      return operation_entry(id, {"HyperCube", "hypercube", "hypercube"}, hypercube_base, one, kInPlace);
    case OperationId::ping_pong:
      return operation_entry(id, {"PingPong", "ping_pong", ""}, message, one, kTwoRanks);
    case OperationId::step:  // a compute kernel, then AllReduce of S
      return operation_entry(id, {"Step", "step", ""}, buffer, twice_others,
                             kReduces | kInPlace | kNoBandwidth);
  }
  return {};  // not reached: every operation is above
}

constexpr auto kOperations = [] {
  std::array<Operation, kOperationCount> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all.at(i) = described(static_cast<OperationId>(i));
  return all;
}();

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
