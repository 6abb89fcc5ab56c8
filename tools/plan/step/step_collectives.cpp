#include "tools/plan/step/step.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tools/plan/step/memory.hpp"

namespace collbench::analysis {
namespace {

/// Activations of one layer for one micro-batch, bytes, before tensor parallelism.
double activation(const TrainingJob& job) {
  return kWireBytes * job.micro_batch * (static_cast<double>(job.sequence) / job.cp) * job.model.hidden;
}

/// Of the NICs' rate, what such a dispatch reaches. HybridEP on H100 over 4 and 8 nodes: 47 and 41 GB/s,
/// combine 52 and 47, of copies that include those of the own node, which leaves 35 to 41 GB/s of a NIC of
/// 50, 0.70 to 0.82: the middle (DeepEP docs/README_Hybrid-EP.md, Torch API, 16 multiprocessors).
constexpr double kDispatchRate = 0.76;

/// Whether tokens are sent to each node once.
bool dispatches_by_node(const TrainingJob& job, const RankGroup& group) {
  const ExpertRun run = job.stack->experts;
  return (run == ExpertRun::graphs_around || run == ExpertRun::whole_graph) && group.cluster.domains() > 1;
}

/// Of the copies of a token, one for each of its experts, those that a node-aware dispatch sends: one to each
/// node that has any of them. Experts are taken as chosen evenly: of n nodes, k experts are on
/// n (1 − (1 − 1/n)^k). DeepSeek-V3 allows four groups of eight (arXiv 2412.19437, section 2.1.2; n_group and
/// topk_group of config.json): four nodes, or half of more than eight, over which each group spreads. Inside
/// of a node the copies are passed on by NVLink while others arrive (DeepEP's README).
double copies_that_cross(const TrainingJob& job, const RankGroup& group) {
  if (!dispatches_by_node(job, group)) return 1;
  const int nodes = group.cluster.domains();
  const double copies = job.model.experts.top_k;
  double chosen = nodes * (1 - std::pow(1 - 1.0 / nodes, copies));
  const Experts& experts = job.model.experts;
  if (experts.groups > 0) {
    const double nodes_of_group = std::max(1.0, static_cast<double>(nodes) / experts.groups);
    chosen = std::min(chosen, experts.top_groups * nodes_of_group);
  }
  return chosen / copies;
}

}  // namespace

CallTime operator*(double factor, CallTime call) {
  for (StepCollective& each : call.each) each.calls *= factor;
  return {factor * call.seconds, factor * call.bytes, factor * call.calls, std::move(call.each)};
}

CallTime operator+(CallTime a, const CallTime& b) {
  a.each.insert(a.each.end(), b.each.begin(), b.each.end());
  return {a.seconds + b.seconds, a.bytes + b.bytes, a.calls + b.calls, std::move(a.each)};
}

StepGroups step_groups(const TrainingJob& job, const GpuCluster& machine,
                       const MeasuredCollectives* measured) {
  const auto group = [&](GroupKind kind) {
    RankGroup found = rank_group(machine, job, kind);
    found.measured = measured;
    return found;
  };
  return {group(GroupKind::tensor),   group(GroupKind::context),     group(GroupKind::expert),
          group(GroupKind::stages),   group(GroupKind::data),        group(GroupKind::shard),
          group(GroupKind::replicas), group(GroupKind::same_experts)};
}

CallTime call(const RankGroup& group, OperationId id, double bytes) {
  if (group.size < 2 || bytes <= 0) return {};
  const double factor = id == OperationId::send_recv ? 1 : bus_factor(operation(id), group.size);
  return {group_seconds(group, id, bytes),
          bytes * factor,
          1,
          {{id, group.size, group.crosses_nodes(), bytes, 1}}};
}

CallTime tensor_calls(const TrainingJob& job, const StepGroups& groups) {
  const double pairs = (job.recompute == Recompute::full ? 6 : 4) *
                       (job.model.experts.count > 0 || job.model.parallel_block ? 0.5 : 1);
  const double bytes = activation(job);
  if (!job.has_sequence_parallel()) return pairs * call(groups.tp, OperationId::all_reduce, bytes);
  return pairs * (call(groups.tp, OperationId::all_gather, bytes) +
                  call(groups.tp, OperationId::reduce_scatter, bytes));
}

CallTime context_calls(const TrainingJob& job, const StepGroups& groups) {
  if (job.cp < 2) return {};
  const ModelShape& model = job.model;
  const double width = model.latent.kv_rank > 0 ? 2.0 * model.heads * model.latent.value_width
                                                : 2.0 * model.kv_heads * model.width_of_head();
  const double block =
      kWireBytes * job.micro_batch * (static_cast<double>(job.sequence) / job.cp) * width / job.tp;
  const CallTime once = (job.cp - 1.0) * call(groups.cp, OperationId::send_recv, block);
  return (job.recompute == Recompute::full ? 4.0 : 3.0) * once;
}

CallTime expert_calls(const TrainingJob& job, const StepGroups& groups) {
  if (job.ep < 2) return {};
  const double bytes = activation(job) / job.tp * job.model.experts.top_k * copies_that_cross(job, groups.ep);
  CallTime calls =
      (job.recompute == Recompute::full ? 6.0 : 4.0) * call(groups.ep, OperationId::all_to_all, bytes);
  const bool is_measured = groups.ep.measured_ratio(OperationId::all_to_all, bytes).has_value();
  if (dispatches_by_node(job, groups.ep) && !is_measured) calls.seconds /= kDispatchRate;
  return calls;
}

CallTime stage_calls(const TrainingJob& job, const StepGroups& groups) {
  if (job.pp < 2) return {};
  // Split over tensor-parallel ranks: by sequence parallelism, or scattered and gathered again
  // (Narayanan, 4.1).
  return 2.0 * job.vpp * call(groups.pp, OperationId::send_recv, activation(job) / job.tp);
}

DataParallel data_parallel(const TrainingJob& job, const StepGroups& groups) {
  const StageParameters own = stage_parameters(job);
  const double gradient = gradients_bytes(job);
  // DeepSpeed's BF16 optimizer reduces all gradients on every rank, sharded or not (pipe/engine.py,
  // _bf16_reduce_grads).
  const bool reduced =
      job.sharding == Sharding::none || (job.stack->blocking && job.precision != Precision::fp16);
  const OperationId id = reduced ? OperationId::all_reduce : OperationId::reduce_scatter;
  DataParallel calls;
  calls.gradients =
      call(groups.dp, id, gradient * own.dense) + call(groups.experts, id, gradient * own.experts);
  if (job.sharding != Sharding::none) {
    calls.parameters = call(groups.dp, OperationId::all_gather, kWireBytes * own.dense) +
                       call(groups.experts, OperationId::all_gather, kWireBytes * own.experts);
  }
  return calls;
}

}  // namespace collbench::analysis
