#pragma once
#include <vector>

#include "base/pairing.hpp"
#include "base/record/identities.hpp"
#include "base/record/straggler_probe.hpp"

namespace collbench::analysis {

/// So often everybody is probed before a run may say that nobody is late: two halves of a coin in a row so
/// often are one in 16,000.
inline constexpr int kProbesToClear = 14;

/// As many probes until every link between `hosts` was tried kProbesToClear times: of more than nine hosts, a
/// probe tries the links of some. 0 where there is no link.
[[nodiscard]] inline int probes_to_clear_links(int hosts) {
  const int rounds = pairing_rounds(hosts);
  if (rounds <= kPairingRoundsPerProbe) return rounds == 0 ? 0 : kProbesToClear;
  return (kProbesToClear * rounds + kPairingRoundsPerProbe - 1) / kPairingRoundsPerProbe;
}

/// Who is late and which link is slow, beyond chance over all repetitions (docs/statistics.md). A finding
/// needs an effect that matters and a count of repetitions that chance gives in fewer than one of a thousand
/// runs. With two ranks on one host, messages cannot tell one from the other: only entries can.
[[nodiscard]] RankProbe straggler_findings(const std::vector<ProbeRepetition>& repetitions,
                                           const Identities& ranks);

}  // namespace collbench::analysis
