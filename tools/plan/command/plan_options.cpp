#include "tools/plan/command/plan_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <type_traits>

#include "base/error.hpp"
#include "base/text_input.hpp"
#include "src/cli/options.hpp"

namespace collbench::program {
namespace {

using analysis::PlanRequest;
using analysis::Precision;
using analysis::Recompute;
using analysis::Sharding;

constexpr int kMaxCount = 10'000'000;
constexpr int kMaxExperts = 4096;   ///< of a layer; published: up to 2,048 (Switch Transformer)
constexpr int kMaxLayers = 10'000;  ///< every stage is reckoned by itself

/// What the input or its request has.
template <class Value>
Value& member(PlanInput& input, Value PlanInput::* kept) {
  return input.*kept;
}
template <class Value>
Value& member(PlanInput& input, Value PlanRequest::* kept) {
  return input.request.*kept;
}

template <auto Member, int Most = kMaxCount>
void take_number(PlanInput& input, const std::string& text, const std::string& where) {
  member(input, Member) = parse_number(text, where, 1, Most);
}

template <std::optional<double> PlanRequest::* Member>
void take_positive(PlanInput& input, const std::string& text, const std::string& where) {
  input.request.*Member = parse_number(text, where, 1e-6, 1e6);
}

template <double PlanRequest::* Member>
void take_seconds(PlanInput& input, const std::string& text, const std::string& where) {
  input.request.*Member = parse_number(text, where, 0.001, 1e9);
}

template <auto Member, auto Parse>
void take_parsed(PlanInput& input, const std::string& text, const std::string& where) {
  input.request.*Member = Parse(text, where);
}

template <auto Member>
void take_truth(PlanInput& input, const std::string& text, const std::string& where) {
  member(input, Member) = parse_name(text, where, {"true", "false"}) == "true";
}

struct Suffix {
  char letter;  ///< in capitals; small ones count too
  double factor;
};

/// A number with one of the suffixes, "300B"; `allowed` is what the error says.
template <typename Number>
Number parse_with_suffix(const std::string& text, const std::string& where, std::span<const Suffix> suffixes,
                         Number maximum, const char* allowed) {
  std::string number = text;
  double factor = 1;
  for (const Suffix& each : suffixes) {
    if (number.empty() || std::toupper(static_cast<unsigned char>(number.back())) != each.letter) continue;
    factor = each.factor;
    number.pop_back();
    break;
  }
  const auto plain = whole_number<double>(number);
  if (!plain) throw usage_error(where, fmt::format("'{}' is not a number", text), allowed);
  const double value = *plain * factor;
  const bool is_within = value > 0 && value <= static_cast<double>(maximum);  // false for a NaN
  if (!is_within) throw usage_error(where, fmt::format("{} is out of range", text), allowed);
  if (std::is_integral_v<Number> && value != std::floor(value))
    throw usage_error(where, fmt::format("{} is not a whole number", text), allowed);
  return static_cast<Number>(value);
}

/// "15T", "300B", "2e11": decimal, as papers count tokens; G is B.
double parse_tokens(const std::string& text, const std::string& where) {
  constexpr std::array<Suffix, 5> kSuffixes{{{'K', 1e3}, {'M', 1e6}, {'G', 1e9}, {'B', 1e9}, {'T', 1e12}}};
  return parse_with_suffix<double>(text, where, kSuffixes, 1e18,
                                   "up to 1e18; K, M, G or B, and T may follow: 15T");
}

/// "8k" is 8,192: samples are as long as powers of two.
void take_sequence(PlanInput& input, const std::string& text, const std::string& where) {
  constexpr std::array<Suffix, 2> kSuffixes{{{'K', 1024}, {'M', 1024.0 * 1024}}};
  input.request.sequence = parse_with_suffix<int>(
      text, where, kSuffixes, kMaxCount, "1 to 10000000; k (1,024) and M (1,048,576) may follow: 8k");
}

/// "3", "$2.50".
template <std::optional<double> PlanRequest::* Member>
void take_dollars(PlanInput& input, const std::string& text, const std::string& where) {
  input.request.*Member =
      parse_number(text.starts_with('$') ? text.substr(1) : text, where, 1e-6, 1e6, "dollars");
}

Precision parse_precision(const std::string& text, const std::string& where) {
  // NVIDIA's words for how scales are kept: current, delayed, or of blocks of 32 (Megatron-Bridge).
  const std::string known =
      parse_name(lower(text), where,
                 {"bf16", "fp16", "fp8", "mxfp8", "nvfp4", "fp8-cs", "fp8-ds", "fp8-mx", "fp8-rowwise"});
  if (known == "nvfp4") return Precision::fp4;
  if (known == "fp8-rowwise") return Precision::fp8_rowwise;
  if (known == "mxfp8" || known.starts_with("fp8")) return Precision::fp8;
  return known == "fp16" ? Precision::fp16 : Precision::bf16;
}

Recompute parse_recompute(const std::string& text, const std::string& where) {
  // Megatron-Core's selective recomputation is of core_attn where nothing else is said.
  if (lower(text) == "core_attn") return Recompute::selective;
  const std::string known = parse_name(lower(text), where, {"none", "selective", "modules", "full"});
  if (known == "full") return Recompute::full;
  if (known == "modules") return Recompute::modules;
  return known == "selective" ? Recompute::selective : Recompute::none;
}

analysis::AttentionKernel parse_attention(const std::string& text, const std::string& where) {
  using analysis::AttentionKernel;
  const std::string known = parse_name(lower(text), where, {"unfused", "flash2", "newest"});
  if (known == "newest") return AttentionKernel::newest;
  return known == "flash2" ? AttentionKernel::flash2 : AttentionKernel::unfused;
}

/// Narayanan et al. 2021 and Qi et al. 2023: tools/plan/job/job.hpp.
void take_schedule(PlanInput& input, const std::string& text, const std::string& where) {
  using analysis::Schedule;
  const std::string known = parse_name(text, where, {"1f1b", "interleaved", "zb-h1", "dualpipe"});
  if (known == "zb-h1") input.request.schedule = Schedule::zb_h1;
  if (known == "dualpipe") input.request.schedule = Schedule::dualpipe;
  if (known == "1f1b" || known == "interleaved") input.request.interleaved = known == "interleaved";
}

void take_zero(PlanInput& input, const std::string& text, const std::string& where) {
  constexpr std::array kStages{Sharding::none, Sharding::optimizer, Sharding::gradients, Sharding::zero3};
  input.request.sharding = kStages.at(static_cast<std::size_t>(parse_number(text, where, 0, 3)));
}

void take_fsdp(PlanInput& input, const std::string& text, const std::string& where) {
  input.request.sharding = text == "grad" ? Sharding::fsdp_grad : Sharding::fsdp_full;
  if (text == "full" || text == "grad") return;
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text.front())) == 0) {
    throw usage_error(where, fmt::format("'{}' is no way to shard", text),
                      "give full, grad, or the number of ranks that share one copy");
  }
  input.request.shard_group = parse_number(text, where, 2, kMaxCount);
}

constexpr auto kOptions = std::to_array<PlanOption>({
    {kModelTheme, "model", "NAME|FILE", "llama-3.1-70b, … (--models lists them); or a TOML file",
     [](PlanInput& input, const std::string& text, const std::string&) { input.model = text; }},
    {kModelTheme, "layers", "N", "transformer layers", take_number<&PlanInput::layers, kMaxLayers>},
    {kModelTheme, "hidden", "N", "width of the hidden state", take_number<&PlanInput::hidden>},
    {kModelTheme, "ffn", "N", "width of the MLP", take_number<&PlanInput::ffn>},
    {kModelTheme, "heads", "N", "attention heads", take_number<&PlanInput::heads>},
    {kModelTheme, "kv-heads", "N", "heads of keys and values (as many as --heads)",
     take_number<&PlanInput::kv_heads>},
    {kModelTheme, "head-width", "N", "width of a head (hidden / heads)", take_number<&PlanInput::head_width>},
    {kModelTheme, "vocab", "N", "tokens of the vocabulary", take_number<&PlanInput::vocab>},
    {kModelTheme, "gated", "BOOL", "three matrices in an MLP (true unless ffn = 4 × hidden)",
     take_truth<&PlanInput::gated>},
    {kModelTheme, "tied", "BOOL", "one matrix for both embeddings (false)", take_truth<&PlanInput::tied>},
    {kModelTheme, "qk-norm", "BOOL", "norms of every head's queries and keys (false)",
     take_truth<&PlanInput::qk_norm>},
    {kModelTheme, "parallel-block", "BOOL", "attention and MLP beside each other (false)",
     take_truth<&PlanInput::parallel_block>},
    {kModelTheme, "window", "N", "tokens that a token attends to (all before it)",
     take_number<&PlanInput::window>},
    {kModelTheme, "window-layers", "N", "layers with --window (all)",
     take_number<&PlanInput::window_layers, kMaxLayers>},
    {kModelTheme, "experts", "N", "experts of a layer (none)", take_number<&PlanInput::experts, kMaxExperts>},
    {kModelTheme, "top-k", "N", "experts of a token", take_number<&PlanInput::top_k>},
    {kModelTheme, "expert-ffn", "N", "width of an expert", take_number<&PlanInput::expert_ffn>},
    {kModelTheme, "shared-ffn", "N", "width of the shared expert (none)",
     take_number<&PlanInput::shared_ffn>},
    {kModelTheme, "dense-layers", "N", "first layers without experts (0)",
     take_number<&PlanInput::dense_layers>},
    {kSplitTheme, "seq", "N", "tokens of a sample: 8192, or 8k (as the model was trained, or 4096)",
     take_sequence},
    {kSplitTheme, "gbs", "N",
     "samples of a step (those of 4 Mi tokens, a single plan rounds up to --mbs × dp)",
     take_number<&PlanRequest::global_batch>},
    {kSplitTheme, "mbs", "N", "samples of a micro-batch (1)", take_number<&PlanRequest::micro_batch>},
    {kSplitTheme, "tp", "N", "tensor parallelism (1)", take_number<&PlanRequest::tp>},
    {kSplitTheme, "pp", "N", "pipeline stages (1)", take_number<&PlanRequest::pp>},
    {kSplitTheme, "vpp", "N", "chunks of a stage, interleaved (1)", take_number<&PlanRequest::vpp>},
    {kSplitTheme, "schedule", "NAME",
     "of the stages: 1f1b, interleaved (as --vpp says), zb-h1 or dualpipe (zero-bubble)", take_schedule},
    {kSplitTheme, "cp", "N", "context parallelism (1)", take_number<&PlanRequest::cp>},
    {kSplitTheme, "ep", "N", "expert parallelism (1)", take_number<&PlanRequest::ep>},
    {kSplitTheme, "dp", "N", "data parallelism (what is left)", take_number<&PlanRequest::dp>},
    {kSplitTheme, "order", "NAMES",
     "how ranks are numbered, the innermost first (tp-cp-ep-dp-pp: Megatron's)",
     take_parsed<&PlanRequest::order, analysis::parse_rank_order>},
    {kSplitTheme, "zero", "0-3", "ZeRO stage: 1 as Megatron's distributed optimizer, 3 as --fsdp full (1)",
     take_zero},
    {kSplitTheme, "fsdp", "full|grad|N", "FSDP: FULL_SHARD, SHARD_GRAD_OP, or full within groups of N",
     take_fsdp},
    {kSplitTheme, "recompute", "NAME", "none, selective, modules (norms, activations, MLA up) or full (none)",
     take_parsed<&PlanRequest::recompute, parse_recompute>},
    {kSplitTheme, "precision", "NAME", "bf16, fp16, fp8, fp8-rowwise, mxfp8 or nvfp4 (bf16)",
     take_parsed<&PlanRequest::precision, parse_precision>},
    {kSplitTheme, "stack", "NAME",
     "megatron, megatron-eager, -2026, -2021, -deepspeed, fsdp, compiled, maxtext (by the "
     "sharding, with experts by the machine)",
     [](PlanInput& input, const std::string& text, const std::string&) {
       input.request.stack = &analysis::find_stack(text);
     }},
    {kSplitTheme, "attention", "NAME", "unfused, flash2 or newest (the stack's)",
     take_parsed<&PlanRequest::attention, parse_attention>},
    {kSplitTheme, "sp", "BOOL", "sequence parallelism beside --tp (as the stack does)",
     take_truth<&PlanRequest::sequence_parallel>},
    {kSplitTheme, "tp-overlap", "BOOL", "TP collectives beside products (as the stack does)",
     take_truth<&PlanRequest::tp_overlap>},
    {kSplitTheme, "ep-overlap", "BOOL", "experts' exchange under another micro-batch (as the stack does)",
     take_truth<&PlanRequest::ep_overlap>},
    {kSplitTheme, "assume", "NAME=VALUE", "a constant of the model, several with commas (docs/plan.md)",
     [](PlanInput& input, const std::string& text, const std::string&) {
       for (const std::string& each : split_list(text)) analysis::assume(input.request.assumed, each);
     }},
    {kSplitTheme, "exceed-memory", "BOOL", "plan it even where it does not fit",
     take_truth<&PlanRequest::may_exceed_memory>},
    {kMachineTheme, "topology", "NAME|FILE", "a reference machine, or a file that describes a node",
     [](PlanInput& input, const std::string& text, const std::string&) { input.topology = text; }},
    {kMachineTheme, "nodes", "N", "number of such nodes (1)", take_number<&PlanInput::nodes>},
    {kMachineTheme, "n-gpus", "N", "GPUs of all nodes, in place of --nodes; --gpus is it too",
     take_number<&PlanRequest::n_gpus>},
    {kMachineTheme, "gpus-per-node", "N", "GPUs used per node (all)", take_number<&PlanInput::gpus_per_node>},
    {kMachineTheme, "gpu", "NAME", "rates of another GPU: GB300, H100, …",
     [](PlanInput& input, const std::string& text, const std::string&) { input.request.gpu = text; }},
    {kMachineTheme, "nic-gbps-per-gpu", "GBPS", "Gb/s of network for each GPU, in place of the topology's",
     take_positive<&PlanRequest::nic_gbps_per_gpu>},
    {kMachineTheme, "fabric", "WORDS",
     "between nodes, as predict takes it: rail-optimized,leaf=32,oversubscription=2, …",
     take_parsed<&PlanRequest::fabric, analysis::parse_fabric>},
    {kMachineTheme, "power-limit", "WATTS", "of a GPU's board (its data sheet's)",
     take_positive<&PlanRequest::power_limit_watts>},
    {kMachineTheme, "hbm-gbps", "GBPS", "GB/s of a copy in GPU memory, in place of the GPU's",
     take_positive<&PlanRequest::hbm_gbps>},
    {kRunTheme, "tokens", "N", "tokens to train on: 15T, 300B",
     take_parsed<&PlanRequest::tokens, parse_tokens>},
    {kRunTheme, "price", "DOLLARS", "of a GPU-hour", take_dollars<&PlanRequest::price_per_gpu_hour>},
    {kRunTheme, "pue", "FACTOR", "power of the site, of that of the servers (1.2)",
     [](PlanInput& input, const std::string& text, const std::string& where) {
       input.request.pue = parse_number(text, where, 1.0, 5.0);
     }},
    {kRunTheme, "price-kwh", "DOLLARS", "of a kWh", take_dollars<&PlanRequest::price_per_kwh>},
    {kRunTheme, "interruption-gpu-hours", "HOURS", "GPU-hours between interruptions (50700: Llama 3's)",
     take_seconds<&PlanRequest::interruption_gpu_hours>},
    {kRunTheme, "checkpoint-seconds", "S", "that a checkpoint stops the step (30, or by the two below)",
     take_positive<&PlanRequest::checkpoint_seconds>},
    {kRunTheme, "storage-gbps", "GBPS", "GB/s at which all GPUs together write a checkpoint",
     take_positive<&PlanRequest::storage_gbps>},
    {kRunTheme, "async-checkpoint", "BOOL",
     "written while the step goes on, behind a copy to host memory (false)",
     take_truth<&PlanRequest::async_checkpoint>},
    {kRunTheme, "restart-seconds", "S", "from an interruption to the next step (600)",
     take_seconds<&PlanRequest::restart_seconds>},
});

}  // namespace

std::span<const PlanOption> plan_options() { return kOptions; }

bool is_empty_cell(const std::string& cell) {
  return cell.empty() || cell == "-" || lower(cell) == "n/a" || lower(cell) == "na";
}

const PlanOption* find_plan_option(std::string_view name) {
  std::string wanted(name);
  std::ranges::replace(wanted, '_', '-');
  if (wanted == "gpus") wanted = "n-gpus";
  const auto* const found = std::ranges::find(kOptions, wanted, &PlanOption::name);
  return found == kOptions.end() ? nullptr : found;
}

}  // namespace collbench::program
