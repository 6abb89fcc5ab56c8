#pragma once
#include "analysis/report/fact.hpp"
#include "base/record/log_facts.hpp"

namespace collbench::analysis {

/// What an imported log says of its job, each with its line; then what it does not say, where that matters
/// for the expectation; then what was left out of the rows, and where the log contradicts itself.
[[nodiscard]] ReportFacts import_facts(const LogFacts& log);

}  // namespace collbench::analysis
