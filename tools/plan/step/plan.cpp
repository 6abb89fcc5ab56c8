#include "tools/plan/step/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "tools/plan/step/group_time.hpp"
#include "tools/plan/step/planned_machine.hpp"
#include "tools/plan/step/search.hpp"

namespace collbench::analysis {
namespace {

constexpr double kSecondsPerHour = 3600;
void require_schedule(const PlanRequest& request, const TrainingJob& job) {
  if (!request.interleaved || *request.interleaved == (job.vpp > 1)) return;
  throw usage_error("--schedule",
                    job.vpp > 1 ? fmt::format("1f1b has no chunks, and --vpp is {}", job.vpp)
                                : "interleaved needs chunks of a stage, and --vpp is 1",
                    job.vpp > 1 ? "leave one of them out" : "give --vpp 2 or more");
}

std::vector<PlacedGroup> placement_of(const TrainingJob& job, const GpuCluster& machine) {
  std::vector<PlacedGroup> placed;
  for (const GroupKind kind :
       {GroupKind::tensor, GroupKind::context, GroupKind::expert, GroupKind::data, GroupKind::shard,
        GroupKind::replicas, GroupKind::same_experts, GroupKind::stages}) {
    // What a step runs: sharded parameters in place of data parallelism, or experts beside it.
    const bool sharded = kind == GroupKind::shard || kind == GroupKind::replicas;
    if (sharded != job.is_fsdp() && (sharded || kind == GroupKind::data)) continue;
    if (kind == GroupKind::same_experts && (job.is_fsdp() || job.model.experts.count == 0)) continue;
    const std::vector<RankRun> runs = group_runs(job, kind);
    if (runs.empty()) continue;
    const DomainRuns domains = domain_runs(runs, machine.ranks_per_node * machine.nodes_per_domain);
    const RankGroup group = rank_group(machine, job, kind);
    placed.push_back({.kind = kind,
                      .ranks = group_size(runs),
                      .first_ranks = first_ranks(runs, kShownRanks),
                      .ranks_in_domain = domains.ranks_in_domain,
                      .domains = domains.domains(),
                      .crossings = group.crossings,
                      .fabric_share = group.fabric_share});
  }
  return placed;
}

void require_memory(const TrainingPlan& plan, const PlanRequest& request, const GpuCluster& node) {
  if (request.may_exceed_memory || plan.memory_part() <= kRefusedOfCapacity) return;
  const TrainingJob& job = plan.job;
  throw usage_error(
      "memory",
      fmt::format("it does not fit: {:.0f} of {:.0f} GB per GPU with tp {}, pp {}, cp {}, mbs {}",
                  plan.memory.sum() / 1e9, plan.memory_capacity_bytes / 1e9, job.tp, job.pp, job.cp,
                  job.micro_batch),
      request.names_a_fit ? way_to_fit(request, plan.job, node) : "split it more, or see --best");
}

void require_tokens_for_prices(const PlanRequest& request) {
  if (request.async_checkpoint && !request.storage_gbps)
    throw usage_error("--async-checkpoint", "how long a checkpoint is written is not known",
                      "give --storage-gbps too");
  if (request.tokens || request.prices_a_day || (!request.price_per_gpu_hour && !request.price_per_kwh))
    return;
  throw usage_error(request.price_per_gpu_hour ? "--price" : "--price-kwh",
                    "the dollars of a run need the number of its tokens", "give --tokens too");
}

void fill_utilization(TrainingPlan& plan) {
  const TrainingJob& job = plan.job;
  const double tokens = static_cast<double>(job.global_batch) * job.sequence;
  plan.step_seconds = plan.step.seconds();
  plan.tokens_per_second_per_gpu = tokens / plan.step_seconds / job.gpus();
  const double recompute = job.recompute == Recompute::full ? 4.0 / 3 : 1;
  const auto part_of_peak = [&](FlopConvention convention) {
    return plan.tokens_per_second_per_gpu * flops_per_token(job.model, job.sequence, convention, recompute) /
           plan.peak_flops;
  };
  plan.mfu = part_of_peak(FlopConvention::full_attention);
  plan.mfu_causal = part_of_peak(FlopConvention::causal);
  plan.hfu = part_of_peak(FlopConvention::hardware);
  // Attention's forward products once more: 4·L·a·s, where the conventions differ by 6·L·a·s.
  if (job.recompute == Recompute::selective) plan.hfu += 4.0 / 6 * (plan.mfu - plan.mfu_causal);
}

std::vector<Sensitivity> sensitivity_of(const TrainingJob& job, const GpuCluster& machine,
                                        const ComputeRates& rates, const Step& step,
                                        const MeasuredCollectives* measured) {
  std::vector<Sensitivity> all;
  for (const StepTerm& term : step.terms) {
    PartScales half;
    half.factor[static_cast<std::size_t>(term.part)] = 0.5;
    all.push_back({term.part, step_time(job, machine, rates, half, measured).seconds()});
  }
  std::ranges::sort(all, [](const Sensitivity& a, const Sensitivity& b) {
    return std::pair(a.step_seconds, a.part) < std::pair(b.step_seconds, b.part);
  });
  return all;
}

std::string bound_in_words(const TrainingPlan& plan) {
  const auto largest = std::ranges::max_element(plan.step.terms, {}, &StepTerm::exposed_seconds);
  const Sensitivity& best = plan.sensitivity.front();
  const double gain = 100 * (plan.step_seconds - best.step_seconds) / plan.step_seconds;
  std::string text =
      fmt::format("{} {} {:.0f} % of the step", name(largest->part),
                  largest->part == StepPart::products || is_collective(largest->part) ? "are" : "is",
                  100 * largest->exposed_seconds / plan.step_seconds);
  double collectives = 0;
  for (const StepTerm& term : plan.step.terms)
    collectives += is_collective(term.part) ? term.exposed_seconds : 0;
  text += fmt::format(", exposed collectives {:.1f} %. Half the cost of {} would take {:.1f} % off it",
                      100 * collectives / plan.step_seconds, name(best.part), gain);
  const auto collective = std::ranges::find_if(
      plan.sensitivity, [](const Sensitivity& each) { return is_collective(each.part); });
  if (collective != plan.sensitivity.end() && collective->part != best.part) {
    text += fmt::format("; of the network's parts {} matter most: {:.1f} %", name(collective->part),
                        100 * (plan.step_seconds - collective->step_seconds) / plan.step_seconds);
  }
  return text + ".";
}

std::optional<RunCost> cost_of(const PlanRequest& request, const TrainingPlan& plan) {
  if (!request.tokens) return std::nullopt;
  const double gpus = plan.job.gpus();
  RunCost cost;
  cost.tokens = *request.tokens;
  const double hours = cost.tokens / (plan.tokens_per_second_per_gpu * gpus) / kSecondsPerHour;
  cost.days = hours / 24;
  cost.gpu_hours = hours * gpus;
  if (request.price_per_gpu_hour) cost.dollars = cost.gpu_hours * *request.price_per_gpu_hour;
  cost.megawatt_hours = hours * plan.megawatts;
  if (request.price_per_kwh) cost.energy_dollars = cost.megawatt_hours * 1e3 * *request.price_per_kwh;
  return cost;
}

constexpr double kCheckpointBytes = 14;  ///< of a parameter: 2 in BF16; 4 in FP32 with 8 of Adam's

Checkpoint checkpoint_of(const PlanRequest& request, const TrainingJob& job, const GpuCluster& node) {
  Checkpoint checkpoint{.bytes = kCheckpointBytes * count_parameters(job.model).total};
  double stop = checkpoint.stop_seconds;
  if (request.storage_gbps) stop = checkpoint.bytes / (*request.storage_gbps * 1e9);
  if (request.async_checkpoint) {
    checkpoint.write_seconds = std::exchange(stop, checkpoint.stop_seconds);
    if (node.gpu_path > 0) stop = checkpoint.bytes / job.gpus() / (node.gpu_path * 1e9);
  }
  checkpoint.stop_seconds = request.checkpoint_seconds.value_or(stop);
  return checkpoint;
}

}  // namespace

Goodput goodput(double gpus, double interruption_gpu_hours, const Checkpoint& checkpoint,
                double restart_seconds) {
  const double mtbf = interruption_gpu_hours * kSecondsPerHour / gpus;
  const double stop = checkpoint.stop_seconds;
  const double part = std::sqrt(stop / (2 * mtbf));
  const double best = part < 1 ? 2 * mtbf * part * (1 + part / 3 + part * part / 9) - stop : mtbf;
  const double interval = std::max(best, checkpoint.write_seconds);
  const double again = (restart_seconds + checkpoint.write_seconds) / mtbf;
  return {mtbf, interval, interval / (mtbf * std::exp(again) * std::expm1((interval + stop) / mtbf))};
}

TrainingPlan training_plan(const PlanRequest& request, const GpuCluster& node) {
  require_tokens_for_prices(request);
  const PlannedMachine machine = planned_machine(request, node);
  const ComputeRates rates = machine.rates();
  TrainingPlan plan;
  plan.topology = request.topology;
  plan.gpu = machine.gpu.name;
  plan.gpus_per_node = machine.node.ranks_per_node;
  plan.nodes = machine.nodes();
  plan.job = complete_job(request, machine.gpus, machine.domain(), plan.defaults);
  require_schedule(request, plan.job);
  if (const auto illegal = why_illegal(plan.job))
    throw usage_error(illegal->option, illegal->what, illegal->next_step);
  plan.domain = machine.domain();
  plan.fabric = machine.node.fabric;
  plan.placement = placement_of(plan.job, machine.node);
  plan.peak_flops = machine.peak_flops;
  plan.memory = memory_use(plan.job);
  plan.memory_capacity_bytes = machine.gpu.hbm_bytes;
  // The published steps were planned without a record: their error is not that of a plan with one.
  // None of them ran without bubbles either.
  if (!request.measured && !plan.job.is_zero_bubble())
    plan.published = published_error(plan.job, machine.gpu.name, request.stack != nullptr);
  if (plan.published != nullptr && plan.published->most_gpus < machine.gpus) plan.published = nullptr;
  require_memory(plan, request, node);
  plan.measured = request.measured;
  plan.step = step_time(plan.job, machine.node, rates, {}, plan.measured.get());
  if (plan.measured) require_measured(*plan.measured, plan.step);
  fill_utilization(plan);
  plan.sensitivity = sensitivity_of(plan.job, machine.node, rates, plan.step, plan.measured.get());
  plan.bound = bound_in_words(plan);
  plan.megawatts = machine.gpus * machine.server_watts() * request.pue / 1e6;
  plan.cost = cost_of(request, plan);
  plan.checkpoint = checkpoint_of(request, plan.job, node);
  plan.goodput =
      goodput(machine.gpus, request.interruption_gpu_hours, plan.checkpoint, request.restart_seconds);
  return plan;
}

}  // namespace collbench::analysis
