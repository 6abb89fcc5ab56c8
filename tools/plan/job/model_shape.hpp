#pragma once
#include <string>
#include <string_view>

namespace collbench::analysis {

/// DeepSeek's multi-head latent attention: the ranks of its two low-rank projections and the widths of a
/// head.
struct LatentAttention {
  int query_rank = 0;
  int kv_rank = 0;
  int no_position_width = 0;  ///< of a head of queries and keys
  int position_width = 0;     ///< the part with rotary positions, shared by the heads for keys
  int value_width = 0;

  bool operator==(const LatentAttention&) const = default;
};

/// A mixture of experts in place of the MLP.
struct Experts {
  int count = 0;  ///< 0: a dense model
  int top_k = 0;
  int ffn = 0;           ///< width of one expert
  int shared_ffn = 0;    ///< width of what every token passes besides; 0: none
  int dense_layers = 0;  ///< the first layers, which have a dense MLP of width ModelShape::ffn
  int groups = 0;        ///< that the router parts the experts into; 0: none
  int top_groups = 0;    ///< of them, that a token's experts may be in

  bool operator==(const Experts&) const = default;
};

/// A decoder-only transformer, by the numbers that its parameters, FLOPs and bytes follow from.
struct ModelShape {
  std::string name;
  int layers = 0;
  int hidden = 0;
  int ffn = 0;
  int heads = 0;
  int kv_heads = 0;  ///< as many as heads: multi-head attention; fewer: grouped queries
  int vocab = 0;
  int head_width = 0;    ///< 0: hidden / heads
  bool gated = false;    ///< SwiGLU and its like: three matrices in an MLP, not two
  bool tied = false;     ///< input and output embedding are one matrix
  bool qk_norm = false;  ///< norms of every head's queries and keys (Qwen3)
  Experts experts{};
  LatentAttention latent{};
  bool parallel_block = false;  ///< attention and MLP beside each other, behind one norm (PaLM, MegaScale)
  int window = 0;               ///< tokens that a token attends to; 0: all before it
  int window_layers = 0;        ///< layers with the window; 0: all
  std::string source{};         ///< who publishes these numbers

  [[nodiscard]] int width_of_head() const { return head_width > 0 ? head_width : hidden / heads; }
  bool operator==(const ModelShape&) const = default;
};

/// Numbers of parameters. Norms and biases, below 0.1 % of all, are not in them.
struct ParameterCount {
  double attention = 0;      ///< of one layer
  double dense_mlp = 0;      ///< of one layer that has a dense MLP
  double one_expert = 0;     ///< of one layer
  double shared_expert = 0;  ///< of one layer, with the router
  double embedding = 0;      ///< the input's matrix; the output's is as large
  double total = 0;
  double active = 0;  ///< that one token passes, both embeddings included
};

[[nodiscard]] ParameterCount count_parameters(const ModelShape& shape);

/// Of causal scores, those within the window, over all layers: w/s·(2 − w/s) of a layer that has it.
[[nodiscard]] double attended_part(const ModelShape& shape, int sequence);

[[nodiscard]] int expert_layers(const ModelShape& shape);

/// Width of the products of queries and keys, and of weights and values, summed over heads and halved: a·d.
[[nodiscard]] double attention_width(const ModelShape& shape);

/// Of a token, what norms within attention read: queries and keys, or the latent ones.
[[nodiscard]] double normed_width(const ModelShape& shape);

/// Which FLOPs a utilization counts. The same run differs by a sixth between the first two at 8,192 tokens.
enum class FlopConvention {
  full_attention,  ///< 6 × matrices + 12·L·a·d·s: NVIDIA's recipes until 25.x, PaLM, Mosaic
  causal,          ///< half of the attention: Megatron-Bridge
  hardware,        ///< full attention, and what is recomputed: Megatron's papers, BLOOM
};

inline constexpr std::string_view kFullAttention = "model FLOPs with full attention (6N + 12Las)";

/// FLOPs of one trained token: forward and backward. `recompute_factor` is 4/3 with full recompute, for
/// `hardware`. Sources: PaLM appendix B; NVIDIA dgxc-benchmarking llama3.1/README_70b.md, "Notes".
[[nodiscard]] double flops_per_token(const ModelShape& shape, int sequence, FlopConvention convention,
                                     double recompute_factor = 1);

}  // namespace collbench::analysis
