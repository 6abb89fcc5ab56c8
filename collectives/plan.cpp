#include "collectives/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <tuple>

#include "base/error.hpp"
#include "base/units.hpp"
#include "collectives/registry.hpp"

namespace collbench {
namespace {

constexpr std::size_t kMostRows = 10'000;  // nobody reads more, and each of them costs every rank memory

Error too_many(const std::string& where, const std::string& next_step) {
  return usage_error(where, fmt::format("that is more than {} rows", kMostRows), next_step);
}

RowKey row_key(const Collective& collective, std::uint64_t asked_bytes, DataType type,
               std::optional<Reduction> reduction, bool in_place, const std::string& algorithm, int ranks) {
  const Layout layout = collective.layout(asked_bytes, traits(type).bytes, ranks);
  if (layout.count > static_cast<std::uint64_t>(std::numeric_limits<int>::max())) {
    throw usage_error(
        "size",
        fmt::format("{} of {} is {} elements in one call; MPI takes {}", format_bytes(asked_bytes),
                    traits(type).name, layout.count, std::numeric_limits<int>::max()),
        "give a smaller -e, or a larger type with -d");
  }
  return {.operation = collective.id,
          .size_bytes = layout.size_bytes,
          .count = layout.count,
          .type = type,
          .reduction = reduction,
          .in_place = in_place,
          .algorithm = algorithm};
}

}  // namespace

std::vector<RowKey> plan_rows(const PlanRequest& request, int ranks) {
  std::vector<RowKey> rows;
  std::set<std::tuple<OperationId, DataType, std::optional<Reduction>, bool, std::string, std::uint64_t>>
      seen;
  for (const OperationId id : request.operations) {
    const Operation& facts = operation(id);
    const Collective& what = collective(id);
    std::vector<std::optional<Reduction>> reductions{std::nullopt};
    if (facts.reduces) reductions.assign(request.reductions.begin(), request.reductions.end());
    std::vector<bool> places;
    // What has no in-place form is not left out of a run in place: it runs in the one form it has.
    if (request.out_of_place || !facts.has_in_place) places.push_back(false);
    if (request.in_place && facts.has_in_place) places.push_back(true);
    for (const DataType type : request.types) {
      for (const auto& reduction : reductions) {
        for (const bool in_place : places) {
          for (const std::string& algorithm : request.algorithms) {
            for (const std::uint64_t size : request.sizes_bytes) {
              RowKey key = row_key(what, size, type, reduction, in_place, algorithm, ranks);
              if (!seen.emplace(id, type, reduction, in_place, algorithm, key.size_bytes).second) continue;
              rows.push_back(std::move(key));
              if (rows.size() > kMostRows)
                throw too_many("the plan", "give fewer sizes, types or algorithms");
            }
          }
        }
      }
    }
  }
  return rows;
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
  if (first < last && (last - first) / step > kMostRows) throw too_many("-i", "give a larger step");
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t size = first; size < last; size += std::min(step, last - size)) sizes.push_back(size);
  sizes.push_back(last);
  return sizes;
}

}  // namespace collbench
