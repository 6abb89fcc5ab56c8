#pragma once
#include <utility>
#include <vector>

#include "tools/burnin/attribution/burnin_record.hpp"

// What pairs that gave no time say of their nodes.

namespace collbench::analysis {

/// A node most of whose pairs on a rail fail, where the rail works for others, is bad; of a failure that
/// neither end explains so, both are suspect. A node that answers on no rail, or at the end nobody any more,
/// is not tested.
void judge_failures(const BurninRecord& record, Attribution& found);

/// Beside others that did, some node gave no time at all, or died: it answered at first and nobody at the
/// end.
[[nodiscard]] bool lost_a_host(const BurninRecord& record);

/// Failures between nodes that answer others on that rail, at most as many as there are nodes.
[[nodiscard]] std::vector<PairFailure> failures_to_retry(const BurninRecord& record);

/// Whether the nodes that failed last, alone, are still there: each with two nodes that answered it, on every
/// rail with the first and on the rail that failed with the second; and these two with each other, so that it
/// is known which end is silent. At most two nodes of each failure, and kMaxSilent in all: more than these
/// are lost is no host's fault.
[[nodiscard]] std::vector<PairOnRail> last_contacts(const BurninRecord& record);
inline constexpr std::size_t kMaxSilent = 8;

}  // namespace collbench::analysis
