#include "tools/plan/step/plan.hpp"

#include <algorithm>
#include <array>

#include "topology/catalog/gpus.hpp"

namespace collbench::analysis {
namespace {

constexpr std::array<PublishedError, 9> kPublished{{
    {"FSDP", 1024, 39, 0.043, 0.120},
    {"TP and PP, A100", 3072, 45, 0.036, 0.092},
    {"TP, PP, CP; Blackwell, BF16", 512, 9, 0.034, 0.052},
    {"TP, PP, CP; Blackwell, FP8 or FP4", 512, 17, 0.102, 0.167},
    {"TP, PP, CP; H100, BF16", 6144, 27, 0.041, 0.075},
    {"TP, PP, CP; H100, BF16, 8,192 GPUs and more", 16384, 3, 0.157, 0.166},
    {"TP, PP, CP; H100, FP8 or FP4", 2304, 27, 0.057, 0.126},
    {"ZeRO-3", 1536, 3, 0.101, 0.127},
    {"experts, Blackwell; stack told", 512, 10, 0.098, 0.386},
}};

/// Whether the published steps of the kind ran on such software: those on A100 of Megatron-LM and
/// Megatron-DeepSpeed of 2021 and 2022, those on later GPUs of Megatron-Core.
bool has_published_stack(const TrainingJob& job, bool of_2021) {
  return of_2021 ? job.stack->attention == AttentionKernel::unfused : job.stack->fuses_accumulation;
}

/// The kind by the same rules as kind_of() of research/plan-accuracy; empty: none.
std::string_view published_kind(const TrainingJob& job, std::string_view gpu, bool stack_given) {
  constexpr int kLargeRun = 8192;
  // All three are of one paper: GPT-3 on 384 to 1,536 A100, DeepSpeed of 2021, data parallel alone. Others
  // are not of their kind.
  if (job.sharding == Sharding::zero3) {
    constexpr int kMinGpus = 384;
    const bool as_published = gpu.starts_with("A100") && job.tp == 1 && job.pp == 1 && job.dp >= kMinGpus &&
                              job.stack->zero3_of_2021;
    return as_published ? "ZeRO-3" : "";
  }
  const bool experts = job.model.experts.count > 0;
  if (job.is_fsdp() && job.pp == 1) return experts ? "" : "FSDP";
  const topology::GpuModel* const model = topology::find_gpu_model(gpu);
  const bool blackwell = model != nullptr && model->generation() >= topology::GpuGeneration::blackwell;
  const bool a100 = gpu.starts_with("A100");
  if (!has_published_stack(job, a100)) return {};
  if (experts) return blackwell && stack_given ? "experts, Blackwell; stack told" : "";
  if (a100) return "TP and PP, A100";
  const bool narrow = job.precision >= Precision::fp8;
  if (gpu == "H100 SXM" && !narrow && job.gpus() >= kLargeRun)
    return "TP, PP, CP; H100, BF16, 8,192 GPUs and more";
  if (gpu == "H100 SXM") return narrow ? "TP, PP, CP; H100, FP8 or FP4" : "TP, PP, CP; H100, BF16";
  if (blackwell) return narrow ? "TP, PP, CP; Blackwell, FP8 or FP4" : "TP, PP, CP; Blackwell, BF16";
  return {};
}

}  // namespace

const PublishedError* published_error(const TrainingJob& job, std::string_view gpu, bool stack_given) {
  const std::string_view kind = published_kind(job, gpu, stack_given);
  const auto* const found = std::ranges::find(kPublished, kind, &PublishedError::kind);
  return found == kPublished.end() ? nullptr : found;
}

}  // namespace collbench::analysis
