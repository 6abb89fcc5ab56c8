#include "collectives/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "base/error.hpp"
#include "base/units.hpp"
#include "collectives/registry.hpp"

namespace collbench {
namespace {

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
  for (const OperationId id : request.operations) {
    const Operation& facts = operation(id);
    const Collective& what = collective(id);
    std::vector<std::optional<Reduction>> reductions{std::nullopt};
    if (facts.reduces) reductions.assign(request.reductions.begin(), request.reductions.end());
    std::vector<bool> places;
    if (request.out_of_place) places.push_back(false);
    if (request.in_place && facts.has_in_place) places.push_back(true);
    for (const DataType type : request.types) {
      for (const auto& reduction : reductions) {
        for (const bool in_place : places) {
          for (const std::string& algorithm : request.algorithms) {
            for (const std::uint64_t size : request.sizes_bytes) {
              RowKey key = row_key(what, size, type, reduction, in_place, algorithm, ranks);
              if (std::find(rows.begin(), rows.end(), key) == rows.end()) rows.push_back(std::move(key));
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
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t size = first; size < last; size += step) sizes.push_back(size);
  sizes.push_back(last);
  return sizes;
}

}  // namespace collbench
