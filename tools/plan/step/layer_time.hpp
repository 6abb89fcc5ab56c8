#pragma once
#include <span>
#include <string>
#include <string_view>

#include "tools/plan/job/job.hpp"
#include "topology/catalog/training_gpus.hpp"

namespace collbench::analysis {

/// Kernels of one layer with experts that the host launches one by one, forward and backward, with what is
/// recomputed. Those of dense layers are few and long: the host is ahead of them. In FP8 each expert on the
/// GPU has 30 with Transformer Engine, so that with 16 of them a small micro-batch ends before its kernels
/// are launched.
[[nodiscard]] double launches_of_expert_layer(const TrainingJob& job);

/// The constants of the model of a step that no data sheet gives. One value for every model and machine, but
/// three act on few published steps: blocking_seconds on BLOOM's alone, zero3_rate on three rows of Narayanan
/// et al. alone, the two of launches on models with experts. docs/notes/plan-accuracy.md has the errors.
struct Assumptions {
  double gemm_sustained = 0.86;       ///< BF16 products in a step, of the best that was measured alone
  double fp8_sustained = 0.85;        ///< the same of FP8 on Hopper
  double blackwell_sustained = 0.72;  ///< the same on Blackwell, of all precisions
  double attention_sustained = 0.85;  ///< FlashAttention in a step, of the best that was measured alone
  double small_product = 0.50;  ///< products of single heads where attention is not fused, of the GEMM rate
  double elementwise_rate = 0.85;  ///< kernels bound by memory, of a copy's rate
  double eager_passes = 2.0;       ///< passes over memory without a compiler or fused kernels, of those with
  double tp_exposed = 0.35;  ///< of tensor-parallel collectives that are split and overlapped with products
  double pp_exposed = 0.30;  ///< of sends between stages that are issued ahead
  double overlap_window = 0.80;  ///< of a computation that can hide collectives
  double nccl_share = 0.12;      ///< of the GPU that hidden collectives take from the computation
  double zero3_rate = 0.11;      ///< DeepSpeed's ZeRO-3 of 2021, of FSDP's rate; not for later stacks
  double jitter = 0.003;         ///< of the step, lost to the slowest rank, for each doubling beyond 8 GPUs
  double step_overhead = 0.03;   ///< seconds of a step outside of kernels: data, norms, launches
  double blocking_seconds =
      0.0030;  ///< of a layer's forward pass, where the host waits for each kernel; backward twice
  double launch_seconds = 13e-6;  ///< of the host for a kernel of a layer with experts, PyTorch's part in it
  double launch_exposed = 0.30;   ///< of the shorter of launches and kernels there: both wait for the counts
  double power_exponent = 0.33;   ///< clock by power limit: power goes with the cube of the clock

  bool operator==(const Assumptions&) const = default;
};

/// A constant by name, what it is and where it is from.
struct Assumption {
  std::string_view name;
  double Assumptions::* value;
  double minimum;
  double maximum;
  std::string_view meaning;
};

[[nodiscard]] std::span<const Assumption> assumption_list();

/// Sets what "NAME=VALUE" says. Throws Error (usage) for another name or a value out of its bounds.
void assume(Assumptions& assumptions, const std::string& text);

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
