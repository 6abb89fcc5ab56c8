#pragma once
#include <optional>
#include <string>

#include "analysis/attribution/blame.hpp"

namespace collbench::analysis {

/// "+94.5 %": what a logarithm of time costs.
[[nodiscard]] std::string percent_slower(double log_time);

/// What a technician does about a finding of `who` (a node, or two of a path).
[[nodiscard]] std::string technician_step(BlameKind kind, const std::string& who, std::optional<int> rail);

/// "2.00 times the time of its like", or what was found where it is no time: "loses 1.1 % of what it sends".
[[nodiscard]] std::string measure_words(const Blame& blame);

/// "NIC, transmit, 2.00 times the time of its like (line 1.05), confirmed alone: n3 rail 1: …".
[[nodiscard]] std::string blame_words(const Blame& blame);

}  // namespace collbench::analysis
