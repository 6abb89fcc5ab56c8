#pragma once
#include <vector>

#include "base/record/identities.hpp"
#include "base/record/straggler_probe.hpp"

namespace collbench::analysis {

/// Who is late and which link is slow, beyond chance over all repetitions (docs/statistics.md). A finding
/// needs an effect that matters and a count of repetitions that chance gives in fewer than one of a thousand
/// runs. With two ranks on one host, messages cannot tell one from the other: only entries can.
[[nodiscard]] RankProbe straggler_findings(const std::vector<ProbeRepetition>& repetitions,
                                           const Identities& ranks);

}  // namespace collbench::analysis
