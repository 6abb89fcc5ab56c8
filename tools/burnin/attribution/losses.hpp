#pragma once
#include "tools/burnin/attribution/blame.hpp"

// Who sends into a link that loses, or receives from one: TCP sends again what was lost, and so hides it in
// the times.

namespace collbench::analysis {

/// From what share of its bytes sent again on a link speaks of a fault, where others' do not. A healthy data
/// center network drops 10⁻⁵ to 10⁻⁴ of its packets, and above 10⁻³ an alert is raised (Guo et al., Pingmesh,
/// SIGCOMM 2015, sections 4.2 and 4.3); what is sent again in vain comes on top.
inline constexpr double kLossLine = 1e-3;

/// Adds a finding for each node most of whose pairs on a rail, at least three, send again more than the line,
/// as sender, receiver or both: a NIC, its cable or port; and makes it suspect. The line is the larger of
/// kLossLine and the median of the rail's nodes + 6 robust standard deviations. Confirmed where times alone
/// with two partners say so too. Nothing of a node and rail that is named already.
void judge_losses(const PairTable& table, Attribution& found);

}  // namespace collbench::analysis
