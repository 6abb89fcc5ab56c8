#pragma once
#include <optional>

#include "base/record/run.hpp"
#include "topology/machines/reference_machines.hpp"

namespace collbench::analysis {

/// AllReduce on two nodes of eight GPUs, as an imported log: 1 MiB and 1 GiB, out of place.
inline Run lab01_gpu_run() {
  Run run;
  run.backend = BackendId::nccl;
  run.time_reduction = RankAggregate::average;
  run.log = LogFacts{};
  run.log->file = "a.log";
  run.log->nodes = {2, 3};
  for (int rank = 0; rank < 16; ++rank)
    run.ranks.push_back({rank, rank < 8 ? "n1" : "n2", rank / 8, rank % 8});
  for (const auto& [bytes, seconds] : {std::pair(1ULL << 20U, 100e-6), std::pair(1ULL << 30U, 4.5e-3)}) {
    Row row;
    row.measurement.key.size_bytes = bytes;
    row.measurement.key.count = bytes / 4;
    row.measurement.key.reduction = Reduction::sum;
    row.measurement.algorithm_ran = "auto";
    row.measurement.seconds = seconds;
    row.measurement.wrong_elements = 0;
    run.rows.push_back(row);
  }
  return run;
}

inline std::optional<topology::Host> hgx_h100() {
  return topology::reference_host(*topology::find_reference_machine("hgx-h100"));
}

}  // namespace collbench::analysis
