#include "tools/plan/step/launches.hpp"

namespace collbench::analysis {
namespace {

/// Products of an expert: two forward (gate and up are one), and of each two backward. Transformer Engine's
/// grouped product is a product of cuBLAS for each expert, on several streams: the host launches each.
/// torchtitan's is one kernel for all.
constexpr double kExpertProducts = 6;
/// FP8: both inputs of a product are quantized, and their scales brought into the order that it reads.
/// Megatron-LM docs/discussions/deepseek-v3-gb200-optimization, 2.1.2 and 2.1.3.
constexpr double kQuantizations = 4;
/// Of the router, fused: the same, 2.1.4 (72 before).
constexpr double kRouter = 31;
/// Counted in Megatron-Core's modules, forward: counts, permutation and dispatch there and back; norms,
/// projections, rotary positions, attention and residuals; with latent attention its norms, projections up
/// and down and copies; the shared expert.
constexpr double kDispatch = 20;
constexpr double kAttention = 12;
constexpr double kLatentAttention = 24;
constexpr double kSharedExpert = 4;
/// As many backward twice.
constexpr double kPasses = 3;

}  // namespace

double launches_of_expert_layer(const TrainingJob& job) {
  const ExpertRun run = job.stack->experts;
  if (run == ExpertRun::whole_graph || run == ExpertRun::compiled) return 0;
  const ModelShape& model = job.model;
  const double of_a_product = 1 + (job.precision >= Precision::fp8 ? kQuantizations : 0);
  const double again = job.recompute == Recompute::full ? (kPasses + 1) / kPasses : 1;
  const double local = run == ExpertRun::grouped ? 1 : static_cast<double>(model.experts.count) / job.ep;
  const double experts = local * kExpertProducts * of_a_product;
  if (run == ExpertRun::graphs_around) return again * experts;
  const bool latent = model.latent.kv_rank > 0;
  const bool shared = model.experts.shared_ffn > 0;
  const double forward =
      kRouter + kDispatch + (latent ? kLatentAttention : kAttention) + (shared ? kSharedExpert : 0);
  const double products = (latent ? 5 : 2) + (shared ? 2 : 0);
  return again * (experts + kPasses * (forward + products * (of_a_product - 1)));
}

}  // namespace collbench::analysis
