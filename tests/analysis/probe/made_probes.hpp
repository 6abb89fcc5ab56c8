#pragma once
#include <string>
#include <vector>

#include "base/record/probe.hpp"

namespace collbench::analysis {

/// A host of two NUMA nodes with two cores each: arithmetic of 100 GFLOP/s and a triad of 10 GB/s a core.
inline ProbeRecord made_host(const std::string& name) {
  ProbeRecord record{
      .host = name, .processor = "Processor 7", .cores = 4, .taken_share = 0.001, .window_seconds = 0.4};
  const auto add = [&](ProbeMeasurement about, double rate) {
    for (int core = 0; core < 4; ++core) {
      about.parts.push_back({.name = "core " + std::to_string(core),
                             .model = "Processor 7",
                             .numa = core / 2,
                             .windows = {rate, rate, rate},
                             .cpu_share = 0.999});
    }
    record.measurements.push_back(about);
  };
  add({.id = "fma-fp64", .name = "multiply-add FP64", .by = "own loop, AVX-512", .work = "registers"}, 100e9);
  add({.id = "gemm-fp64", .name = "GEMM FP64", .size = 16, .by = "OpenBLAS 0.3.21"}, 40e9);
  add({.id = "gemm-fp64", .name = "GEMM FP64", .size = 1024, .by = "OpenBLAS 0.3.21"}, 80e9);
  add({.id = "triad", .name = "triad", .unit = ProbeUnit::byte, .by = "own loop"}, 10e9);
  return record;
}

/// A host "g1" with GPUs of one model that make these rates of a copy within their memory.
inline ProbeRecord made_gpus(const std::string& model, const std::vector<double>& rates) {
  ProbeRecord record{.host = "g1", .processor = "Processor 7", .gpu_window_seconds = 2};
  ProbeMeasurement copy{.id = "gpu-hbm-copy", .name = "HBM copy", .unit = ProbeUnit::byte};
  for (std::size_t gpu = 0; gpu < rates.size(); ++gpu) {
    record.gpus.push_back({.name = "GPU " + std::to_string(gpu),
                           .model = model,
                           .power_limit_watts = 700,
                           .driver = "550.54.15"});
    copy.parts.push_back(
        {.name = "GPU " + std::to_string(gpu), .model = model, .windows = {rates[gpu], rates[gpu]}});
  }
  record.measurements.push_back(copy);
  return record;
}

}  // namespace collbench::analysis
