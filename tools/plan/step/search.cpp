#include "tools/plan/step/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "tools/plan/step/memory.hpp"
#include "tools/plan/step/planned_machine.hpp"
#include "tools/plan/step/step.hpp"

namespace collbench::analysis {
namespace {

constexpr int kMaxMicroBatch = 16;
/// Shorter parts of a sample leave attention kernels at half of their rate or less (layer_time.cpp).
constexpr int kMinContextPart = 512;

/// Those of `whole` up to `maximum`, ascending. By pairs: up to the root of `whole`.
std::vector<int> divisors(int whole, int maximum) {
  std::vector<int> found;
  for (int each = 1; std::int64_t{each} * each <= whole; ++each) {
    if (whole % each != 0) continue;
    found.push_back(each);
    if (each != whole / each) found.push_back(whole / each);
  }
  std::ranges::sort(found);
  found.erase(std::ranges::upper_bound(found, maximum), found.end());
  return found;
}

std::vector<int> powers_of_two(int maximum) {
  std::vector<int> powers;
  for (int each = 1; each <= maximum && each > 0; each *= 2) powers.push_back(each);
  return powers;
}

/// What is given alone, or all that can be chosen.
template <typename Value>
std::vector<Value> given_or_all(const std::optional<Value>& given, std::vector<Value> all) {
  return given ? std::vector<Value>{*given} : std::move(all);
}

int sequence_of(const PlanRequest& request) {
  std::vector<TakenDefault> ignored;
  PlanRequest alone = request;
  alone.tp = alone.pp = alone.cp = alone.dp = alone.ep = 1;
  return complete_job(alone, 1, 1, ignored).sequence;
}

std::vector<int> tensor_sizes(const PlanRequest& request, const PlannedMachine& machine) {
  const ModelShape& model = request.model;
  int common = std::gcd(model.heads, model.kv_heads);
  if (model.ffn > 0) common = std::gcd(common, model.ffn);
  // A group that does not divide an NVLink domain would straddle two of them.
  if (machine.gpus > machine.domain()) common = std::gcd(common, machine.domain());
  if (request.stack != nullptr && !request.stack->splits_tensors) common = 1;
  return given_or_all(request.tp, divisors(std::gcd(common, machine.gpus), machine.domain()));
}

std::vector<int> context_sizes(const PlanRequest& request, int left, int sequence) {
  const bool splits = request.stack == nullptr || request.stack->splits_context;
  return given_or_all(request.cp, powers_of_two(splits ? std::min(left, sequence / kMinContextPart) : 1));
}

std::vector<Sharding> shardings(const PlanRequest& request, int stages) {
  if (request.sharding || stages > 1) return {request.sharding.value_or(Sharding::optimizer)};
  return {Sharding::optimizer, Sharding::fsdp_full};
}

/// Adds the splits of the context, of experts and of sharding, where tp and pp leave `left` GPUs.
void add_splits(PlanRequest split, const PlanRequest& request, const std::vector<int>& expert_groups,
                int left, int sequence, std::vector<PlanRequest>& splits) {
  const int stage = split.tp.value_or(1) * left;
  for (const int cp : context_sizes(request, left, sequence)) {
    if (left % cp != 0 || (cp > 1 && sequence % (2 * cp) != 0)) continue;
    if (request.dp && *request.dp != left / cp) continue;
    split.cp = cp;
    for (const int ep : expert_groups) {
      if (stage % ep != 0) continue;
      split.ep = ep;
      for (const Sharding sharding : shardings(request, split.pp.value_or(1))) {
        split.sharding = sharding;
        splits.push_back(split);
      }
    }
  }
}

/// Megatron-LM of 2021 gives every stage as many layers (v2.5, megatron/model/transformer.py: "num_layers
/// must be divisible by pipeline_model_parallel_size"); DeepSpeed's pipeline, on which BLOOM ran, need not.
bool needs_even_stages(const PlanRequest& request) {
  return request.stack != nullptr && request.stack->keeps_of_2021 && !request.stack->blocking;
}

/// Splits that differ in more than micro-batches, chunks and what is recomputed.
std::vector<PlanRequest> outer_splits(const PlanRequest& request, const PlannedMachine& machine) {
  std::vector<PlanRequest> splits;
  const int sequence = sequence_of(request);
  // Sharded parameters are gathered for every micro-batch, of which a pipeline needs many.
  const bool gathers = request.sharding.value_or(Sharding::none) >= Sharding::zero3;
  const int most_stages = gathers ? 1 : request.model.layers;
  const int experts = std::max(1, request.model.experts.count);
  const std::vector<int> expert_groups = given_or_all(request.ep, divisors(experts, experts));
  PlanRequest split = request;
  for (const int tp : tensor_sizes(request, machine)) {
    if (machine.gpus % tp != 0) continue;
    split.tp = tp;
    for (const int pp : given_or_all(request.pp, divisors(machine.gpus / tp, most_stages))) {
      if (machine.gpus / tp % pp != 0) continue;
      if (needs_even_stages(request) && request.model.layers % pp != 0) continue;
      split.pp = pp;
      add_splits(split, request, expert_groups, machine.gpus / tp / pp, sequence, splits);
    }
  }
  return splits;
}

/// Chunks that stages divide into, embedding and loss counted as layers or not. Interleaving takes
/// micro-batches in groups of as many as there are stages (Megatron-LM schedules.py).
std::vector<int> chunk_counts(const PlanRequest& request, const TrainingJob& job) {
  if (request.vpp) return {*request.vpp};
  std::vector<int> counts;
  if (!request.interleaved.value_or(false)) counts.push_back(1);
  if (!request.interleaved.value_or(true) || job.is_zero_bubble()) return counts;
  if (job.pp < 2 || !job.stack->interleaves || job.micro_batches() % job.pp != 0) return counts;
  const int layers = job.model.layers;
  for (int chunks = 2; chunks <= layers / job.pp + 1; ++chunks) {
    const int all = job.pp * chunks;
    if (layers % all == 0 || (layers + 2) % all == 0) counts.push_back(chunks);
  }
  return counts;
}

/// From the least on; selective recomputation saves nothing where attention is fused, and came with sequence
/// parallelism (Korthikanti et al. 2022).
std::vector<Recompute> recomputations(const PlanRequest& request, const TrainingJob& job) {
  if (request.recompute) return {*request.recompute};
  if (job.attention_kernel() == AttentionKernel::unfused && job.has_sequence_parallel())
    return {Recompute::none, Recompute::selective, Recompute::full};
  return {Recompute::none, Recompute::full};
}

struct TimedJob {
  TrainingJob job;
  double seconds = 0;
};

/// The fastest of the micro-batches, chunks and recomputations of one split.
std::optional<TimedJob> fastest_inside(const PlanRequest& split, const PlannedMachine& machine,
                                       double part_of_memory, SplitSearch& counts) {
  std::vector<TakenDefault> ignored;
  TrainingJob job = complete_job(split, machine.gpus, machine.domain(), ignored);
  std::optional<TimedJob> fastest;
  const ComputeRates rates = machine.rates();
  const double most_memory = part_of_memory * machine.gpu.hbm_bytes;
  const std::vector<int> micro_batches = divisors(std::max(1, job.global_batch / job.dp), kMaxMicroBatch);
  for (const int samples : given_or_all(split.micro_batch, micro_batches)) {
    job.micro_batch = samples;
    job.vpp = 1;
    job.recompute = Recompute::none;
    if (job.global_batch % (static_cast<long>(samples) * job.dp) != 0) continue;
    for (const int chunks : chunk_counts(split, job)) {
      job.vpp = chunks;
      for (const Recompute recompute : recomputations(split, job)) {
        job.recompute = recompute;
        if (why_illegal(job)) break;
        ++counts.tried;
        if (!split.may_exceed_memory && memory_use(job).sum() > most_memory) continue;
        ++counts.fitting;
        const double seconds = step_time(job, machine.node, rates).seconds();
        if (!fastest || seconds < fastest->seconds) fastest = TimedJob{job, seconds};
        break;
      }
    }
  }
  return fastest;
}

/// The request that completes to this job; the stack stays as it is given or not.
PlanRequest request_of(PlanRequest request, const TrainingJob& job) {
  request.tp = job.tp, request.pp = job.pp, request.cp = job.cp;
  if (job.pp > 1) request.vpp = job.vpp;
  if (job.model.experts.count > 0) request.ep = job.ep;
  request.micro_batch = job.micro_batch;
  request.sharding = job.sharding;
  request.recompute = job.recompute;
  return request;
}

}  // namespace

int usual_global_batch(const PlanRequest& request) { return usual_samples(sequence_of(request)); }

SplitSearch fastest_splits(const PlanRequest& request, const GpuCluster& node, std::size_t count) {
  const PlannedMachine machine = planned_machine(request, node);
  SplitSearch found;
  std::vector<TimedJob> timed;
  for (const double part_of_memory : {kNearlyFull, 1.0}) {
    found = {};
    for (const PlanRequest& split : outer_splits(request, machine)) {
      if (auto fastest = fastest_inside(split, machine, part_of_memory, found))
        timed.push_back(std::move(*fastest));
    }
    if (!timed.empty()) break;
  }
  std::ranges::sort(timed, [](const TimedJob& a, const TimedJob& b) {
    return std::tie(a.seconds, a.job.tp, a.job.pp, a.job.cp, a.job.ep, a.job.sharding) <
           std::tie(b.seconds, b.job.tp, b.job.pp, b.job.cp, b.job.ep, b.job.sharding);
  });
  timed.resize(std::min(count, timed.size()));
  for (const TimedJob& each : timed) found.best.push_back(training_plan(request_of(request, each.job), node));
  return found;
}

std::string split_options(const TrainingJob& job) {
  constexpr std::array<std::string_view, 6> kShardings{"zero 0", "zero 1",    "zero 2",
                                                       "zero 3", "fsdp grad", "fsdp full"};
  std::string text = fmt::format("--tp {} --pp {}", job.tp, job.pp);
  if (job.vpp > 1) text += fmt::format(" --vpp {}", job.vpp);
  if (job.cp > 1) text += fmt::format(" --cp {}", job.cp);
  if (job.ep > 1) text += fmt::format(" --ep {}", job.ep);
  const std::string sharding = job.shard_group > 0
                                   ? fmt::format("fsdp {}", job.shard_group)
                                   : std::string(kShardings.at(static_cast<std::size_t>(job.sharding)));
  return text + fmt::format(" --mbs {} --{} --recompute {}", job.micro_batch, sharding, name(job.recompute));
}

std::string way_to_fit(const PlanRequest& request, const TrainingJob& refused, const GpuCluster& node) {
  PlanRequest search = request;
  if (!search.global_batch) search.global_batch = usual_global_batch(request);
  PlanRequest any_split = search;
  any_split.tp = any_split.pp = any_split.vpp = any_split.cp = any_split.ep = std::nullopt;
  any_split.dp = any_split.micro_batch = std::nullopt;
  any_split.sharding = std::nullopt;
  any_split.shard_group = 0;
  any_split.recompute = std::nullopt;
  any_split.stack = nullptr;
  for (PlanRequest* wanted : {&search, &any_split}) {
    const SplitSearch found = fastest_splits(*wanted, node, 1);
    if (found.best.empty()) continue;
    const TrainingPlan& plan = found.best.front();
    return fmt::format("{}give {}{} ({:.0f} of {:.0f} GB)",
                       wanted == &search ? "" : "nothing fits with the split that is given; ",
                       split_options(plan.job),
                       request.global_batch ? "" : fmt::format(" --gbs {}", plan.job.global_batch),
                       plan.memory.sum() / 1e9, plan.memory_capacity_bytes / 1e9);
  }
  return fmt::format("no split of it over {} GPUs fits: give more, or a larger type", refused.gpus());
}

}  // namespace collbench::analysis
