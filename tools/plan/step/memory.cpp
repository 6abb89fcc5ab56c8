#include "tools/plan/step/memory.hpp"

#include <algorithm>

namespace collbench::analysis {
namespace {

constexpr double kParameterBytes = 2;
constexpr double kOptimizerBytes = 12;  ///< FP32 copy and Adam's two moments
/// FP32 copies of gradients that are summed in FP16: Megatron-LM docs/source/api-guide/dist_optimizer.md, 20
/// bytes a parameter, 4 + 16/d where they are sharded.
constexpr double kCopiedGradientBytes = 4;
constexpr double kFrameworkBytes =
    3e9;  ///< context and NCCL's buffers of an H100: 2 to 4 GB in use before a model is
/// Held by the allocator beyond need, of what is needed, in the stacks of 2021: over 25 steps of BLOOM's
/// sweep nvidia-smi showed an eighth more than the rest of this estimate: the median, which those steps are
/// then no test of.
constexpr double kHeldBeyondNeed = 0.12;
constexpr double kLogitBytes = 4;  ///< Megatron-LM theoretical_memory_usage.py

double shards(const TrainingJob& job, double ranks) {
  if (job.is_fsdp() && job.shard_group > 0) return job.shard_group;
  return ranks;
}

/// Queries, keys, values and the result of attention, 2 bytes each, of one token and layer, and what their
/// norms read; recomputed, what the latent ones are projected from. `narrow`: the product behind attention
/// keeps its input in FP8, the attention its result as it is (DeepSeek-V3, section 3.3.3).
double attention_bytes_per_token(const ModelShape& model, Recompute recompute, bool narrow) {
  const LatentAttention& latent = model.latent;
  if (latent.kv_rank > 0) {
    // Every head has keys and values of its own once they are projected up: DeepSeek-V2, equations 9 to 19.
    const double queries = latent.no_position_width + latent.position_width;
    if (recompute == Recompute::modules)
      return 2.0 * (latent.query_rank + latent.kv_rank + latent.position_width) +
             2.0 * model.heads * latent.value_width;
    const double latents = 2.0 * (latent.query_rank + latent.kv_rank + latent.position_width);
    return 2.0 * model.heads * (2 * queries + 2.0 * latent.value_width) + latents + 2 * normed_width(model) +
           (narrow ? model.heads * latent.value_width : 0);
  }
  return 4.0 * model.width_of_head() * (static_cast<double>(model.heads) + model.kv_heads) +
         2 * normed_width(model) + (narrow ? model.heads * model.width_of_head() : 0);
}

/// Micro-batches whose activations a stage keeps: as many as stages follow, itself included (1F1B). With
/// interleaving, (p v + p − 1 − 2 i) / v: its chunks of warm-up (Megatron-LM schedules.py). Never more than
/// there are. Without bubbles every stage keeps what the first one does, for its weights' gradients come
/// later (Qi et al. 2023, table 1); DualPipe one more (DeepSeek-V3, table 2).
double micro_batches_kept(const TrainingJob& job, std::size_t stage) {
  if (job.is_zero_bubble()) return job.pp + (job.schedule == Schedule::dualpipe ? 1 : 0);
  const auto at = static_cast<double>(stage);
  const double kept =
      job.vpp > 1 ? (static_cast<double>(job.pp) * job.vpp + job.pp - 1 - 2 * at) / job.vpp : job.pp - at;
  return std::min<double>(kept, job.micro_batches());
}

/// The most of layers × micro-batches that a stage keeps.
double layers_kept(const TrainingJob& job) {
  const std::vector<int> layers = layers_of_stages(job);
  double most = 0;
  for (std::size_t stage = 0; stage < layers.size(); ++stage)
    most = std::max(most, layers[stage] * (job.pp == 1 ? 1 : micro_batches_kept(job, stage)));
  return most;
}

/// Kept for the backward pass, per token of a layer and GPU.
double activation_bytes_per_token(const TrainingJob& job) {
  const ModelShape& model = job.model;
  const double hidden = model.hidden;
  if (job.recompute == Recompute::full) return 2 * hidden / (job.has_sequence_parallel() ? job.tp : 1);
  const double split = job.tp;
  const double wide = job.has_sequence_parallel() ? job.tp : 1;
  // Norms' and products' inputs, with masks of two dropouts; queries, keys, values, and attention's result.
  const bool again = job.recompute == Recompute::modules;
  // Transformer Engine keeps products' inputs in FP8; DeepSeek-V3, section 3.3.3, so those of activations.
  const bool narrow = job.stack->fuses_accumulation && job.precision >= Precision::fp8;
  const double kept = (job.stack->keeps_of_2021 ? 10 : again ? 4 : 8) - (narrow ? 2 : 0);
  double bytes = kept * hidden / wide + attention_bytes_per_token(model, job.recompute, narrow) / split;
  if (job.attention_kernel() == AttentionKernel::unfused && job.recompute == Recompute::none)
    bytes += 5.0 * model.heads * job.sequence / split;
  const double mlp = ((model.gated ? 6 : 4) - (again ? 2 : narrow ? 1 : 0)) * (again && narrow ? 0.5 : 1);
  if (model.experts.count == 0) return bytes + mlp * model.ffn / split;
  const Experts& experts = model.experts;
  const double routed = static_cast<double>(experts.top_k) / job.tp;
  return bytes + routed * ((narrow ? 1 : 2) * hidden + mlp * experts.ffn) + mlp * experts.shared_ffn / split;
}

}  // namespace

StageParameters stage_parameters(const TrainingJob& job) {
  const ParameterCount count = count_parameters(job.model);
  const double embedding = (job.pp == 1 && !job.model.tied ? 2 : 1) * count.embedding / job.tp;
  const int first_dense = job.model.layers - expert_layers(job.model);
  StageParameters most;
  int first = 0;  // layer of the stage
  for (const int layers : layers_of_stages(job)) {
    const int dense = std::clamp(first_dense - first, 0, layers);
    const int mixtures = layers - dense;
    const StageParameters stage{
        .dense =
            (layers * count.attention + dense * count.dense_mlp + mixtures * count.shared_expert) / job.tp +
            embedding,
        .experts = static_cast<double>(mixtures) * job.model.experts.count * count.one_expert / job.ep};
    if (stage.dense + stage.experts > most.dense + most.experts) most = stage;
    first += layers;
  }
  return most;
}

MemoryUse memory_use(const TrainingJob& job) {
  const StageParameters stage = stage_parameters(job);
  const double ranks = static_cast<double>(job.dp) * job.cp;
  const double expert_ranks = std::max(1.0, ranks * job.tp / job.ep);
  const double dense_shards = shards(job, ranks);
  const double expert_shards = shards(job, expert_ranks);
  const auto spread = [&](double bytes, bool sharded) {
    return sharded ? bytes * (stage.dense / dense_shards + stage.experts / expert_shards)
                   : bytes * (stage.dense + stage.experts);
  };
  MemoryUse use;
  use.parameters =
      spread(kParameterBytes, job.sharding == Sharding::zero3 || job.sharding == Sharding::fsdp_full);
  const int gradients = gradients_bytes(job);
  use.gradients = spread(gradients, job.sharding >= Sharding::gradients);
  const double main_gradients = gradients == 2 ? kCopiedGradientBytes : 0;
  use.optimizer = spread(kOptimizerBytes + main_gradients, job.sharding >= Sharding::optimizer);
  const double tokens = static_cast<double>(job.micro_batch) * job.sequence / job.cp;
  const double per_layer = activation_bytes_per_token(job) * tokens;
  use.activations = layers_kept(job) * per_layer;
  if (job.pp > 1 && job.stack->keeps_of_2021) {
    const double result = 2 * tokens * job.model.hidden / (job.has_sequence_parallel() ? job.tp : 1);
    use.activations += micro_batches_kept(job, 0) * job.vpp * result;
  }
  // What a layer's backward pass computes again is there while it runs.
  if (job.recompute == Recompute::full || job.recompute == Recompute::selective) {
    TrainingJob kept = job;
    kept.recompute = Recompute::none;
    const double input = job.recompute == Recompute::full ? 0 : per_layer;
    use.activations += activation_bytes_per_token(kept) * tokens - input;
  }
  if (job.pp == 1) use.logits = kLogitBytes * tokens * job.model.vocab / job.tp;
  if (job.is_fsdp()) {
    const std::vector<int> layers = layers_of_stages(job);
    const double layer = (stage.dense + stage.experts) / *std::ranges::max_element(layers);
    use.gathered = layer * (2 * kParameterBytes + kParameterBytes);
  }
  if (job.schedule == Schedule::dualpipe) use.parameters *= 2;
  use.framework = kFrameworkBytes;
  if (job.stack->keeps_of_2021) use.allocator = kHeldBeyondNeed * use.sum();
  return use;
}

}  // namespace collbench::analysis
