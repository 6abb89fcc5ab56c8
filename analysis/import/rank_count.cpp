#include "analysis/import/rank_count.hpp"

#include <algorithm>
#include <cmath>

namespace collbench::analysis {
namespace {

struct FactorRange {
  double least = 0;
  double most = 2;
};

/// busbw / algbw between what the printed digits allow, narrowed by one row's half.
void narrow(FactorRange& range, const LogHalf& half) {
  const PrintedNumber bus = half.bus_bandwidth;
  const PrintedNumber algorithm = half.algorithm_bandwidth;
  // A factor is known to be at most 2, so what is printed as 0.00 says nothing.
  if (!std::isfinite(bus.half_unit) || algorithm.value <= algorithm.half_unit) return;
  range.least = std::max(range.least, (bus.value - bus.half_unit) / (algorithm.value + algorithm.half_unit));
  range.most = std::min(range.most, (bus.value + bus.half_unit) / (algorithm.value - algorithm.half_unit));
}

/// The p for which others(p) = (p − 1)/p lies in the range.
std::optional<RankRange> ranks_of(double min_others, double max_others) {
  constexpr double kRounding = 1e-9;
  RankRange ranks;
  if (max_others < 0 || min_others >= 1) return std::nullopt;
  if (min_others > 0) {
    const double least = std::ceil(1 / (1 - min_others) - kRounding);
    if (least > RankRange::kMaxRanks) return std::nullopt;
    ranks.least = static_cast<int>(least);
  }
  if (max_others < 1) {
    const double most = std::floor(1 / (1 - max_others) + kRounding);
    if (most < RankRange::kMaxRanks) ranks.most = static_cast<int>(most);
  }
  if (ranks.least > ranks.most) return std::nullopt;
  return ranks;
}

bool size_is_total(const Operation& operation) { return operation.size_meaning == SizeMeaning::total; }

}  // namespace

std::optional<RankRange> ranks_by_rates(const Operation& operation, std::span<const LogRow> rows) {
  FactorRange factor;
  RankRange by_size;
  for (const LogRow& row : rows) {
    narrow(factor, row.out_of_place);
    if (row.in_place) narrow(factor, *row.in_place);
    const std::uint64_t bytes = row.count * traits(row.type).bytes;
    if (bytes == 0 || row.size_bytes % bytes != 0) return std::nullopt;
    const std::uint64_t times = row.size_bytes / bytes;
    if (!size_is_total(operation)) {
      const bool of_one_buffer =
          operation.size_meaning == SizeMeaning::buffer || operation.size_meaning == SizeMeaning::message;
      if (of_one_buffer && times != 1) return std::nullopt;
      continue;
    }
    if (times > RankRange::kMaxRanks) return std::nullopt;
    by_size.least = std::max(by_size.least, static_cast<int>(times));
    by_size.most = std::min(by_size.most, static_cast<int>(times));
  }
  if (factor.least > factor.most) return std::nullopt;
  std::optional<RankRange> ranks = RankRange{};
  if (operation.bus_factor == BusFactor::one) {
    if (factor.least > 1 || factor.most < 1) return std::nullopt;
  } else {
    const double scale = operation.bus_factor == BusFactor::twice_others ? 2 : 1;
    ranks = ranks_of(factor.least / scale, factor.most / scale);
  }
  if (!ranks) return std::nullopt;
  ranks->least = std::max(ranks->least, by_size.least);
  ranks->most = std::min(ranks->most, by_size.most);
  if (ranks->least > ranks->most) return std::nullopt;
  return ranks;
}

}  // namespace collbench::analysis
