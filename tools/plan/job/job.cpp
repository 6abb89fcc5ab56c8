#include "tools/plan/job/job.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>

#include "base/error.hpp"

namespace collbench::analysis {
namespace {

constexpr std::array<SoftwareStack, 8> kStacks{{
    {"megatron", AttentionKernel::newest, true, true, true, true, true, false, 4, false, true, true, true,
     true, ExpertRun::graphs_around, false,
     "Megatron-Core of 2023 and later: fused attention, sequence parallelism, overlapped collectives; with "
     "experts CUDA graphs around them, and DeepEP or HybridEP"},
    {"megatron-eager", AttentionKernel::newest, true, true, true, true, true, false, 4, false, true, true,
     true, true, ExpertRun::launched, false,
     "the same, with experts without CUDA graphs and by NCCL's AllToAll"},
    {"megatron-2026", AttentionKernel::newest, true, true, true, true, true, false, 4, false, true, true,
     true, true, ExpertRun::whole_graph, false,
     "the same, with experts the whole step as one CUDA graph and AllToAll overlapped"},
    {"megatron-2021", AttentionKernel::unfused, false, false, false, false, true, false, 2, true, false, true,
     false, true, ExpertRun::launched, true,
     "Megatron-LM of the papers on A100: no FlashAttention, nothing overlapped"},
    {"megatron-deepspeed", AttentionKernel::unfused, false, false, false, false, true, true, 2, true, false,
     true, false, false, ExpertRun::launched, true,
     "Megatron-DeepSpeed as BLOOM ran it: besides, the host waits for each kernel"},
    {"fsdp", AttentionKernel::flash2, true, false, true, true, false, false, 4, false, false, false, true,
     false, ExpertRun::grouped, false, "PyTorch FSDP without a compiler"},
    {"compiled", AttentionKernel::flash2, true, false, true, true, true, false, 4, false, false, true, true,
     true, ExpertRun::grouped, false, "torchtitan with torch.compile"},
    {"maxtext", AttentionKernel::newest, true, false, true, true, true, false, 4, false, false, true, true,
     true, ExpertRun::compiled, false, "MaxText: XLA compiles, attention is cuDNN's"},
}};

/// Qi et al. 2023, section 2: bubble and memory are of at least as many micro-batches.
std::optional<Illegal> why_no_zero_bubble(const TrainingJob& job) {
  const auto illegal = [&job](const std::string& what, const char* next_step) {
    return Illegal{"--schedule", fmt::format("{} {}", schedule_name(job), what), next_step};
  };
  if (job.pp < 2) return illegal("needs at least two stages", "give --pp 2 or more, or leave --schedule out");
  if (job.vpp > 1)
    return illegal(fmt::format("has no chunks, and --vpp is {}", job.vpp), "leave --vpp or --schedule out");
  if (job.recompute == Recompute::full)
    return illegal(
        "runs the weights' part of a backward pass later, and recomputing everything keeps nothing for it",
        "give another --recompute");
  if (job.schedule == Schedule::dualpipe && job.pp % 2 != 0)
    return illegal(fmt::format("needs an even number of stages, not {}", job.pp), "give an even --pp");
  if (job.micro_batches() < job.pp)
    return illegal(fmt::format("needs as many micro-batches as stages, {}, and a rank has {}", job.pp,
                               job.micro_batches()),
                   "give a larger --gbs, a smaller --mbs or fewer stages");
  return std::nullopt;
}

/// Megatron-Core's parallel_state.py asserts it: stages of the dense ranks have to be those of the experts.
std::optional<Illegal> why_no_order(const TrainingJob& job) {
  const bool last = job.order.back() == Dimension::pp;
  if (last || job.pp == 1 || job.ep == 1 || std::int64_t{job.tp} * job.cp == job.ep) return std::nullopt;
  return Illegal{"--order",
                 fmt::format("{} with experts over {} ranks and tp {} × cp {}: their stages would not be "
                             "those of the other layers",
                             words(job.order), job.ep, job.tp, job.cp),
                 "put pp last, or give --ep as large as tp × cp"};
}

}  // namespace

const SoftwareStack& find_stack(const std::string& name) {
  const auto* const found = std::ranges::find(kStacks, name, &SoftwareStack::name);
  if (found != kStacks.end()) return *found;
  std::vector<std::string_view> names;
  for (const SoftwareStack& stack : kStacks) names.push_back(stack.name);
  throw usage_error("--stack", fmt::format("'{}' is not a known software stack", name),
                    fmt::format("choose {}", fmt::join(names, ", ")));
}

int gradients_bytes(const TrainingJob& job) {
  return job.precision == Precision::fp16 ? job.stack->gradient_bytes : 4;
}

std::string_view name(Precision precision) {
  constexpr std::array<std::string_view, 5> kNames{"fp16", "bf16", "fp8", "fp8-rowwise", "nvfp4"};
  return kNames.at(static_cast<std::size_t>(precision));
}

std::string_view name(Recompute recompute) {
  constexpr std::array<std::string_view, 4> kNames{"none", "selective", "modules", "full"};
  return kNames.at(static_cast<std::size_t>(recompute));
}

std::string_view name(Sharding sharding) {
  constexpr std::array<std::string_view, 6> kNames{"ZeRO-0", "ZeRO-1",    "ZeRO-2",
                                                   "ZeRO-3", "FSDP grad", "FSDP full"};
  return kNames.at(static_cast<std::size_t>(sharding));
}

std::string_view schedule_name(const TrainingJob& job) {
  if (job.schedule == Schedule::dualpipe) return "dualpipe";
  if (job.schedule == Schedule::zb_h1) return "zb-h1";
  return job.vpp > 1 ? "interleaved" : "1f1b";
}

std::optional<Illegal> why_illegal(const TrainingJob& job) {
  const ModelShape& model = job.model;
  const auto divides = [](std::int64_t whole, std::int64_t part) { return part > 0 && whole % part == 0; };
  const auto undivided = [&](const char* option, const std::string& what, std::int64_t part,
                             const std::string& next_step) {
    return Illegal{option, fmt::format("{} do not divide by {}", what, part), "give " + next_step};
  };
  if (!divides(model.heads, job.tp))
    return undivided("--tp", fmt::format("{} heads", model.heads), job.tp,
                     "a tensor parallelism that divides the heads");
  if (!divides(model.ffn, job.tp))
    return undivided("--tp", fmt::format("{} columns of the MLP", model.ffn), job.tp,
                     "a tensor parallelism that divides the FFN width");
  if (std::int64_t{job.pp} * job.vpp > model.layers + 2) {
    return Illegal{
        "--pp", fmt::format("{} stages × {} chunks are more than {} layers", job.pp, job.vpp, model.layers),
        "give fewer stages or chunks"};
  }
  if (job.vpp > 1 && job.pp < 2) {
    return Illegal{"--vpp", "interleaving needs at least two stages",
                   "give --pp 2 or more, or leave --vpp out"};
  }
  if (!divides(job.global_batch, std::int64_t{job.micro_batch} * job.dp)) {
    return Illegal{"--gbs",
                   fmt::format("{} samples do not divide by {} data-parallel ranks × {} of a micro-batch",
                               job.global_batch, job.dp, job.micro_batch),
                   "give a global batch that is a multiple of both"};
  }
  if (!divides(job.sequence, job.cp))
    return undivided("--cp", fmt::format("{} tokens", job.sequence), job.cp,
                     "a context parallelism that divides the sequence");
  if (job.ep > 1 && model.experts.count == 0) {
    return Illegal{"--ep", "the model has no experts", "leave --ep out"};
  }
  if (job.ep > 1 && !divides(model.experts.count, job.ep))
    return undivided("--ep", fmt::format("{} experts", model.experts.count), job.ep,
                     "an expert parallelism that divides the experts");
  const std::int64_t stage_gpus = std::int64_t{job.tp} * job.cp * job.dp;
  if (!divides(stage_gpus, job.ep)) {
    return undivided("--ep", fmt::format("{} GPUs of a stage", stage_gpus), job.ep,
                     "an expert parallelism that divides them: expert groups lie within a stage");
  }
  if (job.shard_group > 1 && !divides(job.dp, job.shard_group)) {
    return Illegal{
        "--fsdp",
        fmt::format("{} data-parallel ranks do not divide by groups of {}", job.dp, job.shard_group),
        "give a group that divides them"};
  }
  if (auto illegal = job.is_zero_bubble() ? why_no_zero_bubble(job) : std::nullopt) return illegal;
  return why_no_order(job);
}

std::vector<int> layers_of_stages(const TrainingJob& job) {
  const int stages = job.pp;
  std::vector<int> layers(static_cast<std::size_t>(stages), job.model.layers / stages);
  int rest = job.model.layers % stages;
  if (rest == 0) return layers;
  // Embedding and loss as layers: the first and last stage hold one less than the others.
  for (std::size_t stage = 1; rest > 0 && stage + 1 < layers.size(); ++stage, --rest) ++layers[stage];
  if (rest > 0) layers.front() += rest;
  return layers;
}

}  // namespace collbench::analysis
