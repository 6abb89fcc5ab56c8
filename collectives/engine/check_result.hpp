#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/record/measured_block.hpp"
#include "collectives/data/data_pattern.hpp"
#include "launch/ranks.hpp"

namespace collbench::collectives {

/// What one rank found in the checks of a visit, as it travels.
class CheckResult {
 public:
  /// What one more check found.
  void add(const std::optional<Mismatch>& found);

  /// A block that holds what all ranks found, on all ranks, and nothing else yet. `hosts` is the host of
  /// every rank. Collective.
  [[nodiscard]] MeasuredBlock gathered(launch::Ranks& ranks, const std::vector<std::string>& hosts) const;

 private:
  /// A number as text: at most the 20 digits of a uint64, or 9 of a float with its sign, point and exponent.
  using Number = std::array<char, 32>;

  std::uint64_t wrong_elements_ = 0;
  std::uint64_t first_index_ = 0;  // of the first check that found any, as are the next two
  Number expected_{};
  Number got_{};
};

}  // namespace collbench::collectives
