#include "collectives/compute/step_kernel.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <utility>

#include "collectives/compute/fma_loop.hpp"

namespace collbench::collectives {
namespace {

/// As much arithmetic as an n × n × n product has, rounded up to whole rounds of the loop.
CoreWork register_work(const FmaLoop& loop, int n) {
  constexpr std::int64_t kTrial = 100;
  const double flop_of_round = loop.fp64(kTrial).flop / kTrial;
  const auto rounds = static_cast<std::int64_t>(std::ceil(2.0 * n * n * n / flop_of_round));
  return [run = loop.fp64, rounds] { return run(rounds).flop; };
}

}  // namespace

StepKernel::StepKernel(int n, std::unique_ptr<BlasLibrary> blas) : blas_(std::move(blas)) {
  if (blas_) {
    name_ = fmt::format("GEMM FP64, n = {}, by {}", n, blas_->name);
    work_ = product_work<double>(*blas_, n);
    return;
  }
  const FmaLoop loop = fma_loops().front();
  name_ = fmt::format("the flop of a GEMM FP64, n = {}, on registers ({})", n, loop.name);
  work_ = register_work(loop, n);
}

}  // namespace collbench::collectives
