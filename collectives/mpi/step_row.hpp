#pragma once
#include <memory>

#include "collectives/compute/step_kernel.hpp"
#include "collectives/mpi/mpi_row.hpp"

namespace collbench::collectives {

/// A training step on host memory: a compute kernel and an AllReduce in turn. Its data and checks are those
/// of the AllReduce.
class StepRow : public PreparedRow {
 public:
  /// `kernel` and `clock` outlive it.
  StepRow(std::unique_ptr<MpiRow> all_reduce, const StepKernel& kernel, const Clock& clock)
      : all_reduce_(std::move(all_reduce)), kernel_(kernel), clock_(clock) {}

  void fill(std::uint64_t iteration) override { all_reduce_->fill(iteration); }
  void fill_to_repeat() override { all_reduce_->fill_to_repeat(); }
  void run(std::uint64_t iterations) override;
  /// With the times of the parts, and those of the AllReduce alone, in a row without compute, behind the
  /// block.
  [[nodiscard]] Block time(std::uint64_t iterations, std::uint64_t iterations_per_sample,
                           const GoesOn& goes_on) override;
  [[nodiscard]] std::optional<Mismatch> check(std::uint64_t iteration) override {
    return all_reduce_->check(iteration);
  }

 private:
  [[nodiscard]] double seconds_alone(std::uint64_t steps);

  std::unique_ptr<MpiRow> all_reduce_;
  const StepKernel& kernel_;
  const Clock& clock_;
};

}  // namespace collbench::collectives
