#pragma once
#include "analysis/report/fact.hpp"
#include "base/record/run.hpp"

namespace collbench::analysis {

/// What a single launch cannot know of itself: which rows of a resumed run span several; how far launches of
/// a repetition differ; and whether the machine drifted under them, so that their interval holds for that
/// time only.
[[nodiscard]] ReportFacts launch_facts(const Run& run);

}  // namespace collbench::analysis
