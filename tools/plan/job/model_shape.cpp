#include "tools/plan/job/model_shape.hpp"

namespace collbench::analysis {
namespace {

double attention_parameters(const ModelShape& shape) {
  const double hidden = shape.hidden;
  const double heads = shape.heads;
  if (shape.latent.kv_rank > 0) {
    const LatentAttention& latent = shape.latent;
    const double head = latent.no_position_width + latent.position_width;
    return hidden * latent.query_rank + latent.query_rank * heads * head +
           hidden * (latent.kv_rank + latent.position_width) +
           latent.kv_rank * heads * (latent.no_position_width + latent.value_width) +
           heads * latent.value_width * hidden;
  }
  const double width = shape.width_of_head();
  return 2 * hidden * heads * width + 2 * hidden * shape.kv_heads * width;
}

}  // namespace

double attention_width(const ModelShape& shape) {
  if (shape.latent.kv_rank > 0) {
    return shape.heads *
           (shape.latent.no_position_width + shape.latent.position_width + shape.latent.value_width) / 2.0;
  }
  return static_cast<double>(shape.heads) * shape.width_of_head();
}

double attended_part(const ModelShape& shape, int sequence) {
  if (shape.window == 0 || shape.window >= sequence) return 1;
  const double part = static_cast<double>(shape.window) / sequence;
  const double layers = shape.window_layers > 0 ? static_cast<double>(shape.window_layers) / shape.layers : 1;
  return 1 - layers + layers * part * (2 - part);
}

int expert_layers(const ModelShape& shape) {
  return shape.experts.count > 0 ? shape.layers - shape.experts.dense_layers : 0;
}

double normed_width(const ModelShape& shape) {
  if (shape.latent.kv_rank > 0) return shape.latent.query_rank + shape.latent.kv_rank;
  return shape.qk_norm ? static_cast<double>(shape.heads + shape.kv_heads) * shape.width_of_head() : 0;
}

ParameterCount count_parameters(const ModelShape& shape) {
  const double hidden = shape.hidden;
  const double matrices = shape.gated ? 3 : 2;
  ParameterCount count;
  count.attention = attention_parameters(shape);
  count.dense_mlp = matrices * hidden * shape.ffn;
  count.one_expert = matrices * hidden * shape.experts.ffn;
  count.shared_expert = matrices * hidden * shape.experts.shared_ffn + hidden * shape.experts.count;
  count.embedding = hidden * shape.vocab;
  const double moe = expert_layers(shape);
  const double dense = shape.layers - moe;
  const double rest = shape.layers * count.attention + dense * count.dense_mlp;
  const double embeddings = (shape.tied ? 1 : 2) * count.embedding;
  count.total = rest + embeddings + moe * (count.shared_expert + shape.experts.count * count.one_expert);
  count.active = rest + embeddings + moe * (count.shared_expert + shape.experts.top_k * count.one_expert);
  return count;
}

double flops_per_token(const ModelShape& shape, int sequence, FlopConvention convention,
                       double recompute_factor) {
  const ParameterCount count = count_parameters(shape);
  // What multiplies: the input's embedding is looked up.
  const double matrices = count.active - (shape.tied ? 0 : count.embedding);
  const double attention =
      12.0 * shape.layers * attention_width(shape) * sequence * attended_part(shape, sequence);
  const double part = convention == FlopConvention::causal ? 0.5 : 1;
  const double layers = 6 * (matrices - count.embedding) + part * attention;
  const double factor = convention == FlopConvention::hardware ? recompute_factor : 1;
  return layers * factor + 6 * count.embedding;
}

}  // namespace collbench::analysis
