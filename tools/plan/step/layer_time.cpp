#include "tools/plan/step/layer_time.hpp"

#include <algorithm>

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

constexpr double kActivationBytes = 2;    ///< FP16 and BF16
constexpr double kMainGradientBytes = 8;  ///< FP32, read and written, each micro-batch
/// FP8 products with a scale for each row, of those with one for a tensor, casts included: by torchao's
/// README, Llama 3 8B on 8 H100 (BF16 6,150 tokens/s, a scale for a tensor 7,689.5, for each row 6,768).
constexpr double kRowwiseRate = 0.76;
/// NVFP4 products of the best shape, of their peak: as FP8 on the same chips (stas00: 3615 of 4900).
constexpr double kFp4OfPeak = 0.70;

// Passes over a tensor as wide as the hidden state: read and written ones counted.
constexpr double kNormForward = 2;
constexpr double kResidualForward = 3;  ///< bias, dropout and sum: two read, one written
constexpr double kNormBackward = 3;
constexpr double kResidualBackward = 3;
// Over what an MLP makes: read, and its activation written.
constexpr double kGatedForward = 3;
constexpr double kPlainForward = 2;
constexpr double kGatedBackward = 5;
constexpr double kPlainBackward = 3;
// Over scores, where attention is not fused: written, softmax, read; dropout with its mask besides.
constexpr double kScoresForward = 4;
constexpr double kScoresBackward = 7.5;
constexpr double kScoresDropout = 2.5;
// Over the tokens of experts: gathered by expert before, and weighed and summed behind, each read and
// written.
constexpr double kPermutePasses = 4;
/// FP8: a tensor is written twice in FP8, as it is and transposed; what makes it has read it (Transformer
/// Engine).
constexpr double kCastPasses = 1;
/// Backward of fused attention has five products for two: FlashAttention-2, section 3.
constexpr double kFusedBackward = 2.5;
/// Of the forward rate: FlashAttention-2, table of A100 (170 of 200 TFLOPS).
constexpr double kFlash2Backward = 0.85;
/// Tokens at which fused attention reaches half of its rate: FlashAttention-3's figures at 1k to 16k tokens.
/// Of a context-parallel ring each step is a kernel over one rank's part (Transformer Engine's
/// context_parallel.py).
constexpr double kHalfRateTokens = 500;
/// Bytes of a logit through the loss: written, converted, maximum, sum, gradient (Megatron-Core's fused
/// loss).
constexpr double kLossBytes = 24;

/// What the micro-batch leaves on one GPU.
struct Share {
  double tokens;       ///< of the micro-batch, per context-parallel rank
  double wide_tokens;  ///< those that a hidden-wide kernel sees
  double passes;       ///< 1, or more where kernels are not fused
  double memory;       ///< bytes/s
  double flops;        ///< FLOP/s of products
  double fp8_cast;     ///< passes for a cast; 0: none
};

Share share_of(const TrainingJob& job, const ComputeRates& rates) {
  const double tokens = static_cast<double>(job.micro_batch) * job.sequence / job.cp;
  return {.tokens = tokens,
          .wide_tokens = job.has_sequence_parallel() ? tokens / job.tp : tokens,
          .passes = job.stack->fused_kernels ? 1.0 : rates.assumed.eager_passes,
          .memory = rates.gpu->hbm_rate * rates.assumed.elementwise_rate,
          .flops = product_rate(rates, job.precision),
          .fp8_cast = job.precision >= Precision::fp8 ? kCastPasses : 0.0};
}

/// A product of weights with `parameters` on this GPU, over `tokens`: forward, and twice that backward.
PassTime products(double tokens, double parameters, double calls, const Share& share,
                  const topology::TrainingGpu& gpu) {
  PassTime time;
  time.forward.products = 2 * tokens * parameters / share.flops + calls * gpu.gemm_overhead;
  time.backward.products = 2 * time.forward.products;
  return time;
}

/// What a micro-batch's gradients take to be added to those before, beyond their products. Where the product
/// adds them, its epilogue reads and writes beside the tensor cores: what is longer bounds it.
double accumulation_seconds(const TrainingJob& job, const Share& share, double tokens, double parameters) {
  const double bytes = gradients_bytes(job) == 2 ? kMainGradientBytes / 2 : kMainGradientBytes;
  const double seconds = parameters * bytes / share.memory;
  if (!job.stack->fuses_accumulation || job.is_fsdp()) return seconds;
  const double product = 2 * tokens * parameters / share.flops;
  return std::max(0.0, seconds - product);
}

double pass_seconds(double passes, double tokens, double width, const Share& share) {
  return passes * tokens * width * kActivationBytes / share.memory;
}

PassTime fused_attention(const TrainingJob& job, const ComputeRates& rates, double tokens, double width) {
  // Causal: half of the scores. With context parallelism each rank has as many of early and late tokens.
  const double flops = 2 * tokens * job.sequence * width * attended_part(job.model, job.sequence);
  const double block = static_cast<double>(job.sequence) / job.cp;
  const double part = block / (block + kHalfRateTokens) * rates.assumed.attention_sustained * rates.clock;
  PassTime time;
  const bool newest = job.attention_kernel() == AttentionKernel::newest;
  const double forward = newest ? rates.gpu->attention_forward : rates.gpu->flash2_forward;
  const double backward =
      newest ? rates.gpu->attention_backward : kFlash2Backward * rates.gpu->flash2_forward;
  time.forward.attention = flops / (forward * part) + rates.gpu->gemm_overhead;
  time.backward.attention = kFusedBackward * flops / (backward * part) + rates.gpu->gemm_overhead;
  return time;
}

PassTime unfused_attention(const TrainingJob& job, const ComputeRates& rates, double tokens, double width,
                           const Share& share) {
  const double flops = 4 * tokens * job.sequence * width * attended_part(job.model, job.sequence);
  const double scores = tokens * job.sequence * job.model.heads / job.tp;
  const double rate = product_rate(rates, Precision::bf16) * rates.assumed.small_product;
  PassTime time;
  const double dropout = job.stack->keeps_of_2021 ? kScoresDropout : 0;
  time.forward.attention = flops / rate + pass_seconds(kScoresForward + dropout, scores, 1, share);
  time.backward.attention = 2 * flops / rate + pass_seconds(kScoresBackward + dropout, scores, 1, share);
  return time;
}

PassTime& add(PassTime& sum, const PassTime& other) {
  sum.forward += other.forward;
  sum.backward += other.backward;
  return sum;
}

PassTime attention_part(const TrainingJob& job, const ComputeRates& rates, const Share& share,
                        const ParameterCount& count) {
  const ModelShape& model = job.model;
  const double hidden = model.hidden;
  const bool is_latent = model.latent.kv_rank > 0;
  const double width = attention_width(model);
  PassTime time = products(share.tokens, count.attention / job.tp, is_latent ? 5 : 2, share, *rates.gpu);
  PassTime core = job.attention_kernel() != AttentionKernel::unfused
                      ? fused_attention(job, rates, share.tokens, width / job.tp)
                      : unfused_attention(job, rates, share.tokens, width / job.tp, share);
  if (job.recompute == Recompute::selective) core.backward += core.forward;
  if (job.recompute == Recompute::modules && is_latent) {
    const LatentAttention& ranks = model.latent;
    const double up = ranks.query_rank * (ranks.no_position_width + ranks.position_width) +
                      ranks.kv_rank * (ranks.no_position_width + ranks.value_width);
    time.backward.products +=
        products(share.tokens, up * model.heads / job.tp, 2, share, *rates.gpu).forward.products;
  }
  add(time, core);
  const double qkv = width * (1 + 2.0 * model.kv_heads / model.heads) / job.tp;
  const double rotary = 2 * qkv;
  const double cast = share.fp8_cast * (hidden + width / job.tp);
  const double normed = normed_width(model) / job.tp;
  time.forward.elementwise =
      share.passes * (pass_seconds(kNormForward + kResidualForward, share.wide_tokens, hidden, share) +
                      pass_seconds(1, share.tokens, rotary + cast + kNormForward * normed, share));
  time.backward.elementwise =
      share.passes * (pass_seconds(kNormBackward + kResidualBackward, share.wide_tokens, hidden, share) +
                      pass_seconds(1, share.tokens,
                                   rotary + share.fp8_cast * (qkv + hidden) + kNormBackward * normed, share));
  return time;
}

PassTime mlp_part(const TrainingJob& job, const ComputeRates& rates, const Share& share, double tokens,
                  double width, double parameters, double calls) {
  const bool gated = job.model.gated;
  const double hidden = job.model.hidden;
  PassTime time = products(tokens, parameters, calls, share, *rates.gpu);
  time.forward.elementwise = share.passes * pass_seconds(1, tokens,
                                                         (gated ? kGatedForward : kPlainForward) * width +
                                                             share.fp8_cast * (hidden + width),
                                                         share);
  const bool again = job.recompute == Recompute::modules;
  const double backward =
      gated ? kGatedBackward + again * kGatedForward : kPlainBackward + again * kPlainForward;
  time.backward.elementwise =
      share.passes * pass_seconds(1, tokens, backward * width + share.fp8_cast * (hidden + 2 * width), share);
  return time;
}

/// Tokens of a rank's sequence part go to top_k experts each; what arrives is as much, where experts are
/// balanced.
double routed_tokens(const TrainingJob& job, const Share& share) {
  return share.tokens / job.tp * job.model.experts.top_k;
}

PassTime expert_part(const TrainingJob& job, const ComputeRates& rates, const Share& share,
                     const ParameterCount& count) {
  const Experts& experts = job.model.experts;
  const double routed = routed_tokens(job, share);
  const double local_experts = static_cast<double>(experts.count) / job.ep;
  PassTime time = mlp_part(job, rates, share, routed, experts.ffn, count.one_expert, 2 * local_experts);
  // Experts run beside each other, in one kernel or on several streams: on the GPU a product of all has one
  // start. What the host needs to launch one for each is in launches_of_expert_layer.
  time.forward.products -= (2 * local_experts - 2) * rates.gpu->gemm_overhead;
  time.backward.products -= 2 * (2 * local_experts - 2) * rates.gpu->gemm_overhead;
  const double permuted = pass_seconds(kPermutePasses, routed, job.model.hidden, share);
  time.forward.elementwise += permuted;
  time.backward.elementwise += permuted;
  add(time, mlp_part(job, rates, share, share.tokens, static_cast<double>(experts.shared_ffn) / job.tp,
                     count.shared_expert / job.tp, 3));
  return time;
}

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

double product_rate(const ComputeRates& rates, Precision precision) {
  const topology::TrainingGpu& gpu = *rates.gpu;
  const Assumptions& assumed = rates.assumed;
  const bool blackwell = gpu.generation >= topology::GpuGeneration::blackwell;
  const auto sustained = [&](double hopper) { return blackwell ? assumed.blackwell_sustained : hopper; };
  if (precision == Precision::fp4) return gpu.peak_fp4 * kFp4OfPeak * sustained(0) * rates.clock;
  if (precision <= Precision::bf16) return gpu.gemm_bf16 * sustained(assumed.gemm_sustained) * rates.clock;
  const double rowwise = precision == Precision::fp8_rowwise ? kRowwiseRate : 1;
  return gpu.gemm_fp8 * sustained(assumed.fp8_sustained) * rowwise * rates.clock;
}

PassTime layer_time(const TrainingJob& job, const ComputeRates& rates, bool with_experts) {
  const Share share = share_of(job, rates);
  const ParameterCount count = count_parameters(job.model);
  PassTime time = attention_part(job, rates, share, count);
  const auto wide = [&](double passes) {
    return share.passes * pass_seconds(passes, share.wide_tokens, job.model.hidden, share);
  };
  // The second norm and residual, which a parallel block has not.
  if (!job.model.parallel_block) {
    time.forward.elementwise += wide(kNormForward + kResidualForward);
    time.backward.elementwise += wide(kNormBackward + kResidualBackward);
  }
  if (job.recompute == Recompute::modules)
    time.backward.elementwise += (job.model.parallel_block ? 1 : 2) * wide(kNormForward);
  add(time, with_experts
                ? expert_part(job, rates, share, count)
                : mlp_part(job, rates, share, share.tokens, static_cast<double>(job.model.ffn) / job.tp,
                           count.dense_mlp / job.tp, job.model.gated ? 3 : 2));
  if (job.stack->blocking) {
    time.forward.elementwise += rates.assumed.blocking_seconds;
    time.backward.elementwise += 2 * rates.assumed.blocking_seconds;
  }
  if (with_experts) time.launching = launches_of_expert_layer(job) * rates.assumed.launch_seconds;
  // The products of weights take as long for their gradients as forward.
  time.weights.products = time.forward.products;
  if (job.recompute == Recompute::full) time.backward += time.forward;
  const double mlp = with_experts ? count.shared_expert : count.dense_mlp;
  time.weights.elementwise = accumulation_seconds(job, share, share.tokens, (count.attention + mlp) / job.tp);
  if (with_experts) {
    const double local = static_cast<double>(job.model.experts.count) / job.ep;
    time.weights.elementwise +=
        accumulation_seconds(job, share, routed_tokens(job, share) / local, local * count.one_expert);
  }
  time.backward.elementwise += time.weights.elementwise;
  return time;
}

PassTime head_time(const TrainingJob& job, const ComputeRates& rates) {
  Share share = share_of(job, rates);
  share.flops = product_rate(rates, Precision::bf16);
  const double columns = static_cast<double>(job.model.vocab) / job.tp;
  PassTime time = products(share.tokens, columns * job.model.hidden, 1, share, *rates.gpu);
  time.weights.products = time.forward.products;
  const double loss = share.passes * share.tokens * columns * kLossBytes / share.memory;
  time.forward.elementwise = loss / 2;
  time.backward.elementwise = loss / 2;
  return time;
}

double optimizer_seconds(double parameters, const ComputeRates& rates) {
  constexpr double kBytesOfAdam = 30;
  return parameters * kBytesOfAdam / (rates.gpu->hbm_rate * rates.assumed.elementwise_rate);
}

}  // namespace collbench::analysis
