#pragma once
#include <optional>
#include <span>

#include "analysis/import/log_table.hpp"
#include "base/record/operation.hpp"

namespace collbench::analysis {

/// The numbers of ranks with which a table's numbers agree.
struct RankRange {
  int least = 1;
  int most = kMaxRanks;  ///< of one job that anybody will import

  static constexpr int kMaxRanks = 1 << 20U;
  [[nodiscard]] bool holds(int ranks) const { return least <= ranks && ranks <= most; }
  bool operator==(const RankRange&) const = default;
};

/// What busbw / algbw (docs of nccl-tests: 2(p − 1)/p, (p − 1)/p or 1) says of the ranks p, as far as the
/// rates are printed; for operations whose size is a total also size / (count × type), which is p exactly.
/// None when the rows contradict each other: then they are not of this operation.
[[nodiscard]] std::optional<RankRange> ranks_by_rates(const Operation& operation,
                                                      std::span<const LogRow> rows);

}  // namespace collbench::analysis
