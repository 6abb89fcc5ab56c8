#pragma once
#include "analysis/report/fact.hpp"
#include "base/record/run.hpp"

namespace collbench::analysis {

/// What the operation was asked for and is not available: one fact per algorithm and reason.
[[nodiscard]] ReportFacts unavailable_facts(const Run& run, OperationId id);

/// What stands behind the rows: wrong data with the ranks that found it, what was not reached, what ran in
/// place of what was asked for, what the run took, and what verdict it allows.
[[nodiscard]] ReportFacts footer_facts(const Run& run);

}  // namespace collbench::analysis
