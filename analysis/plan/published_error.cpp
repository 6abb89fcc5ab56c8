#include "analysis/plan/published_error.hpp"

#include <algorithm>
#include <array>

namespace collbench::analysis {
namespace {

constexpr std::array<PublishedError, 8> kPublished{{
    {"FSDP", 39, 0.063, 0.126},
    {"TP and PP, A100", 44, 0.033, 0.073},
    {"TP, PP, CP; Blackwell, BF16", 9, 0.056, 0.074},
    {"TP, PP, CP; Blackwell, FP8 or FP4", 17, 0.075, 0.102},
    {"TP, PP, CP; H100, BF16", 30, 0.039, 0.152},
    {"TP, PP, CP; H100, FP8 or FP4", 27, 0.068, 0.110},
    {"ZeRO-3", 3, 0.054, 0.130},
    {"experts", 10, 0.181, 0.643},
}};

/// The kind by the same rules as kind_of() of scripts/plan-accuracy; empty: none.
std::string_view published_kind(const TrainingJob& job, std::string_view gpu) {
  // All three are of one paper: GPT-3 on 384 to 1,536 A100, DeepSpeed of 2021, data parallel alone. Others
  // are not of their kind.
  if (job.sharding == Sharding::zero3) {
    constexpr int kMinGpus = 384;
    const bool as_published = gpu.starts_with("A100") && job.tp == 1 && job.pp == 1 && job.dp >= kMinGpus &&
                              job.stack != nullptr && job.stack->zero3_of_2021;
    return as_published ? "ZeRO-3" : "";
  }
  if (job.is_fsdp() && job.pp == 1) return "FSDP";
  if (job.model.experts.count > 0) return "experts";
  if (gpu.starts_with("A100")) return "TP and PP, A100";
  const bool narrow = job.precision >= Precision::fp8;
  if (gpu == "H100 SXM") return narrow ? "TP, PP, CP; H100, FP8 or FP4" : "TP, PP, CP; H100, BF16";
  if (gpu.starts_with("GB") || gpu.starts_with("B"))
    return narrow ? "TP, PP, CP; Blackwell, FP8 or FP4" : "TP, PP, CP; Blackwell, BF16";
  return {};
}

}  // namespace

const PublishedError* published_error(const TrainingJob& job, std::string_view gpu) {
  const std::string_view kind = published_kind(job, gpu);
  const auto* const found = std::find_if(kPublished.begin(), kPublished.end(),
                                         [&](const PublishedError& each) { return each.kind == kind; });
  return found == kPublished.end() ? nullptr : found;
}

}  // namespace collbench::analysis
