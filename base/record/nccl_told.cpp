#include "base/record/nccl_told.hpp"

#include <algorithm>

#include "base/record/measurement.hpp"

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

std::string algorithm_ran(const std::string& asked, const NcclTold& told) {
  if (told.protocol.empty()) return asked;
  const std::size_t slash = asked.find('/');
  const std::string algorithm = asked.substr(0, slash);
  const std::string protocol = slash == std::string::npos ? "" : asked.substr(slash + 1);
  const bool as_asked = asked != kLibraryChoice &&
                        (algorithm == kLibraryChoice || algorithm == told.algorithm) &&
                        (protocol.empty() || protocol == told.protocol);
  return as_asked ? asked : told.algorithm + "/" + told.protocol;
}

}  // namespace collbench
