#include "analysis/plan/memory.hpp"

#include <algorithm>

namespace collbench::analysis {
namespace {

constexpr double kParameterBytes = 2;
constexpr double kOptimizerBytes = 12;  ///< FP32 copy and Adam's two moments
constexpr double kFrameworkBytes =
    3e9;  ///< context and NCCL's buffers of an H100: 2 to 4 GB in use before a model is
constexpr double kLogitBytes = 4;  ///< Megatron-LM theoretical_memory_usage.py

double shards(const TrainingJob& job, double ranks) {
  if (job.is_fsdp() && job.shard_group > 0) return job.shard_group;
  return ranks;
}

/// Kept for the backward pass, per token of a layer and GPU.
double activation_bytes_per_token(const TrainingJob& job) {
  const ModelShape& model = job.model;
  const double hidden = model.hidden;
  if (job.recompute == Recompute::full) return 2 * hidden / (job.has_sequence_parallel() ? job.tp : 1);
  const double split = job.tp;
  const double wide = job.has_sequence_parallel() ? job.tp : 1;
  const double width = static_cast<double>(model.heads) * model.width_of_head();
  // Norms' and products' inputs, two dropouts or residuals; queries, keys, values, and attention's result.
  double bytes = 10 * hidden / wide + (4 * width + 4.0 * width * model.kv_heads / model.heads) / split;
  if (job.stack->attention == AttentionKernel::unfused && job.recompute == Recompute::none)
    bytes += 5.0 * model.heads * job.sequence / split;
  const double mlp = model.gated ? 6 : 4;
  if (model.experts.count == 0) return bytes + mlp * model.ffn / split;
  const Experts& experts = model.experts;
  const double routed = static_cast<double>(experts.top_k) / job.tp;
  return bytes + routed * (2 * hidden + mlp * experts.ffn) + mlp * experts.shared_ffn / split;
}

}  // namespace

StageParameters stage_parameters(const TrainingJob& job) {
  const ParameterCount count = count_parameters(job.model);
  const std::vector<int> layers = layers_of_stages(job);
  const double most = *std::max_element(layers.begin(), layers.end());
  const double moe = expert_layers(job.model) > 0 ? 1 : 0;
  const double embedding = (job.pp == 1 && !job.model.tied ? 2 : 1) * count.embedding / job.tp;
  const double per_layer = count.attention + (moe > 0 ? count.shared_expert : count.dense_mlp);
  return {.dense = most * per_layer / job.tp + embedding,
          .experts = moe * most * job.model.experts.count * count.one_expert / job.ep};
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
  use.gradients = spread(job.stack->gradient_bytes, job.sharding >= Sharding::gradients);
  use.optimizer = spread(kOptimizerBytes, job.sharding >= Sharding::optimizer);
  const std::vector<int> layers = layers_of_stages(job);
  const double tokens = static_cast<double>(job.micro_batch) * job.sequence / job.cp;
  // 1F1B keeps as many micro-batches as stages follow; interleaving adds (p − 1)/(p v) of them.
  const double stages = std::min(job.pp, job.micro_batches());
  const double in_flight =
      job.pp == 1 ? 1 : stages * (job.vpp > 1 ? 1 + (job.pp - 1.0) / (job.pp * job.vpp) : 1);
  const double per_layer = activation_bytes_per_token(job) * tokens;
  use.activations = in_flight * layers.front() * per_layer;
  if (job.recompute == Recompute::full) {
    TrainingJob kept = job;
    kept.recompute = Recompute::none;
    use.activations += activation_bytes_per_token(kept) * tokens;
  }
  if (job.pp == 1) use.logits = kLogitBytes * tokens * job.model.vocab / job.tp;
  if (job.is_fsdp()) {
    const double layer = (stage.dense + stage.experts) / layers.front();
    use.gathered = layer * (2 * kParameterBytes + kParameterBytes);
  }
  use.framework = kFrameworkBytes;
  return use;
}

}  // namespace collbench::analysis
