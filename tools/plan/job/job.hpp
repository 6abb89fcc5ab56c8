#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/plan/job/model_shape.hpp"

namespace collbench::analysis {

/// A kind of parallelism by which ranks are numbered.
enum class Dimension { tp, cp, ep, dp, pp };

/// How ranks are numbered: ranks that differ in the first one only follow each other.
using RankOrder = std::array<Dimension, 5>;

/// Megatron-Core's (parallel_state.py, `order`).
inline constexpr RankOrder kUsualOrder{Dimension::tp, Dimension::cp, Dimension::ep, Dimension::dp,
                                       Dimension::pp};

[[nodiscard]] std::string_view name(Dimension dimension);

/// "tp-cp-ep-dp-pp".
[[nodiscard]] std::string words(const RankOrder& order);

/// All five, each once, with '-' between; cp and ep may be left out, which says that they are where the usual
/// order has them: after the one before them there. Throws Error (usage), naming `option`.
[[nodiscard]] RankOrder parse_rank_order(std::string_view text, const std::string& option);

enum class Precision { fp16, bf16, fp8, fp8_rowwise, fp4 };

enum class Recompute {
  none,
  selective,  ///< scores and softmax
  /// Norms, MLPs' activations, and latent attention's projections up (DeepSeek-V3, sections 3.2.3 and 3.3.3;
  /// Megatron-Core's --recompute-modules layernorm moe_act mla_up_proj).
  modules,
  full,
};

/// How parameters, gradients and optimizer state are spread over data-parallel ranks.
enum class Sharding {
  none,       ///< every rank has all: AllReduce of gradients
  optimizer,  ///< ZeRO-1 and Megatron's distributed optimizer: ReduceScatter, then AllGather of parameters
  gradients,  ///< ZeRO-2, the same on the wire
  zero3,      ///< ZeRO-3: as FSDP FULL_SHARD, but for a stack with DeepSpeed's of 2021
  fsdp_grad,  ///< FSDP SHARD_GRAD_OP: parameters gathered once per micro-batch
  fsdp_full,  ///< FSDP FULL_SHARD: gathered for the forward and the backward pass
};

/// In which order a pipeline's stages run their passes.
enum class Schedule {
  one_forward_one_backward,  ///< 1F1B; with chunks of a stage interleaved (Narayanan et al. 2021,
                             ///< section 2.2)
  /// The backward pass in two, of which the one for weights fills waiting; as much memory as 1F1B, on every
  /// stage (Qi et al. 2023, Zero Bubble Pipeline Parallelism).
  zb_h1,
  /// Micro-batches from both ends of the pipeline, each GPU with two stages' parameters; collectives under
  /// the other direction's computation (DeepSeek-V3, section 3.2.1 and table 2).
  dualpipe,
};

/// How scores, softmax and their products with values are computed.
enum class AttentionKernel {
  unfused,  ///< products of heads, every score written and read
  flash2,   ///< FlashAttention-2
  newest,   ///< the GPU's own: FlashAttention-3, cuDNN 9
};

enum class ExpertRun {
  launched,  ///< every kernel by the host, tokens by NCCL's AllToAll: a copy for each expert
  grouped,   ///< the same, but the products of all experts on a GPU are one kernel (torch._grouped_mm)
  compiled,  ///< a compiled program (XLA): no launches by PyTorch are counted; tokens as above
  /// CUDA graphs around the experts (Megatron-Core's --cuda-graph-scope attn moe_router moe_preprocess);
  /// tokens by DeepEP or HybridEP: a copy for each node.
  graphs_around,
  /// The whole step as a CUDA graph (cuda_graph_impl full_iteration), a micro-batch's tokens on their way
  /// while another computes (overlap_moe_expert_parallel_comm).
  whole_graph,
};

/// What a software stack does with collectives and kernels.
struct SoftwareStack {
  std::string_view name;
  AttentionKernel attention;
  bool sequence_parallel;  ///< where tensors are split, unless the job says otherwise
  bool overlaps_tp;
  bool overlaps_pp;
  bool overlaps_dp;
  bool fused_kernels;  ///< a compiler or fused norms, activations, rotary positions
  bool blocking;       ///< the host waits for each kernel (CUDA_LAUNCH_BLOCKING=1)
  int gradient_bytes;  ///< of each parameter, as sent, in FP16; gradients_bytes() for any precision
  bool zero3_of_2021;  ///< its ZeRO-3 is DeepSpeed's of then: a collective for each tensor
  /// The product that makes a gradient adds it to the FP32 sum itself (Megatron-LM's
  /// gradient_accumulation_fusion, Transformer Engine's fuse_wgrad_accumulation).
  bool fuses_accumulation;
  // What it has at all; a search chooses nothing else (a job that says so is planned anyway).
  bool splits_tensors;
  bool splits_context;
  bool interleaves;
  ExpertRun experts;
  /// As before today's: dropout, whose masks are kept, and each stage's results until they have gone back
  /// (Megatron-LM frees them since v3.0).
  bool keeps_of_2021;
  std::string_view meaning;
};

/// Throws Error (usage) for another name.
[[nodiscard]] const SoftwareStack& find_stack(const std::string& name);

/// One training step: what is trained, and how it is split. Counts are at least 1 once completed.
struct TrainingJob {
  ModelShape model{};
  int sequence = 0;      ///< tokens of a sample
  int global_batch = 0;  ///< samples of a step
  int micro_batch = 1;
  int tp = 1;
  int pp = 1;
  int vpp = 1;
  int cp = 1;
  int ep = 1;
  int dp = 1;
  Sharding sharding = Sharding::optimizer;
  int shard_group = 0;  ///< ranks that share one copy of the parameters; 0: all of dp
  Precision precision = Precision::bf16;
  Recompute recompute = Recompute::none;
  const SoftwareStack* stack = nullptr;
  std::optional<bool> sequence_parallel{};     ///< none: as the stack does
  std::optional<AttentionKernel> attention{};  ///< none: the stack's
  std::optional<bool> tp_overlap{};  ///< tensor-parallel collectives beside products; none: as the stack
  std::optional<bool> ep_overlap{};  ///< AllToAll under another micro-batch; none: as the stack
  Schedule schedule = Schedule::one_forward_one_backward;
  RankOrder order = kUsualOrder;

  [[nodiscard]] int gpus() const { return tp * pp * cp * dp; }
  [[nodiscard]] int micro_batches() const { return global_batch / (micro_batch * dp); }
  [[nodiscard]] bool is_zero_bubble() const { return schedule != Schedule::one_forward_one_backward; }
  [[nodiscard]] AttentionKernel attention_kernel() const { return attention.value_or(stack->attention); }
  [[nodiscard]] bool overlaps_tp() const { return tp_overlap.value_or(stack->overlaps_tp); }
  [[nodiscard]] bool overlaps_ep() const {
    return ep_overlap.value_or(stack->experts == ExpertRun::whole_graph || schedule == Schedule::dualpipe);
  }
  [[nodiscard]] bool is_fsdp() const { return sharding >= Sharding::zero3; }
  [[nodiscard]] bool has_sequence_parallel() const {
    return tp > 1 && sequence_parallel.value_or(stack->sequence_parallel);
  }
};

/// Of a parameter's gradient, as summed over micro-batches and sent: FP32 but for the stacks of 2021 in FP16
/// (Megatron-LM arguments.py: BF16 sets accumulate_allreduce_grads_in_fp32; DeepSpeed bf16_optimizer.py).
[[nodiscard]] int gradients_bytes(const TrainingJob& job);
[[nodiscard]] std::string_view name(Precision precision);
[[nodiscard]] std::string_view name(Recompute recompute);
[[nodiscard]] std::string_view name(Sharding sharding);
/// "1f1b", or "interleaved" where stages have chunks; "zb-h1", "dualpipe".
[[nodiscard]] std::string_view schedule_name(const TrainingJob& job);

/// Products of counts are in 64 bits here; those of a job that this lets pass fit into an int.
/// Why the job cannot run as it is split, with the numbers; none where it can. Layers that do not divide by
/// stages are allowed: frameworks give stages different numbers.
struct Illegal {
  std::string option;
  std::string what;
  std::string next_step;
};
[[nodiscard]] std::optional<Illegal> why_illegal(const TrainingJob& job);

/// Layers of each stage, first to last. Where layers do not divide, embedding and loss count as a layer each,
/// as in Llama 3 405B (126 + 2 over 16 stages) and DeepSeek-V3.
[[nodiscard]] std::vector<int> layers_of_stages(const TrainingJob& job);

}  // namespace collbench::analysis
