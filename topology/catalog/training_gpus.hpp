#pragma once
#include <span>
#include <string_view>

#include "topology/catalog/gpus.hpp"

namespace collbench::topology {

/// What a GPU reaches alone, as others measured it. Rates are per second, of dense products.
struct TrainingGpu {
  std::string_view name;  ///< as topology/catalog calls it: "H100 SXM"
  GpuGeneration generation;
  double peak_bf16;  ///< FLOP/s, data sheet
  double peak_fp8;   ///< 0: none
  double peak_fp4;   ///< 0: none
  double gemm_bf16;  ///< FLOP/s of the best shape that was measured
  double gemm_fp8;
  double attention_forward;  ///< FLOP/s of FlashAttention or cuDNN, heads of 128, causal, BF16
  double attention_backward;
  double flash2_forward;  ///< the same of FlashAttention-2, which knows Ampere's instructions only
  double hbm_rate;        ///< bytes/s of a copy, read and written bytes together
  double hbm_bytes;       ///< capacity
  double watts;           ///< of the board, data sheet
  double server_watts;    ///< what a server takes beside each board; 0: not known
  double gemm_overhead;   ///< seconds that a product takes beside its FLOPs
  int multiprocessors;
  std::string_view source;
};

[[nodiscard]] std::span<const TrainingGpu> training_gpus();

/// By the catalog's name, in capitals or not, or what is before its blank ("H100"). Throws Error (usage) for
/// one without figures, and lists those with; `where` names the option.
[[nodiscard]] const TrainingGpu& find_training_gpu(std::string_view name, std::string_view where);

}  // namespace collbench::topology
