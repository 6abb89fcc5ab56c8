#pragma once
#include <string>
#include <vector>

#include "analysis/report/fact.hpp"
#include "base/record/cluster.hpp"
#include "base/record/run.hpp"

namespace collbench::analysis {

/// One line for the head of a report: the GPU, the nearest NIC and the NUMA node of the first ranks, those
/// with a note before the others. Empty when no rank's GPU is known and there is no note.
[[nodiscard]] std::string format_placement(const std::vector<PlacedRank>& placement);

/// What stands before the rows: what was measured, where, with what, and what about that is less than it
/// seems.
[[nodiscard]] ReportFacts header_facts(const Run& run);

/// What the columns mean in this run.
[[nodiscard]] ReportFacts legend_facts(const Run& run);

/// The title of an operation's table: what its size means, and how busbw follows for `ranks` ranks.
[[nodiscard]] ReportFact operation_fact(OperationId id, int ranks);

/// The operations of the run's rows, in the order of their first rows.
[[nodiscard]] std::vector<OperationId> operations_in(const Run& run);

}  // namespace collbench::analysis
