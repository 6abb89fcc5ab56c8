#pragma once
#include <memory>
#include <string>

#include "collectives/compute/blas_library.hpp"
#include "collectives/compute/core_work.hpp"

namespace collbench::collectives {

/// The compute of a training step on host memory: C = A · B of n × n matrices in FP64 by a BLAS on one
/// thread, or as much arithmetic on registers without one. The same arithmetic in every call and on every
/// rank.
class StepKernel {
 public:
  /// A BLAS where `blas` has one: all ranks of a run take one, or none does.
  StepKernel(int n, std::unique_ptr<BlasLibrary> blas);

  void run() const { static_cast<void>(work_()); }

  /// "GEMM FP64, n = 512, by OpenBLAS 0.3.21 (Haswell)".
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::unique_ptr<BlasLibrary> blas_;  // the work refers to it
  std::string name_;
  CoreWork work_;
};

}  // namespace collbench::collectives
