#pragma once
#include "analysis/report/fact.hpp"
#include "base/record/run.hpp"

namespace collbench::analysis {

/// How the GPUs fared: each trouble that met rows, with the GPUs and the next step; the range of clocks,
/// temperatures and powers; and what is not known. Empty for a run without telemetry.
[[nodiscard]] ReportFacts telemetry_facts(const Run& run);

}  // namespace collbench::analysis
