#include "collectives/engine/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/error.hpp"
#include "base/units.hpp"
#include "collectives/buffer_layout.hpp"

namespace collbench::collectives {
namespace {

constexpr std::size_t kMaxRows = 10'000;  // nobody reads more, and each of them costs every rank memory

Error too_many(const std::string& where, const std::string& next_step) {
  return usage_error(where, fmt::format("that is more than {} rows", kMaxRows), next_step);
}

/// The row with its size: what really runs when `asked_bytes` are asked for.
RowKey sized(RowKey row, std::uint64_t asked_bytes, const CallContext& call,
             std::uint64_t elements_per_call) {
  const DataTypeTraits& type = traits(row.type);
  const Operation& what = operation(row.operation);
  const Layout layout =
      collective(row.operation).layout(count_for(what, asked_bytes, type.bytes, call), call);
  // AllToAllv addresses its whole buffer in one call, and MPI libraries add up the counts of a ReduceScatter
  // as an int (Open MPI 4.1, coll_base_reduce_scatter.c: total_count).
  const bool whole =
      what.size_meaning == SizeMeaning::largest_rank_total || what.id == OperationId::reduce_scatter;
  const std::uint64_t in_one_call = whole ? layout.size_elements : layout.count;
  if (in_one_call > elements_per_call) {
    constexpr std::uint64_t kMaxType = 8;
    const bool type_helps = asked_bytes / kMaxType <= elements_per_call;
    throw usage_error("sizes",
                      fmt::format("the row of {} has {} elements of {} in one call; the maximum is {}",
                                  format_bytes(asked_bytes), in_one_call, type.name, elements_per_call),
                      type_helps ? "give a smaller largest size (-e or --sizes), or a larger type with -d"
                                 : "give a smaller largest size (-e or --sizes)");
  }
  row.size_bytes = layout.size_elements * type.bytes;
  row.count = layout.count;
  return row;
}

std::vector<std::optional<int>> roots(const PlanRequest& request, const Operation& what, int ranks) {
  if (!what.has_root) return {std::nullopt};
  if (request.root >= ranks) {
    throw usage_error("-r", fmt::format("there is no rank {} among {}", request.root, ranks),
                      fmt::format("give one from 0 to {}, or all", ranks - 1));
  }
  if (request.root != kEveryRoot) return {request.root};
  std::vector<std::optional<int>> all;
  for (int rank = 0; rank < ranks; ++rank) all.emplace_back(rank);
  return all;
}

/// The rows of one operation without their size, in the order they are shown.
std::vector<RowKey> variants(const PlanRequest& request, const Operation& what, int ranks) {
  std::vector<std::optional<Reduction>> reductions{std::nullopt};
  if (what.reduces) reductions.assign(request.reductions.begin(), request.reductions.end());
  std::vector<bool> forms;
  // What has no in-place form is not left out of a run in place: it runs in the one form it has.
  if (request.out_of_place || !what.has_in_place) forms.push_back(false);
  if (request.in_place && what.has_in_place) forms.push_back(true);
  std::vector<RowKey> all;
  for (const DataType type : request.types) {
    for (const auto& reduction : reductions) {
      for (const auto& root : roots(request, what, ranks)) {
        for (const bool in_place : forms) {
          for (const std::string& algorithm : request.algorithms) {
            all.push_back({.operation = what.id,
                           .type = type,
                           .reduction = reduction,
                           .in_place = in_place,
                           .algorithm = algorithm,
                           .root = root});
          }
        }
      }
    }
  }
  return all;
}

}  // namespace

std::vector<RowKey> plan_rows(const PlanRequest& request, int ranks, const TrafficMatrix& traffic) {
  std::vector<RowKey> rows;
  std::set<RowKey> seen;
  for (const OperationId id : request.operations) {
    for (const RowKey& variant : variants(request, operation(id), ranks)) {
      for (const std::uint64_t size : request.sizes_bytes) {
        const RowKey row = sized(variant, size, call_context(variant, 0, ranks, traffic, request.buffers),
                                 request.elements_per_call);
        RowKey what_moves = row;
        what_moves.count = 0;  // AllToAllv rounds several counts to the same
        if (!seen.insert(what_moves).second) continue;
        rows.push_back(row);
        if (rows.size() > kMaxRows) throw too_many("the plan", "give fewer sizes, types or algorithms");
      }
    }
  }
  return rows;
}

RowKey row_for_ranks(const RowKey& row, int ranks, const PlanRequest& request) {
  const TrafficMatrix none;
  return sized(row, row.size_bytes, call_context(row, 0, ranks, none, request.buffers),
               request.elements_per_call);
}

std::vector<std::uint64_t> geometric_sizes(std::uint64_t first, std::uint64_t last, double factor) {
  std::vector<std::uint64_t> sizes;
  for (auto size = static_cast<double>(first); size < static_cast<double>(last); size *= factor) {
    const auto whole = static_cast<std::uint64_t>(size);
    if (sizes.empty() || sizes.back() != whole) sizes.push_back(whole);
    if (first == 0) break;  // 0 never grows
  }
  sizes.push_back(last);
  return sizes;
}

std::vector<std::uint64_t> arithmetic_sizes(std::uint64_t first, std::uint64_t last, std::uint64_t step) {
  if (first < last && (last - first) / step > kMaxRows) throw too_many("-i", "give a larger step");
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t size = first; size < last; size += std::min(step, last - size)) sizes.push_back(size);
  sizes.push_back(last);
  return sizes;
}

}  // namespace collbench::collectives
