#pragma once
#include <string>

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "base/record/run.hpp"
#include "src/cli/options.hpp"
#include "topology/machines/resolve.hpp"

namespace collbench::program {

/// Lab 01 of a run as Markdown. The machine is that of `request.topology`, else that of an imported log's own
/// --topology: a reference machine's name, or a file; else the one that the record holds. Where it is given,
/// the rows are judged by it, so that expectations and ceilings are of one machine. Throws Error (usage) for
/// one that is neither, or does not fit the run.
[[nodiscard]] std::string lab01(const Run& run, const Lab01Request& request);

/// That page as HTML, with charts.
[[nodiscard]] std::string lab01_html(const Run& run, const Lab01Request& request);

/// The same page for ranks on `machine` on which nothing has been measured: expectations only.
[[nodiscard]] std::string lab01_expected(const topology::ResolvedMachine& machine,
                                         const analysis::GpuCluster& cluster, const Lab01Request& request);

}  // namespace collbench::program
