#pragma once
#include "analysis/report/fact.hpp"
#include "base/record/run.hpp"

namespace collbench::analysis {

/// The verdict on each sweep with its explanation, then what holds each of its rows ("8 B to 2 MiB:
/// latency-bound, 0.91 to 1.04 of expected"); or why there is no verdict.
[[nodiscard]] ReportFacts verdict_facts(const Run& run);

}  // namespace collbench::analysis
