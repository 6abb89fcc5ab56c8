#pragma once
#include "tools/plan/job/job.hpp"
#include "tools/plan/step/assumptions.hpp"
#include "topology/catalog/training_gpus.hpp"

namespace collbench::analysis {

/// Seconds of one GPU's kernels for one micro-batch, by what bounds them.
struct KernelTime {
  double products = 0;     ///< matrix products of weights, by the GEMM rate
  double attention = 0;    ///< scores, softmax and their products with values
  double elementwise = 0;  ///< norms, activations, residuals, gradients added: by memory

  [[nodiscard]] double sum() const { return products + attention + elementwise; }
  KernelTime& operator+=(const KernelTime& other) {
    products += other.products;
    attention += other.attention;
    elementwise += other.elementwise;
    return *this;
  }
  [[nodiscard]] KernelTime times(double factor) const {
    return {products * factor, attention * factor, elementwise * factor};
  }
};

struct PassTime {
  KernelTime forward;
  KernelTime backward;   ///< with what is recomputed
  KernelTime weights{};  ///< of the backward pass: gradients of weights, which no earlier layer waits for
  double launching = 0;  ///< of the host, beside the GPU: launches of a layer with experts

  [[nodiscard]] double sum() const { return forward.sum() + backward.sum(); }
};

/// A GPU in a step: its rates, the constants, and its power limit as a part of its clock (1: none).
struct ComputeRates {
  const topology::TrainingGpu* gpu = nullptr;
  Assumptions assumed{};
  double clock = 1;
};

/// FLOP/s that products of weights hold in a step.
[[nodiscard]] double product_rate(const ComputeRates& rates, Precision precision);

/// One layer; `with_experts` for a layer whose MLP is a mixture.
[[nodiscard]] PassTime layer_time(const TrainingJob& job, const ComputeRates& rates, bool with_experts);

/// The output embedding and the loss, which the last stage has besides its layers.
[[nodiscard]] PassTime head_time(const TrainingJob& job, const ComputeRates& rates);

/// Seconds of Adam over `parameters` of one GPU: 16 bytes read, 14 written of each (Megatron-LM
/// theoretical_memory_usage.py: 4 + 4 + 4 of state, 4 of gradient; 2 of parameter written).
[[nodiscard]] double optimizer_seconds(double parameters, const ComputeRates& rates);

}  // namespace collbench::analysis
