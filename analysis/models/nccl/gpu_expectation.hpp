#pragma once
#include <cstdint>
#include <vector>

#include "analysis/models/nccl/algorithms.hpp"
#include "base/record/measurement.hpp"
#include "base/record/operation.hpp"

namespace collbench::analysis {

/// The algorithms that NCCL may run for the operation here, the ring first. Empty for one rank and for
/// HyperCube. With the algorithm that ran known: that one alone, if it is there.
[[nodiscard]] std::vector<AlgorithmRate> gpu_algorithms(OperationId id, const GpuCluster& cluster);

/// Bus bandwidth of the best algorithm on large buffers, GB/s; 0 where nothing is expected.
[[nodiscard]] double plateau_busbw(OperationId id, const GpuCluster& cluster);

/// What an operation should take by the cluster's links: ring, tree, the best algorithm, and the band
/// [ring, best], widened as far as healthy runs lie from them (bands.hpp). Empty where there is no algorithm.
[[nodiscard]] Expectation expect_on_gpus(OperationId id, std::uint64_t size_bytes, const GpuCluster& cluster);

}  // namespace collbench::analysis
