#pragma once
#include <cstdint>
#include <optional>

#include "analysis/report/fact.hpp"
#include "analysis/verdict/verdict.hpp"
#include "base/record/run.hpp"

namespace collbench::analysis {

/// Two neighbouring sizes between which one algorithm overtakes the other.
struct CrossingSizes {
  std::uint64_t below = 0;
  std::uint64_t above = 0;

  bool operator==(const CrossingSizes&) const = default;
};

/// Between which sizes `later` becomes the quicker one and stays it; none when it never does, or always is.
/// `predicted`: by what was expected, else as measured. Sizes that only one of them has do not count.
[[nodiscard]] std::optional<CrossingSizes> crossing_of(const SizeSeries& earlier, const SizeSeries& later,
                                                       bool predicted);

/// A line for each sweep of at least four sizes (α, B with their intervals, n½, R²), and for each pair of
/// algorithms of one operation where they cross: by the fits, predicted, and seen.
[[nodiscard]] ReportFacts fit_facts(const Run& run);

}  // namespace collbench::analysis
