#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/record/run.hpp"

namespace collbench::analysis {

/// A row of the example: measured in eight passes around `microseconds`, within ±4 %.
inline Row example_row(OperationId id, std::uint64_t size_bytes, double microseconds) {
  Row row;
  Measurement& measured = row.measurement;
  measured.key.operation = id;
  measured.key.size_bytes = size_bytes;
  measured.key.count = size_bytes / 4;
  if (operation(id).reduces) measured.key.reduction = Reduction::sum;
  measured.algorithm_ran = "auto";
  measured.seconds = microseconds * 1e-6;
  for (int pass = -4; pass < 4; ++pass) {
    measured.pass_seconds.push_back(measured.seconds * (1 + 0.01 * pass));
  }
  measured.interval = {measured.seconds * 0.96, measured.seconds * 1.04, 0.9922};
  measured.stopped = Stop{StopReason::precision_reached};
  measured.iterations = 8000;
  measured.iterations_per_sample = 10;
  measured.samples = 800;
  measured.minimum = measured.seconds * 0.9;
  measured.mean = measured.seconds * 1.01;
  measured.median = measured.seconds;
  measured.p95 = measured.seconds * 1.1;
  measured.p99 = measured.seconds * 1.2;
  measured.variation = 0.05;
  for (int rank = 0; rank < 4; ++rank) {
    measured.ranks.push_back({rank, measured.seconds * (1 - 0.001 * rank), measured.seconds * 1.2});
  }
  measured.wrong_elements = 0;
  return row;
}

/// Four ranks on two hosts, five rows: a small and a large AllReduce, one that ran another algorithm than was
/// asked for, one that is not available, and a SendRecv without an in-place form.
inline Run example_run() {
  Run run;
  run.versions = {"0.1.0", "Open MPI v4.1.4, package: Debian OpenMPI", "2.9.0", "", ""};
  run.started = "2026-10-01T12:00:00Z";
  run.finished = "2026-10-01T12:01:20Z";
  run.complete = true;
  run.command_line = {"collbench", "--algo", "auto,ring"};
  run.environment = {{"OMPI_MCA_btl", "self,tcp"}};
  run.backend = BackendId::mpi;
  run.time_reduction = RankAggregate::maximum;
  run.ranks = {{0, "node01", 0, 0}, {1, "node01", 0, 1}, {2, "node02", 1, 0}, {3, "node02", 1, 1}};
  run.cores_per_node = {2, 2};
  run.passes = 8;
  run.wall_seconds = 80;
  run.validation_seconds = 3.2;
  run.calibration_seconds = 0.35;
  run.calibration = Calibration{};
  run.calibration->intra =
      Tier{.alpha_seconds = 0.5e-6, .bytes_per_second = 6.2e9, .eager_limit_bytes = 4096};
  run.calibration->inter =
      Tier{.alpha_seconds = 12e-6, .bytes_per_second = 1.17e9, .eager_limit_bytes = 65536};
  run.calibration->inter_host_bytes_per_second = 1.19e9;
  run.calibration->gammas = {{DataType::float32, Reduction::sum, 0.21e-9}};
  run.calibration->kappa_seconds_per_byte = 0.09e-9;
  run.calibration->fit_relative_error = 0.12;
  run.calibration->points = {
      {CalibrationKind::send_recv_intra, 64, 0.52e-6, std::nullopt, std::nullopt},
      {CalibrationKind::reduce_local, 65536, 14e-6, DataType::float32, Reduction::sum}};

  Row small = example_row(OperationId::all_reduce, 8, 20);
  small.expectation = {30e-6, 40e-6, 25e-6, "recursive_doubling"};
  Row large = example_row(OperationId::all_reduce, 64ULL << 20U, 100000);
  large.measurement.key.in_place = true;
  large.expectation = {70000e-6, 90000e-6, 70000e-6, "ring"};
  Row fallen_back = example_row(OperationId::all_reduce, 8, 21);
  fallen_back.measurement.key.algorithm = "ring";
  fallen_back.measurement.algorithm_ran = "recursive_doubling";
  fallen_back.measurement.stopped = Stop{StopReason::out_of_time};
  fallen_back.expectation = {30e-6, 40e-6, 25e-6, "recursive_doubling"};
  Row unavailable;
  unavailable.measurement.key.operation = OperationId::all_reduce;
  unavailable.measurement.key.size_bytes = 8;
  unavailable.measurement.key.count = 2;
  unavailable.measurement.key.reduction = Reduction::sum;
  unavailable.measurement.key.algorithm = "neighbor";
  unavailable.measurement.unavailable = "this library has it for AllGather only";
  Row shift = example_row(OperationId::send_recv, 4096, 15.5);
  shift.expectation = {15e-6, std::nullopt, 15e-6, "send_recv"};
  run.rows = {small, large, fallen_back, unavailable, shift};
  return run;
}

}  // namespace collbench::analysis
