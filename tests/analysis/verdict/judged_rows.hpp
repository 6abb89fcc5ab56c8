#pragma once
#include <cstdint>

#include "analysis/models/nccl/gpu_expectation.hpp"
#include "analysis/models/nccl/nccl_choices.hpp"
#include "base/record/run.hpp"
#include "base/units.hpp"

namespace collbench::analysis {

/// AllReduce of 1 MiB to 8 GiB as the cluster should run it, and `slower` times as long.
inline Run run_from_expectation(const GpuCluster& cluster, double slower,
                                OperationId id = OperationId::all_reduce) {
  Run run;
  run.backend = BackendId::nccl;
  run.buffers.walk_bytes = 240 * kMiB;
  for (int rank = 0; rank < cluster.ranks(); ++rank) {
    run.ranks.push_back({rank, "node", rank / cluster.ranks_per_node, rank % cluster.ranks_per_node});
  }
  for (std::uint64_t size = kMiB; size <= 8 * kGiB; size *= 4) {
    Row row;
    row.measurement.key.operation = id;
    row.measurement.key.size_bytes = size;
    row.measurement.seconds =
        *expect_on_gpus(id, size, with_table_choice(cluster, id, size)).expected_seconds * slower;
    run.rows.push_back(row);
  }
  return run;
}

}  // namespace collbench::analysis
