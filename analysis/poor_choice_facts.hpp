#pragma once
#include "analysis/report_fact.hpp"
#include "base/record/run.hpp"

namespace collbench {

/// Where `auto` ran an algorithm of which the model expects much more time than of a ring, how much, and at
/// how many sizes: AllReduce, AllGather and ReduceScatter. Only of what took longer than the ring is expected
/// to, and where nothing was measured beside it, which choice_facts tells of. Empty on GPUs, where `judge`
/// says it, and in SimGrid, where smpirun chooses.
[[nodiscard]] ReportFacts poor_choice_facts(const Run& run);

}  // namespace collbench
