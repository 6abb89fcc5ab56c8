#pragma once
#include <vector>

#include "analysis/report_fact.hpp"
#include "base/record/run.hpp"

namespace collbench {

/// What stands before the rows: what was measured, where, with what, and what about that is less than it
/// seems.
[[nodiscard]] ReportFacts setup_facts(const Run& run);

/// What the columns mean in this run.
[[nodiscard]] ReportFacts legend_facts(const Run& run);

/// The title of an operation's table: what its size means, and how busbw follows for `ranks` ranks.
[[nodiscard]] ReportFact operation_fact(OperationId id, int ranks);

/// The operations of the run's rows, in the order of their first rows.
[[nodiscard]] std::vector<OperationId> operations_in(const Run& run);

}  // namespace collbench
