#include "base/record/nccl_selection.hpp"

#include <algorithm>

#include "base/record/measurement.hpp"
#include "base/text_input.hpp"

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

AskedAlgorithm asked_algorithm(std::string_view name) {
  AskedAlgorithm asked;
  const std::size_t last = name.rfind('/');
  if (const auto ctas =
          parse_integer(last == std::string_view::npos ? "" : name.substr(last + 1), 1, kMaxCtas)) {
    asked.ctas = static_cast<int>(*ctas);
    name = name.substr(0, last);
  }
  const std::size_t slash = name.find('/');
  asked.algorithm = name.substr(0, slash);
  if (slash != std::string_view::npos) asked.protocol = name.substr(slash + 1);
  return asked;
}

std::string algorithm_ran(const std::string& asked, const NcclSelection& selection) {
  if (selection.protocol.empty()) return asked;
  const AskedAlgorithm parts = asked_algorithm(asked);
  const bool as_asked = asked != kLibraryChoice &&
                        (parts.algorithm == kLibraryChoice || parts.algorithm == selection.algorithm) &&
                        (parts.protocol.empty() || parts.protocol == selection.protocol) &&
                        (parts.ctas == 0 || parts.ctas == selection.channels);
  if (as_asked) return asked;
  const std::string ran = selection.algorithm + "/" + selection.protocol;
  return parts.ctas == 0 ? ran : ran + "/" + std::to_string(selection.channels);
}

}  // namespace collbench
