#include "base/record/nccl_told.hpp"

#include <algorithm>

namespace collbench {

std::optional<double> nccl_expected_seconds(const NcclTold& told) {
  const auto& all = told.expected;
  auto found = told.algorithm.empty()
                   ? std::min_element(all.begin(), all.end(),
                                      [](const auto& a, const auto& b) { return a.seconds < b.seconds; })
                   : std::find_if(all.begin(), all.end(), [&](const NcclExpectation& each) {
                       return each.algorithm == told.algorithm && each.protocol == told.protocol;
                     });
  if (found == all.end()) return std::nullopt;
  return found->seconds;
}

}  // namespace collbench
