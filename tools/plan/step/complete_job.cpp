#include "tools/plan/step/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>

#include "base/error.hpp"

namespace collbench::analysis {
namespace {

/// The product, or kManyGpus where it is larger: three options of ten million each do not fit into 64 bits.
constexpr std::int64_t kManyGpus = 1'000'000'000'000'000;
std::int64_t bounded_product(std::initializer_list<std::int64_t> factors) {
  std::int64_t product = 1;
  for (const std::int64_t factor : factors) {
    if (product >= kManyGpus / factor) return kManyGpus;
    product *= factor;
  }
  return product;
}

/// What is given, or the default, which is noted.
template <typename Value, typename Words>
Value given_or(const std::optional<Value>& given, Value usual, const char* option, const Words& words,
               const char* reason, std::vector<TakenDefault>& defaults) {
  if (given) return *given;
  defaults.push_back({option, fmt::format("{}", words), reason});
  return usual;
}

int count_or(const std::optional<int>& given, int usual, const char* option, const char* reason,
             std::vector<TakenDefault>& defaults) {
  return given_or(given, usual, option, usual, reason, defaults);
}

/// By how the step is split, on any GPU: today's software runs on an A100 too, and what ran there in 2021
/// (megatron-2021, without FlashAttention) is taken only where it is asked for. With experts also by the
/// machine: NVIDIA's recipes for HGX have no CUDA graphs around them, and NCCL's AllToAll, but of DeepSeek's
/// experts over several nodes DeepEP (docs/notes/plan-other-steps.md).
const SoftwareStack& usual_stack(const TrainingJob& job, int domain, std::string& reason) {
  constexpr int kGpusOfHgx = 8;
  const bool split = job.tp > 1 || job.pp > 1;
  if (job.is_fsdp() && !split) {
    reason = "sharded parameters without tensor or pipeline parallelism";
    return find_stack("fsdp");
  }
  if (job.is_fsdp() && job.pp == 1) {
    reason = "sharded parameters with tensor parallelism";
    return find_stack("compiled");
  }
  reason = "the usual one today";
  if (job.model.experts.count == 0) return find_stack("megatron");
  if (domain > kGpusOfHgx) {
    reason = "CUDA graphs around the experts; megatron-eager has none, megatron-2026 one of the whole step";
    return find_stack("megatron");
  }
  const bool by_deep_ep = job.model.latent.kv_rank > 0 && job.ep > domain;
  reason = by_deep_ep ? "DeepEP, as NVIDIA's recipes for such models over several nodes of HGX"
                      : "no CUDA graphs around the experts, as NVIDIA's recipes for HGX; megatron has them";
  return find_stack(by_deep_ep ? "megatron" : "megatron-eager");
}

void fill_data_parallel(const PlanRequest& request, int gpus, TrainingJob& job) {
  const std::int64_t model_parallel = bounded_product({job.tp, job.pp, job.cp});
  if (model_parallel > gpus) {
    throw usage_error("--tp",
                      fmt::format("tp {} × pp {} × cp {} is more than {} GPUs", job.tp, job.pp, job.cp, gpus),
                      "give a parallelism whose product divides the number of GPUs");
  }
  if (gpus % model_parallel != 0) {
    throw usage_error("--tp",
                      fmt::format("tp {} × pp {} × cp {} = {} does not divide {} GPUs", job.tp, job.pp,
                                  job.cp, model_parallel, gpus),
                      "give a parallelism whose product divides the number of GPUs");
  }
  const auto rest = static_cast<int>(gpus / model_parallel);
  job.dp = request.dp.value_or(rest);
  if (job.dp == rest) return;
  throw usage_error("--dp",
                    fmt::format("tp {} × pp {} × cp {} × dp {} = {} GPUs, and the machine has {}", job.tp,
                                job.pp, job.cp, job.dp, model_parallel * job.dp, gpus),
                    fmt::format("give --dp {} or leave it out", rest));
}

/// Samples of a step where none are given: the usual ones, rounded up to whole micro-batches of all ranks.
int usual_batch(const TrainingJob& job) {
  const std::int64_t all_ranks = bounded_product({job.micro_batch, job.dp});
  const std::int64_t usual = usual_samples(job.sequence);
  const std::int64_t samples =
      all_ranks >= kManyGpus ? kManyGpus : (usual + all_ranks - 1) / all_ranks * all_ranks;
  if (samples <= std::numeric_limits<int>::max()) return static_cast<int>(samples);
  throw usage_error(
      "--mbs",
      fmt::format("micro-batches of {} on {} ranks are too many samples for a step", job.micro_batch, job.dp),
      "give a smaller micro-batch");
}

std::string batch_reason(const TrainingJob& job, int samples) {
  const bool rounded = samples != usual_samples(job.sequence);
  return rounded ? "4 Mi tokens a step, rounded up to micro-batches of all ranks" : "4 Mi tokens a step";
}

}  // namespace

int usual_samples(int sequence) {
  constexpr int kUsualBatchTokens = 4 << 20;
  return std::max(1, kUsualBatchTokens / sequence);
}

TrainingJob complete_job(const PlanRequest& request, int gpus, int domain,
                         std::vector<TakenDefault>& defaults) {
  TrainingJob job;
  job.model = request.model;
  const int sequence = request.usual_sequence > 0 ? request.usual_sequence : 4096;
  job.sequence =
      count_or(request.sequence, sequence, "seq",
               request.usual_sequence > 0 ? "what the model was trained with" : "a usual length", defaults);
  job.tp = count_or(request.tp, 1, "tp", "no tensor parallelism", defaults);
  job.pp = count_or(request.pp, 1, "pp", "no pipeline", defaults);
  job.cp = count_or(request.cp, 1, "cp", "no context parallelism", defaults);
  if (job.pp > 1) job.vpp = count_or(request.vpp, 1, "vpp", "no interleaving", defaults);
  if (job.pp == 1) job.vpp = request.vpp.value_or(1);
  job.ep = job.model.experts.count > 0 ? count_or(request.ep, 1, "ep", "all experts on every rank", defaults)
                                       : request.ep.value_or(1);
  fill_data_parallel(request, gpus, job);
  job.micro_batch = count_or(request.micro_batch, 1, "mbs", "one sample", defaults);
  job.global_batch = request.global_batch.value_or(0);
  if (!request.global_batch) {
    job.global_batch = usual_batch(job);
    defaults.push_back({"gbs", fmt::to_string(job.global_batch), batch_reason(job, job.global_batch)});
  }
  job.sharding = given_or(request.sharding, Sharding::optimizer, "zero", 1,
                          "Megatron's distributed optimizer", defaults);
  job.shard_group = request.shard_group;
  job.precision =
      given_or(request.precision, Precision::bf16, "precision", "bf16", "the usual one", defaults);
  job.recompute =
      given_or(request.recompute, Recompute::none, "recompute", "none", "nothing is recomputed", defaults);
  job.sequence_parallel = request.sequence_parallel;
  job.attention = request.attention;
  job.tp_overlap = request.tp_overlap;
  job.ep_overlap = request.ep_overlap;
  job.schedule = request.schedule;
  job.order = request.order;
  job.stack = request.stack;
  if (job.stack == nullptr) {
    std::string reason;
    job.stack = &usual_stack(job, domain, reason);
    defaults.push_back({"stack", std::string(job.stack->name), reason});
  }
  return job;
}

}  // namespace collbench::analysis
