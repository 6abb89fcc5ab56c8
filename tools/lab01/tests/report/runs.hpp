#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "analysis/models/nccl/gpu_expectation.hpp"
#include "base/record/run.hpp"
#include "tools/lab01/report/lab01.hpp"
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

/// Two ranks of one host over its memory, with an empty calibration.
inline Run lab01_host_run() {
  Run run = lab01_gpu_run();
  run.backend = BackendId::mpi;
  run.log.reset();
  run.ranks = {{0, "n1", 0, 0}, {1, "n1", 0, 1}};
  run.calibration = Calibration{};
  return run;
}

inline std::optional<topology::Host> hgx_h100() {
  return topology::reference_host(*topology::find_reference_machine("hgx-h100"));
}

/// `nodes` of a reference machine with a rank on each GPU, or on `ranks_per_node` of them.
inline Lab01Machine lab01_machine(std::string_view name = "hgx-h100", int nodes = 2, int ranks_per_node = 0) {
  const topology::ReferenceMachine& machine = *topology::find_reference_machine(name);
  return {topology::reference_host(machine), gpu_cluster(machine, nodes, ranks_per_node)};
}

/// A row of AllReduce with the machine's expectation, `slower` times as slow as expected.
inline Row lab01_row(const GpuCluster& cluster, std::uint64_t bytes, double slower) {
  Row row;
  row.measurement.key.size_bytes = bytes;
  row.measurement.key.count = bytes / 4;
  row.measurement.key.reduction = Reduction::sum;
  row.measurement.algorithm_ran = "auto";
  row.expectation = expect_on_gpus(OperationId::all_reduce, bytes, cluster);
  row.measurement.seconds = row.expectation.expected_seconds.value_or(1e-3) * slower;
  return row;
}

}  // namespace collbench::analysis
