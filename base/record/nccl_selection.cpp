#include "base/record/nccl_selection.hpp"

#include <algorithm>

#include "base/record/measurement.hpp"

namespace collbench {

std::optional<double> nccl_expected_seconds(const NcclSelection& selection) {
  const auto& all = selection.expected;
  auto found = selection.algorithm.empty()
                   ? std::ranges::min_element(all, {}, &NcclExpectation::seconds)
                   : std::ranges::find_if(all, [&](const NcclExpectation& each) {
                       return each.algorithm == selection.algorithm && each.protocol == selection.protocol;
                     });
  if (found == all.end()) return std::nullopt;
  return found->seconds;
}

std::string algorithm_ran(const std::string& asked, const NcclSelection& selection) {
  if (selection.protocol.empty()) return asked;
  const std::size_t slash = asked.find('/');
  const std::string algorithm = asked.substr(0, slash);
  const std::string protocol = slash == std::string::npos ? "" : asked.substr(slash + 1);
  const bool as_asked = asked != kLibraryChoice &&
                        (algorithm == kLibraryChoice || algorithm == selection.algorithm) &&
                        (protocol.empty() || protocol == selection.protocol);
  return as_asked ? asked : selection.algorithm + "/" + selection.protocol;
}

}  // namespace collbench
