#include "tools/plan/step/step.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "tools/plan/step/memory.hpp"

namespace collbench::analysis {
namespace {

/// Everything that the terms are made of.
struct Layout {
  const TrainingJob& job;
  const ComputeRates& rates;
  const PartScales& scales;
  StepGroups groups;
};

/// Of a collective beside a computation: what is hidden, and what it costs the computation anyway.
struct Overlap {
  double exposed = 0;
  double hidden = 0;
};

Overlap overlap(double seconds, double least_exposed, double window, const Assumptions& assumed) {
  const double hidden = std::min((1 - least_exposed) * seconds, assumed.overlap_window * window);
  return {seconds - hidden + assumed.nccl_share * hidden, hidden};
}

double scaled(const Layout& layout, StepPart part, double seconds) {
  return layout.scales.of(part) * seconds;
}

KernelTime scaled(const Layout& layout, const KernelTime& time) {
  return {scaled(layout, StepPart::products, time.products),
          scaled(layout, StepPart::attention, time.attention),
          scaled(layout, StepPart::elementwise, time.elementwise)};
}

PassTime scaled(const Layout& layout, const PassTime& time) {
  return {scaled(layout, time.forward), scaled(layout, time.backward), scaled(layout, time.weights),
          scaled(layout, StepPart::launches, time.launching)};
}

/// A stage's work for one micro-batch.
struct StageTime {
  KernelTime kernels;
  double forward = 0;
  double backward = 0;
  double weights = 0;              ///< of the backward pass, what is for the weights' gradients
  double launches = 0;             ///< that the GPU waits for
  std::array<Overlap, 4> calls{};  ///< tp, cp, ep, pp
  std::array<CallTime, 4> sent{};

  [[nodiscard]] double sum() const {
    double seconds = kernels.sum() + launches;
    for (const Overlap& each : calls) seconds += each.exposed;
    return seconds;
  }
  /// Exposed collectives as the kernels: those of the backward pass are about twice those of the forward one.
  [[nodiscard]] StagePasses passes() const {
    const double part = forward + backward > 0 ? forward / (forward + backward) : 0;
    return {sum() * part, sum() * (1 - part), weights};
  }
};

constexpr std::array<StepPart, 4> kMicroBatchParts{StepPart::tp, StepPart::cp, StepPart::ep, StepPart::pp};

/// What a GPU waits for the host's launches of layers with experts. The host learns from the GPU how many
/// tokens each expert gets before it can launch their kernels, so that neither runs ahead of the other for
/// long: the longer of the two counts, and launch_exposed of the shorter one.
double launches_waited_for(double launching, double running, const Assumptions& assumed) {
  return std::max(0.0, launching - running) + assumed.launch_exposed * std::min(launching, running);
}

StageTime stage_time(const Layout& layout, double layers, bool has_head) {
  const TrainingJob& job = layout.job;
  const Assumptions& assumed = layout.rates.assumed;
  const double moe_part = static_cast<double>(expert_layers(job.model)) / job.model.layers;
  PassTime passes;
  double mixtures = 0;  // of layers with experts, their kernels
  for (const bool experts : {false, true}) {
    const double count = layers * (experts ? moe_part : 1 - moe_part);
    if (count <= 0) continue;
    const PassTime one_layer = scaled(layout, layer_time(job, layout.rates, experts));
    passes.forward += one_layer.forward.times(count);
    passes.backward += one_layer.backward.times(count);
    passes.weights += one_layer.weights.times(count);
    passes.launching += count * one_layer.launching;
    if (experts) mixtures = count * one_layer.sum();
  }
  if (has_head) {
    const PassTime head = scaled(layout, head_time(job, layout.rates));
    passes.forward += head.forward;
    passes.backward += head.backward;
    passes.weights += head.weights;
  }
  StageTime stage;
  stage.kernels = passes.forward;
  stage.kernels += passes.backward;
  stage.forward = passes.forward.sum();
  stage.backward = passes.backward.sum();
  stage.weights = passes.weights.sum();
  stage.sent = {layers * tensor_calls(job, layout.groups), layers * context_calls(job, layout.groups),
                layers * moe_part * expert_calls(job, layout.groups), stage_calls(job, layout.groups)};
  const double kernels = stage.kernels.sum();
  const auto seconds = [&](std::size_t at) {
    return scaled(layout, kMicroBatchParts.at(at), stage.sent.at(at).seconds);
  };
  stage.calls[0] = overlap(seconds(0), job.overlaps_tp() ? assumed.tp_exposed : 1, kernels, assumed);
  stage.calls[1] = overlap(seconds(1), 0, stage.kernels.attention, assumed);
  // A micro-batch's tokens are on their way while another computes: those of one of m have no other.
  const double alone = job.overlaps_ep() ? 1.0 / job.micro_batches() : 1;
  stage.calls[2] = overlap(seconds(2), alone, kernels, assumed);
  stage.launches = launches_waited_for(passes.launching, mixtures + seconds(2), assumed);
  const bool ahead = job.stack->overlaps_pp && job.vpp > 1;
  stage.calls[3] = overlap(seconds(3), ahead ? assumed.pp_exposed : 1, kernels, assumed);
  return stage;
}

StepTerm collective_term(StepPart part, const Overlap& time, CallTime sent, std::string_view operation,
                         const RankGroup& group) {
  return {.part = part,
          .exposed_seconds = time.exposed,
          .hidden_seconds = time.hidden,
          .bytes = sent.bytes,
          .calls = sent.calls,
          .collectives = std::move(sent.each),
          .operation = std::string(operation),
          .crosses = crossed_links(group)};
}

/// Parameters gathered before, and gradients reduced behind each layer, for every micro-batch.
StepTerm sharded_term(const Layout& layout, const StageTime& stage, double layers) {
  const TrainingJob& job = layout.job;
  const Assumptions& assumed = layout.rates.assumed;
  const StageParameters own = stage_parameters(job);
  const double layer = (own.dense + own.experts) / layers;
  const double gradient = gradients_bytes(job);
  const CallTime gather = layers * call(layout.groups.shard, OperationId::all_gather, kWireBytes * layer);
  CallTime reduce = layers * call(layout.groups.shard, OperationId::reduce_scatter, gradient * layer);
  const double shard_part = gradient * layer / std::max(1, layout.groups.shard.size);
  reduce = reduce + layers * call(layout.groups.replicas, OperationId::all_reduce, shard_part);
  const bool again = job.sharding != Sharding::fsdp_grad;
  const bool of_2021 = job.sharding == Sharding::zero3 && job.stack->zero3_of_2021;
  const double slower = of_2021 ? 1 / assumed.zero3_rate : 1;
  const double forward = scaled(layout, StepPart::dp, gather.seconds * slower);
  const double backward =
      scaled(layout, StepPart::dp, (reduce.seconds + (again ? gather.seconds : 0)) * slower);
  const Overlap before = overlap(forward, 1 / layers, stage.forward, assumed);
  const Overlap behind = overlap(backward, 1 / layers, stage.backward, assumed);
  const double m = job.micro_batches();
  return collective_term(StepPart::dp,
                         {m * (before.exposed + behind.exposed), m * (before.hidden + behind.hidden)},
                         m * ((again ? 2.0 : 1.0) * gather + reduce),
                         again ? "AllGather twice and ReduceScatter of every layer"
                               : "AllGather and ReduceScatter of every layer",
                         layout.groups.shard);
}

StepTerm replicated_term(const Layout& layout, const StageTime& stage) {
  const TrainingJob& job = layout.job;
  const Assumptions& assumed = layout.rates.assumed;
  const DataParallel calls = data_parallel(job, layout.groups);
  const bool hides = job.stack->overlaps_dp;
  // Gradients leave while the last micro-batch goes back, parameters arrive while the first goes forward.
  const Overlap behind =
      overlap(scaled(layout, StepPart::dp, calls.gradients.seconds), hides ? 0 : 1, stage.backward, assumed);
  const Overlap before =
      overlap(scaled(layout, StepPart::dp, calls.parameters.seconds), hides ? 0 : 1, stage.forward, assumed);
  return collective_term(StepPart::dp, {behind.exposed + before.exposed, behind.hidden + before.hidden},
                         calls.gradients + calls.parameters,
                         job.sharding == Sharding::none
                             ? "AllReduce of gradients"
                             : "ReduceScatter of gradients, AllGather of parameters",
                         layout.groups.dp);
}

/// Of what one of the other stages takes for a micro-batch, what the busiest one waits. Narayanan et al.
/// 2021, section 2.2: F + B, over the chunks. DeepSeek-V3, table 2 (DualPipe). Qi et al. 2023, table 1, where
/// B is the part for the inputs and W that for the weights: F + B − W.
double waited_for(const TrainingJob& job, const StageTime& stage) {
  if (!job.is_zero_bubble()) return stage.sum() / job.vpp;
  // Where W takes longer than F, B is waited for all the same.
  const double zb_h1 = stage.sum() - stage.weights - std::min(stage.weights, stage.forward);
  if (job.schedule == Schedule::zb_h1) return zb_h1;
  // (p/2 − 1) (F&B + B − 3 W), where that of 1F1B is (p − 1) (F + B).
  const double both = std::max(0.0, stage.sum() + stage.backward - 3 * stage.weights);
  return (job.pp / 2.0 - 1) / (job.pp - 1) * both;
}

/// What one GPU updates.
double updated_parameters(const TrainingJob& job) {
  const StageParameters own = stage_parameters(job);
  if (job.sharding == Sharding::none) return own.dense + own.experts;
  const double ranks = static_cast<double>(job.dp) * job.cp;
  const double shards = job.is_fsdp() && job.shard_group > 0 ? job.shard_group : ranks;
  return own.dense / shards + own.experts / std::max(1.0, ranks * job.tp / job.ep);
}

}  // namespace

std::string_view name(StepPart part) {
  constexpr std::array<std::string_view, 12> kNames{
      "matrix products",      "attention",      "memory-bound kernels",
      "waiting for launches", "TP collectives", "CP collectives",
      "EP collectives",       "PP sends",       "DP collectives",
      "pipeline bubble",      "optimizer",      "jitter and host"};
  return kNames.at(static_cast<std::size_t>(part));
}

bool is_collective(StepPart part) { return part >= StepPart::tp && part <= StepPart::dp; }

double Step::seconds() const {
  double sum = 0;
  for (const StepTerm& term : terms) sum += term.exposed_seconds;
  return sum;
}

double Step::seconds_of(StepPart part) const {
  const auto term = std::ranges::find(terms, part, &StepTerm::part);
  return term == terms.end() ? 0 : term->exposed_seconds;
}

Step step_time(const TrainingJob& job, const GpuCluster& machine, const ComputeRates& rates,
               const PartScales& scales, const MeasuredCollectives* measured) {
  const Layout layout{job, rates, scales, step_groups(job, machine, measured)};
  const std::vector<int> layers = layers_of_stages(job);
  StageTime busiest;
  double busiest_layers = 1;
  double bubble = 0;  // of all stages, with the busiest one
  Step step;
  StageTime stage;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const bool has_head = i + 1 == layers.size();
    if (i == 0 || has_head || layers[i] != layers[i - 1]) stage = stage_time(layout, layers[i], has_head);
    bubble += waited_for(job, stage);
    step.stages.push_back(stage.passes());
    if (stage.sum() <= busiest.sum()) continue;
    busiest = stage;
    // A last stage can hold the head alone.
    busiest_layers = std::max(1, layers[i]);
  }
  const double m = job.micro_batches();
  step.terms = {{.part = StepPart::products, .exposed_seconds = m * busiest.kernels.products},
                {.part = StepPart::attention, .exposed_seconds = m * busiest.kernels.attention},
                {.part = StepPart::elementwise, .exposed_seconds = m * busiest.kernels.elementwise}};
  if (busiest.launches > 0)
    step.terms.push_back({.part = StepPart::launches, .exposed_seconds = m * busiest.launches});
  const std::array<std::string_view, 4> words{
      job.has_sequence_parallel() ? "AllGather and ReduceScatter of every layer" : "AllReduce of every layer",
      "keys and values round a ring", "AllToAll to the experts and back", "SendRecv between stages"};
  const StepGroups& groups = layout.groups;
  const std::array<const RankGroup*, 4> of_parts{&groups.tp, &groups.cp, &groups.ep, &groups.pp};
  for (std::size_t i = 0; i < kMicroBatchParts.size(); ++i) {
    const Overlap& time = busiest.calls.at(i);
    if (busiest.sent.at(i).calls == 0) continue;
    step.terms.push_back(collective_term(kMicroBatchParts.at(i), {m * time.exposed, m * time.hidden},
                                         m * busiest.sent.at(i), words.at(i), *of_parts.at(i)));
  }
  if (job.dp * job.cp > 1)
    step.terms.push_back(job.is_fsdp() ? sharded_term(layout, busiest, busiest_layers)
                                       : replicated_term(layout, busiest));
  if (job.pp > 1) {
    step.terms.push_back(
        {.part = StepPart::bubble,
         .exposed_seconds = scaled(layout, StepPart::bubble, bubble - waited_for(job, busiest))});
  }
  step.terms.push_back({.part = StepPart::optimizer,
                        .exposed_seconds = scaled(layout, StepPart::optimizer,
                                                  optimizer_seconds(updated_parameters(job), rates))});
  const double doublings = std::max(0.0, std::log2(job.gpus() / 8.0));
  step.terms.push_back({.part = StepPart::other,
                        .exposed_seconds = scaled(layout, StepPart::other,
                                                  rates.assumed.jitter * doublings * step.seconds() +
                                                      rates.assumed.step_overhead)});
  return step;
}

}  // namespace collbench::analysis
