#include "tools/plan/job/model_catalog.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "base/error.hpp"
#include "base/suggest_names.hpp"
#include "base/text_input.hpp"

namespace collbench::analysis {
namespace {

constexpr const char* kMegatron = "Megatron-LM's configuration, vocabulary padded to 51,200";
constexpr const char* kMeta = "config.json of meta-llama; The Llama 3 Herd of Models, table 3";
constexpr const char* kNvidia = "arXiv 2406.11704 and 2402.16819, table 1";
constexpr const char* kMistral = "config.json of mistralai";
constexpr const char* kDeepSeek = "config.json of deepseek-ai; arXiv 2412.19437, section 4.2";
constexpr const char* kQwen = "config.json of Qwen; arXiv 2505.09388, tables 1 and 2";
constexpr const char* kMoonshot = "config.json of moonshotai; arXiv 2507.20534, table 2";
constexpr const char* kXai = "xai-org/grok-1 run.py";
constexpr const char* kQwen2 = "config.json of Qwen; arXiv 2407.10671, table 1";
constexpr const char* kMosaic = "llm-foundry scripts/train/yamls/pretrain";
constexpr const char* kBigScience = "bigscience-workshop train/tr11-176B-ml, vocabulary padded to 250,880";

ModelShape dense(const char* name, int layers, int hidden, int ffn, int heads, int kv_heads, int vocab,
                 bool gated, bool tied, const char* source, int head_width = 0) {
  return {.name = name,
          .layers = layers,
          .hidden = hidden,
          .ffn = ffn,
          .heads = heads,
          .kv_heads = kv_heads,
          .vocab = vocab,
          .head_width = head_width,
          .gated = gated,
          .tied = tied,
          .source = source};
}

ModelShape with_experts(ModelShape shape, const Experts& experts) {
  shape.experts = experts;
  return shape;
}

/// arXiv 2505.09388, section 2: norms of queries and keys.
ModelShape qwen3(const char* name, int layers, int hidden, int ffn, int heads, int kv_heads) {
  ModelShape shape = dense(name, layers, hidden, ffn, heads, kv_heads, 151936, true, false, kQwen, 128);
  shape.qk_norm = true;
  return shape;
}

/// The attention of DeepSeek-V2 and V3, whose ranks and widths Kimi K2 has too.
ModelShape with_latent_attention(ModelShape shape) {
  shape.latent = {
      .query_rank = 1536, .kv_rank = 512, .no_position_width = 128, .position_width = 64, .value_width = 128};
  return shape;
}

const std::vector<CatalogModel>& all_models() {
  static const std::vector<CatalogModel> models{
      {dense("gpt3-175b", 96, 12288, 49152, 96, 96, 51200, false, true, kMegatron), 175e9, 2048},
      {dense("bloom-176b", 70, 14336, 57344, 112, 112, 250880, false, true, kBigScience), 176.2e9, 2048},
      {dense("llama-2-7b", 32, 4096, 11008, 32, 32, 32000, true, false, kMeta), 6.74e9, 4096},
      {dense("llama-2-13b", 40, 5120, 13824, 40, 40, 32000, true, false, kMeta), 13.02e9, 4096},
      {dense("llama-2-70b", 80, 8192, 28672, 64, 8, 32000, true, false, kMeta), 68.98e9, 4096},
      {dense("llama-3-8b", 32, 4096, 14336, 32, 8, 128256, true, false, kMeta), 8.03e9, 8192},
      {dense("llama-3-70b", 80, 8192, 28672, 64, 8, 128256, true, false, kMeta), 70.55e9, 8192},
      {dense("llama-3.1-8b", 32, 4096, 14336, 32, 8, 128256, true, false, kMeta), 8.03e9, 8192},
      {dense("llama-3.1-70b", 80, 8192, 28672, 64, 8, 128256, true, false, kMeta), 70.55e9, 8192},
      {dense("llama-3.1-405b", 126, 16384, 53248, 128, 8, 128256, true, false, kMeta), 405.85e9, 8192},
      {dense("nemotron-4-15b", 32, 6144, 24576, 48, 8, 256000, false, false, kNvidia), 15.6e9, 4096},
      {dense("nemotron-4-340b", 96, 18432, 73728, 96, 8, 256000, false, false, kNvidia), 341e9, 4096},
      {with_experts(dense("mixtral-8x7b", 32, 4096, 14336, 32, 8, 32000, true, false, kMistral),
                    {.count = 8, .top_k = 2, .ffn = 14336}),
       46.7e9, 4096},
      {with_experts(dense("mixtral-8x22b", 56, 6144, 16384, 48, 8, 32000, true, false, kMistral),
                    {.count = 8, .top_k = 2, .ffn = 16384}),
       140.6e9, 4096},
      {with_latent_attention(
           with_experts(dense("deepseek-v3", 61, 7168, 18432, 128, 128, 129280, true, false, kDeepSeek),
                        {.count = 256,
                         .top_k = 8,
                         .ffn = 2048,
                         .shared_ffn = 2048,
                         .dense_layers = 3,
                         .groups = 8,
                         .top_groups = 4})),
       671e9, 4096},
      {with_latent_attention(
           with_experts(dense("kimi-k2", 61, 7168, 18432, 64, 64, 163840, true, false, kMoonshot),
                        {.count = 384, .top_k = 8, .ffn = 2048, .shared_ffn = 2048, .dense_layers = 1})),
       1026e9, 4096},
      {with_experts(dense("grok-1", 64, 6144, 32768, 48, 8, 131072, true, true, kXai),
                    {.count = 8, .top_k = 2, .ffn = 32768}),
       314e9, 8192},
      {with_experts(dense("qwen2-57b-a14b", 28, 3584, 18944, 28, 4, 151936, true, false, kQwen2),
                    {.count = 64, .top_k = 8, .ffn = 2560, .shared_ffn = 20480}),
       57.4e9, 4096},
      {qwen3("qwen3-8b", 36, 4096, 12288, 32, 8), 8.19e9, 4096},
      {qwen3("qwen3-14b", 40, 5120, 17408, 40, 8), 14.77e9, 4096},
      {qwen3("qwen3-32b", 64, 5120, 25600, 64, 8), 32.76e9, 4096},
      {with_experts(qwen3("qwen3-30b-a3b", 48, 2048, 6144, 32, 4), {.count = 128, .top_k = 8, .ffn = 768}),
       30.5e9, 4096},
      {with_experts(qwen3("qwen3-235b-a22b", 94, 4096, 12288, 64, 4),
                    {.count = 128, .top_k = 8, .ffn = 1536}),
       235e9, 4096},
      {dense("mpt-1b", 24, 2048, 8192, 16, 16, 50368, false, true, kMosaic), 1.31e9, 2048},
      {dense("mpt-3b", 32, 2560, 10240, 20, 20, 50368, false, true, kMosaic), 2.65e9, 2048},
      {dense("mpt-7b", 32, 4096, 16384, 32, 32, 50368, false, true, kMosaic), 6.66e9, 2048},
      {dense("mpt-13b", 40, 5120, 20480, 40, 40, 50368, false, true, kMosaic), 12.85e9, 2048},
      {dense("mpt-30b", 48, 7168, 28672, 56, 56, 50368, false, true, kMosaic), 29.98e9, 2048},
      {dense("mpt-70b", 80, 8192, 32768, 64, 64, 50368, false, true, kMosaic), 64.86e9, 2048},
  };
  return models;
}

/// Letters and digits alone: publishers write LLAMA3_70B, Llama-3-70B and Qwen3_30B_a3B.
std::string squashed(std::string_view name) {
  std::string letters;
  for (const char letter : lower(name)) {
    if (std::isalnum(static_cast<unsigned char>(letter)) != 0) letters += letter;
  }
  return letters;
}

/// What was meant by a name that the catalog lacks. Of "qwen3-moe", a family as Hugging Face names it, the
/// models with experts whose names begin with the rest.
std::vector<std::string> near_models(const std::string& wanted) {
  std::string family = squashed(wanted);
  const std::size_t moe = family.find("moe");
  if (moe == std::string::npos) return suggest_names(wanted, model_names());
  family.erase(moe, 3);
  std::vector<std::string> near;
  for (const CatalogModel& model : all_models()) {
    if (model.shape.experts.count > 0 && squashed(model.shape.name).starts_with(family))
      near.push_back(model.shape.name);
  }
  return near.empty() ? suggest_names(wanted, model_names()) : near;
}

}  // namespace

std::span<const CatalogModel> model_catalog() { return all_models(); }

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const CatalogModel& model : all_models()) names.push_back(model.shape.name);
  return names;
}

const CatalogModel& find_model(std::string_view name) {
  const std::string wanted = lower(name);
  const auto found = std::ranges::find_if(all_models(), [&](const CatalogModel& model) {
    return squashed(model.shape.name) == squashed(wanted);
  });
  if (found != all_models().end()) return *found;
  const std::vector<std::string> near = near_models(wanted);
  throw usage_error("--model", fmt::format("'{}' is not in the catalog", name),
                    near.empty()
                        ? fmt::format("choose {}, or give --layers, --hidden, --ffn, --heads and --vocab",
                                      fmt::join(model_names(), ", "))
                        : fmt::format("did you mean {}? Or give a TOML file, or --layers, --hidden …",
                                      fmt::join(near, ", ")));
}

}  // namespace collbench::analysis
