#include "analysis/plan/step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "analysis/plan/group_time.hpp"
#include "analysis/plan/memory.hpp"

namespace collbench::analysis {
namespace {

constexpr double kBytes = 2;  ///< of an activation or a parameter on the wire

/// The collectives of a pass, one micro-batch, one layer.
struct CallTime {
  double seconds = 0;
  double bytes = 0;
  double calls = 0;
  std::vector<StepCollective> each{};
};

CallTime operator*(double factor, CallTime call) {
  for (StepCollective& each : call.each) each.calls *= factor;
  return {factor * call.seconds, factor * call.bytes, factor * call.calls, std::move(call.each)};
}
CallTime operator+(CallTime a, const CallTime& b) {
  a.each.insert(a.each.end(), b.each.begin(), b.each.end());
  return {a.seconds + b.seconds, a.bytes + b.bytes, a.calls + b.calls, std::move(a.each)};
}

CallTime call(const RankGroup& group, OperationId id, double bytes) {
  if (group.size < 2 || bytes <= 0) return {};
  const double factor = id == OperationId::send_recv ? 1 : bus_factor(operation(id), group.size);
  return {group_seconds(group, id, bytes),
          bytes * factor,
          1,
          {{id, group.size, group.crosses_nodes(), bytes, 1}}};
}

/// Everything that the terms are made of.
struct Layout {
  const TrainingJob& job;
  const ComputeRates& rates;
  const PartScales& scales;
  RankGroup tp, cp, ep, pp, dp, shard, replicas, experts;
};

Layout layout_of(const TrainingJob& job, const GpuCluster& machine, const ComputeRates& rates,
                 const PartScales& scales) {
  const int stage = job.tp * job.cp * job.dp;
  const int sharded = job.shard_group > 0 ? job.shard_group : job.dp;
  return {job,
          rates,
          scales,
          rank_group(machine, job.tp, 1),
          rank_group(machine, job.cp, job.tp),
          rank_group(machine, job.ep, 1),
          rank_group(machine, job.pp > 1 ? 2 : 1, stage),
          rank_group(machine, job.dp * job.cp, job.tp),
          rank_group(machine, sharded * job.cp, job.tp),
          rank_group(machine, job.dp / sharded, job.tp * job.cp * sharded),
          rank_group(machine, std::max(1, stage / job.ep), job.ep)};
}

/// Activations of one layer for one micro-batch, bytes, before tensor parallelism.
double activation(const TrainingJob& job) {
  return kBytes * job.micro_batch * (static_cast<double>(job.sequence) / job.cp) * job.model.hidden;
}

/// A layer's tensor-parallel collectives: twice forward and twice backward, and the forward ones again where
/// all is recomputed (Narayanan et al. 2021, section 3.2; Korthikanti et al. 2022, section 4.2). With
/// experts, those of attention only: experts are spread whole.
CallTime tensor_calls(const Layout& layout) {
  const TrainingJob& job = layout.job;
  const double pairs = (job.recompute == Recompute::full ? 6 : 4) * (job.model.experts.count > 0 ? 0.5 : 1);
  const double bytes = activation(job);
  if (!job.has_sequence_parallel()) return pairs * call(layout.tp, OperationId::all_reduce, bytes);
  return pairs * (call(layout.tp, OperationId::all_gather, bytes) +
                  call(layout.tp, OperationId::reduce_scatter, bytes));
}

/// A layer's keys and values round the context-parallel ring, forward and, with their gradients, backward.
CallTime context_calls(const Layout& layout) {
  const TrainingJob& job = layout.job;
  if (job.cp < 2) return {};
  const ModelShape& model = job.model;
  const double width = model.latent.kv_rank > 0 ? 2.0 * model.heads * model.latent.value_width
                                                : 2.0 * model.kv_heads * model.width_of_head();
  const double block =
      kBytes * job.micro_batch * (static_cast<double>(job.sequence) / job.cp) * width / job.tp;
  const CallTime once = (job.cp - 1.0) * call(layout.cp, OperationId::send_recv, block);
  return (job.recompute == Recompute::full ? 4.0 : 3.0) * once;
}

/// Tokens to their experts and back, forward and backward.
CallTime expert_calls(const Layout& layout) {
  const TrainingJob& job = layout.job;
  if (job.ep < 2) return {};
  const double bytes = activation(job) / job.tp * job.model.experts.top_k;
  return (job.recompute == Recompute::full ? 6.0 : 4.0) * call(layout.ep, OperationId::all_to_all, bytes);
}

/// Activations to the next stage and gradients back, for each chunk.
CallTime stage_calls(const Layout& layout) {
  const TrainingJob& job = layout.job;
  if (job.pp < 2) return {};
  // Split over tensor-parallel ranks: by sequence parallelism, or scattered and gathered again
  // (Narayanan, 4.1).
  return 2.0 * job.vpp * call(layout.pp, OperationId::send_recv, activation(job) / job.tp);
}

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
  return {scaled(layout, time.forward), scaled(layout, time.backward),
          scaled(layout, StepPart::elementwise, time.waiting)};
}

/// A stage's work for one micro-batch.
struct StageTime {
  KernelTime kernels;
  double forward = 0;
  double backward = 0;
  std::array<Overlap, 4> calls{};  ///< tp, cp, ep, pp
  std::array<CallTime, 4> sent{};

  [[nodiscard]] double sum() const {
    double seconds = kernels.sum();
    for (const Overlap& each : calls) seconds += each.exposed;
    return seconds;
  }
  /// Exposed collectives as the kernels: those of the backward pass are about twice those of the forward one.
  [[nodiscard]] StagePasses passes() const {
    const double part = forward + backward > 0 ? forward / (forward + backward) : 0;
    return {sum() * part, sum() * (1 - part)};
  }
};

constexpr std::array<StepPart, 4> kMicroBatchParts{StepPart::tp, StepPart::cp, StepPart::ep, StepPart::pp};

StageTime stage_time(const Layout& layout, double layers, bool has_head) {
  const TrainingJob& job = layout.job;
  const Assumptions& assumed = layout.rates.assumed;
  const double moe_part = static_cast<double>(expert_layers(job.model)) / job.model.layers;
  PassTime passes;
  PassTime one_layer;
  for (const bool experts : {false, true}) {
    const double count = layers * (experts ? moe_part : 1 - moe_part);
    if (count <= 0) continue;
    one_layer = scaled(layout, layer_time(job, layout.rates, experts));
    passes.forward += one_layer.forward.times(count);
    passes.backward += one_layer.backward.times(count);
    passes.waiting += count * one_layer.waiting;
  }
  if (has_head) {
    const PassTime head = scaled(layout, head_time(job, layout.rates));
    passes.forward += head.forward;
    passes.backward += head.backward;
  }
  StageTime stage;
  stage.kernels = passes.forward;
  stage.kernels += passes.backward;
  stage.forward = passes.forward.sum();
  stage.backward = passes.backward.sum();
  stage.sent = {layers * tensor_calls(layout), layers * context_calls(layout),
                layers * moe_part * expert_calls(layout), stage_calls(layout)};
  const double kernels = stage.kernels.sum();
  const auto seconds = [&](std::size_t at) {
    return scaled(layout, kMicroBatchParts.at(at), stage.sent.at(at).seconds);
  };
  stage.calls[0] = overlap(seconds(0), job.stack->overlaps_tp ? assumed.tp_exposed : 1, kernels, assumed);
  stage.calls[1] = overlap(seconds(1), 0, stage.kernels.attention, assumed);
  // The host launches ahead while tokens are on their way to the experts.
  const double hidden = std::min(seconds(2), passes.waiting);
  stage.calls[2] = {seconds(2) - hidden, hidden};
  const bool ahead = job.stack->overlaps_pp && job.vpp > 1;
  stage.calls[3] = overlap(seconds(3), ahead ? assumed.pp_exposed : 1, kernels, assumed);
  return stage;
}

/// The data-parallel collectives of a step, without sharded parameters.
struct DataParallel {
  CallTime gradients;
  CallTime parameters;
};

DataParallel data_parallel(const Layout& layout) {
  const TrainingJob& job = layout.job;
  const StageParameters own = stage_parameters(job);
  const double gradient = job.stack->gradient_bytes;
  const bool reduced = job.sharding == Sharding::none;
  const OperationId id = reduced ? OperationId::all_reduce : OperationId::reduce_scatter;
  DataParallel calls;
  calls.gradients =
      call(layout.dp, id, gradient * own.dense) + call(layout.experts, id, gradient * own.experts);
  if (!reduced) {
    calls.parameters = call(layout.dp, OperationId::all_gather, kBytes * own.dense) +
                       call(layout.experts, OperationId::all_gather, kBytes * own.experts);
  }
  return calls;
}

/// Parameters gathered before, and gradients reduced behind each layer, for every micro-batch.
StepTerm sharded_term(const Layout& layout, const StageTime& stage, double layers) {
  const TrainingJob& job = layout.job;
  const Assumptions& assumed = layout.rates.assumed;
  const StageParameters own = stage_parameters(job);
  const double layer = (own.dense + own.experts) / layers;
  const double gradient = job.stack->gradient_bytes;
  const CallTime gather = layers * call(layout.shard, OperationId::all_gather, kBytes * layer);
  CallTime reduce = layers * call(layout.shard, OperationId::reduce_scatter, gradient * layer);
  const double shard_part = gradient * layer / std::max(1, layout.shard.size);
  reduce = reduce + layers * call(layout.replicas, OperationId::all_reduce, shard_part);
  const bool again = job.sharding != Sharding::fsdp_grad;
  const bool of_2021 = job.sharding == Sharding::zero3 && job.stack->zero3_of_2021;
  const double slower = of_2021 ? 1 / assumed.zero3_rate : 1;
  const double forward = scaled(layout, StepPart::dp, gather.seconds * slower);
  const double backward =
      scaled(layout, StepPart::dp, (reduce.seconds + (again ? gather.seconds : 0)) * slower);
  const Overlap before = overlap(forward, 1 / layers, stage.forward, assumed);
  const Overlap behind = overlap(backward, 1 / layers, stage.backward, assumed);
  const double m = job.micro_batches();
  const CallTime sent = m * ((again ? 2.0 : 1.0) * gather + reduce);
  return {.part = StepPart::dp,
          .exposed_seconds = m * (before.exposed + behind.exposed),
          .hidden_seconds = m * (before.hidden + behind.hidden),
          .bytes = sent.bytes,
          .calls = sent.calls,
          .collectives = sent.each,
          .operation = again ? "AllGather twice and ReduceScatter of every layer"
                             : "AllGather and ReduceScatter of every layer",
          .crosses = crossed_links(layout.shard)};
}

StepTerm replicated_term(const Layout& layout, const StageTime& stage) {
  const TrainingJob& job = layout.job;
  const Assumptions& assumed = layout.rates.assumed;
  const DataParallel calls = data_parallel(layout);
  const bool hides = job.stack->overlaps_dp;
  // Gradients leave while the last micro-batch goes back, parameters arrive while the first goes forward.
  const Overlap behind =
      overlap(scaled(layout, StepPart::dp, calls.gradients.seconds), hides ? 0 : 1, stage.backward, assumed);
  const Overlap before =
      overlap(scaled(layout, StepPart::dp, calls.parameters.seconds), hides ? 0 : 1, stage.forward, assumed);
  const CallTime sent = calls.gradients + calls.parameters;
  return {.part = StepPart::dp,
          .exposed_seconds = behind.exposed + before.exposed,
          .hidden_seconds = behind.hidden + before.hidden,
          .bytes = sent.bytes,
          .calls = sent.calls,
          .collectives = sent.each,
          .operation = job.sharding == Sharding::none ? "AllReduce of gradients"
                                                      : "ReduceScatter of gradients, AllGather of parameters",
          .crosses = crossed_links(layout.dp)};
}

/// What one GPU updates.
double updated_parameters(const TrainingJob& job) {
  const StageParameters own = stage_parameters(job);
  if (job.sharding == Sharding::none) return own.dense + own.experts;
  const double ranks = static_cast<double>(job.dp) * job.cp;
  const double shards = job.is_fsdp() && job.shard_group > 0 ? job.shard_group : ranks;
  return own.dense / shards + own.experts / std::max(1.0, ranks * job.tp / job.ep);
}

std::string operation_words(const Layout& layout, StepPart part) {
  const TrainingJob& job = layout.job;
  switch (part) {
    case StepPart::tp:
      return job.has_sequence_parallel() ? "AllGather and ReduceScatter of every layer"
                                         : "AllReduce of every layer";
    case StepPart::cp:
      return "keys and values round a ring";
    case StepPart::ep:
      return "AllToAll to the experts and back";
    case StepPart::pp:
      return "SendRecv between stages";
    default:
      return {};
  }
}

const RankGroup& group_of(const Layout& layout, StepPart part) {
  if (part == StepPart::cp) return layout.cp;
  if (part == StepPart::ep) return layout.ep;
  return part == StepPart::pp ? layout.pp : layout.tp;
}

}  // namespace

std::string_view name(StepPart part) {
  constexpr std::array<std::string_view, 11> kNames{
      "matrix products", "attention", "memory-bound kernels", "TP collectives",  "CP collectives",
      "EP collectives",  "PP sends",  "DP collectives",       "pipeline bubble", "optimizer",
      "jitter and host"};
  return kNames.at(static_cast<std::size_t>(part));
}

bool is_collective(StepPart part) { return part >= StepPart::tp && part <= StepPart::dp; }

double Step::seconds() const {
  double sum = 0;
  for (const StepTerm& term : terms) sum += term.exposed_seconds;
  return sum;
}

Step step_time(const TrainingJob& job, const GpuCluster& machine, const ComputeRates& rates,
               const PartScales& scales, const MeasuredCollectives* measured) {
  Layout layout = layout_of(job, machine, rates, scales);
  for (RankGroup* group : {&layout.tp, &layout.cp, &layout.ep, &layout.pp, &layout.dp, &layout.shard,
                           &layout.replicas, &layout.experts})
    group->measured = measured;
  const std::vector<int> layers = layers_of_stages(job);
  StageTime busiest;
  double busiest_layers = 1;
  double all = 0;
  Step step;
  StageTime stage;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const bool has_head = i + 1 == layers.size();
    if (i == 0 || has_head || layers[i] != layers[i - 1]) stage = stage_time(layout, layers[i], has_head);
    all += stage.sum();
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
  for (std::size_t i = 0; i < kMicroBatchParts.size(); ++i) {
    if (busiest.sent.at(i).calls == 0) continue;
    const StepPart part = kMicroBatchParts.at(i);
    const CallTime sent = m * busiest.sent.at(i);
    step.terms.push_back({.part = part,
                          .exposed_seconds = m * busiest.calls.at(i).exposed,
                          .hidden_seconds = m * busiest.calls.at(i).hidden,
                          .bytes = sent.bytes,
                          .calls = sent.calls,
                          .collectives = sent.each,
                          .operation = operation_words(layout, part),
                          .crosses = crossed_links(group_of(layout, part))});
  }
  if (job.dp * job.cp > 1)
    step.terms.push_back(job.is_fsdp() ? sharded_term(layout, busiest, busiest_layers)
                                       : replicated_term(layout, busiest));
  if (job.pp > 1) {
    step.terms.push_back(
        {.part = StepPart::bubble,
         .exposed_seconds = scaled(layout, StepPart::bubble, (all - busiest.sum()) / job.vpp)});
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
