#pragma once
#include "analysis/report/fact.hpp"
#include "base/record/run.hpp"

namespace collbench::analysis {

/// Where the library's own choice ("auto") was not the best of those that were measured beside it (--algo,
/// --proto): which one was faster and by how much, per range of sizes ("8 B to 4 KiB: ring/ll takes 11 to 14
/// % less time"). Only differences whose 95 % intervals do not overlap count. Empty where nothing was
/// measured beside auto.
[[nodiscard]] ReportFacts choice_facts(const Run& run);

/// Where `auto` ran an algorithm of which the model expects much more time than of a ring, how much, and at
/// how many sizes: AllReduce, AllGather and ReduceScatter. Only of what took longer than the ring is expected
/// to, and where nothing was measured beside it, which choice_facts tells of. Empty on GPUs, where `judge`
/// says it, and in SimGrid, where smpirun chooses.
[[nodiscard]] ReportFacts poor_choice_facts(const Run& run);

}  // namespace collbench::analysis
