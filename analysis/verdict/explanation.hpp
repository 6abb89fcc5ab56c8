#pragma once
#include <string>

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "analysis/verdict/verdict.hpp"
#include "base/record/run.hpp"

namespace collbench::analysis {

/// Why a row may lie below its band: what the log tells of NVLinks, channels and network, else what is left.
/// `row` has an expectation.
[[nodiscard]] std::string loss_cause(const Row& row, const GpuCluster& cluster);

/// Why a sweep is as it is, in one or two sentences of facts: what it reached of which link, what the log
/// tells of transport and channels, and what the topology cannot tell. Empty without a band.
[[nodiscard]] std::string explain_series(const SizeSeries& series, VerdictWord verdict,
                                         const GpuCluster& cluster);

/// The most bus bandwidth of a sweep, GB/s; what it should come to where it ends below 64 MiB.
[[nodiscard]] double peak_busbw(const SizeSeries& series, const GpuCluster& cluster);

/// One sentence about a row of a sweep that reaches `peak_busbw`: latency-bound (below half of it) or
/// bandwidth-bound, by which link, and its ratio; or why there is none.
[[nodiscard]] std::string explain_row(const Row& row, double peak_busbw, const GpuCluster& cluster);

/// NCCL's algorithm whose time is nearest to the measured one; empty where there is only one.
[[nodiscard]] std::string explaining_algorithm(const Row& row, const GpuCluster& cluster);

}  // namespace collbench::analysis
