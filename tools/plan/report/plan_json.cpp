#include <fmt/format.h>

#include "base/record/json_fields.hpp"
#include "base/text_sinks.hpp"
#include "tools/plan/report/plan_report.hpp"

namespace collbench::analysis {
namespace {

/// "matrix_products": the part's name as a key.
std::string key_of(StepPart part) {
  std::string key(name(part));
  for (char& letter : key) {
    if (letter == ' ' || letter == '-') letter = '_';
  }
  return key;
}

Json job_json(const TrainingJob& job) {
  return {{"model", job.model.name},
          {"layers", job.model.layers},
          {"hidden", job.model.hidden},
          {"ffn", job.model.ffn},
          {"heads", job.model.heads},
          {"kv_heads", job.model.kv_heads},
          {"vocab", job.model.vocab},
          {"seq", job.sequence},
          {"gbs", job.global_batch},
          {"mbs", job.micro_batch},
          {"n_gpus", job.gpus()},
          {"tp", job.tp},
          {"pp", job.pp},
          {"vpp", job.vpp},
          {"dp", job.dp},
          {"cp", job.cp},
          {"ep", job.ep},
          {"zero_fsdp", name(job.sharding)},
          {"recompute", name(job.recompute)},
          {"precision", name(job.precision)},
          {"schedule", schedule_name(job)},
          {"order", words(job.order)},
          {"sp", job.has_sequence_parallel()},
          {"stack", job.stack->name}};
}

Json memory_json(const MemoryUse& use) {
  return {{"parameters", use.parameters},   {"gradients", use.gradients}, {"optimizer", use.optimizer},
          {"activations", use.activations}, {"logits", use.logits},       {"gathered_layers", use.gathered},
          {"allocator", use.allocator},     {"framework", use.framework}};
}

/// Null: no step of this kind was compared.
Json published_json(const PublishedError* published) {
  if (published == nullptr) return nullptr;
  return {{"kind", published->kind},
          {"most_gpus", published->most_gpus},
          {"steps", published->steps},
          {"median", published->median},
          {"p90", published->p90}};
}

void add_price(Json& json, const FaultCost::Price& price) {
  json["step_seconds"] = price.step_seconds;
  json["slower"] = price.slower;
  json["tokens_lost_per_day"] = price.tokens_lost_per_day;
  json["dollars_lost_per_day"] = or_null(price.dollars_lost_per_day);
}

/// Null: not priced, so not known.
Json fault_json(const FaultCost& fault) {
  Json json = {{"node", fault.node},
               {"findings", fault.findings},
               {"not_priced", fault.unpriced},
               {"step_seconds", nullptr},
               {"slower", nullptr},
               {"tokens_lost_per_day", nullptr},
               {"dollars_lost_per_day", nullptr},
               {"stall_seconds", fault.stall_seconds},
               {"stall_dollars", or_null(fault.stall_dollars)}};
  if (fault.price) add_price(json, *fault.price);
  return json;
}

/// A node's or NVLink domain's ranks and, where a fabric is told, what leaves leaf switches; null: not told,
/// or the group is within a domain.
Json placement_json(const TrainingPlan& plan) {
  Json groups = Json::array();
  for (const PlacedGroup& each : plan.placement) {
    const bool crosses = plan.fabric.kind != FabricKind::unstated && each.domains > 1;
    groups.push_back({{"group", name(each.kind)},
                      {"ranks", each.ranks},
                      {"first_ranks", each.first_ranks},
                      {"ranks_in_domain", each.ranks_in_domain},
                      {"domains", each.domains},
                      {"leaves", crosses ? Json(each.crossings.leaves) : Json(nullptr)},
                      {"hops_between_domains", crosses ? Json(each.crossings.hops) : Json(nullptr)},
                      {"hops_out_of_leaf", crosses ? Json(each.crossings.hops_outside) : Json(nullptr)},
                      {"rate_left_by_fabric", crosses ? Json(each.fabric_share) : Json(nullptr)}});
  }
  return {{"order", words(plan.job.order)},
          {"gpus_in_domain", plan.domain},
          {"fabric", plan.fabric == Fabric{} ? Json(nullptr) : Json(words(plan.fabric))},
          {"groups", std::move(groups)}};
}

Json collectives_json(const std::vector<StepCollective>& collectives) {
  Json json = Json::array();
  for (const StepCollective& each : collectives)
    json.push_back({{"operation", operation(each.operation).name},
                    {"ranks", each.ranks},
                    {"across_nodes", each.across_nodes},
                    {"size_bytes", each.bytes},
                    {"calls", each.calls}});
  return json;
}

Json plan_object(const TrainingPlan& plan) {
  const ParameterCount count = count_parameters(plan.job.model);
  Json json = {{"record", "collbench training plan"},
               {"topology", plan.topology},
               {"gpu", plan.gpu},
               {"nodes", plan.nodes},
               {"gpus_per_node", plan.gpus_per_node},
               {"job", job_json(plan.job)},
               {"parameters", count.total},
               {"active_parameters", count.active},
               {"step_seconds", plan.step_seconds},
               {"tokens_per_second_per_gpu", plan.tokens_per_second_per_gpu},
               {"tflops_per_gpu", plan.mfu * plan.peak_flops / 1e12},
               {"megawatts", plan.megawatts},
               {"mfu", plan.mfu},
               {"mfu_convention", kFullAttention},
               {"mfu_causal", plan.mfu_causal},
               {"hfu", plan.hfu},
               {"peak_flops", plan.peak_flops},
               {"memory_bytes", plan.memory.sum()},
               {"memory_capacity_bytes", plan.memory_capacity_bytes},
               {"may_not_fit", plan.may_not_fit()},
               {"memory", memory_json(plan.memory)},
               {"bound", plan.bound}};
  json["published_error"] = published_json(plan.published);
  for (const StepTerm& term : plan.step.terms) {
    Json part = {{"part", key_of(term.part)},
                 {"exposed_seconds", term.exposed_seconds},
                 {"hidden_seconds", term.hidden_seconds}};
    if (is_collective(term.part)) {
      part["bytes_per_gpu"] = term.bytes;
      part["calls"] = term.calls;
      part["operation"] = term.operation;
      part["collectives"] = collectives_json(term.collectives);
      part["over"] = term.crosses;
    }
    json["terms"].push_back(std::move(part));
  }
  json["placement"] = placement_json(plan);
  for (const Sensitivity& each : plan.sensitivity)
    json["at_half_cost"].push_back({{"part", key_of(each.part)}, {"step_seconds", each.step_seconds}});
  if (plan.cost) {
    json["run"] = {{"tokens", plan.cost->tokens},
                   {"days", plan.cost->days},
                   {"gpu_hours", plan.cost->gpu_hours},
                   {"dollars", or_null(plan.cost->dollars)},
                   {"megawatt_hours", plan.cost->megawatt_hours},
                   {"energy_dollars", or_null(plan.cost->energy_dollars)}};
  }
  if (plan.measured) {
    json["measured"] = {{"record", plan.measured->record}, {"across_nodes", plan.measured->across_nodes}};
    if (plan.measured_cost) add_price(json["measured"], *plan.measured_cost);
  }
  if (plan.fault) json["fault"] = fault_json(*plan.fault);
  json["goodput"] = {{"fleet_mtbf_seconds", plan.goodput.fleet_mtbf_seconds},
                     {"checkpoint_interval_seconds", plan.goodput.interval_seconds},
                     {"checkpoint_bytes", plan.checkpoint.bytes},
                     {"checkpoint_stop_seconds", plan.checkpoint.stop_seconds},
                     {"checkpoint_write_seconds", plan.checkpoint.write_seconds},
                     {"useful_part", plan.goodput.useful_part}};
  json["defaults"] = Json::array();
  for (const TakenDefault& each : plan.defaults)
    json["defaults"].push_back({{"option", each.option}, {"value", each.value}, {"reason", each.reason}});
  return json;
}

Json row_object(const PlannedRow& row) {
  Json json = {{"label", row.label}};
  if (!row.group.empty()) json["group"] = row.group;
  if (row.efficiency) json["efficiency"] = *row.efficiency;
  if (row.plan) {
    json["plan"] = plan_object(*row.plan);
  } else {
    json["refused"] = row.refused;
  }
  return json;
}

constexpr int kParts = static_cast<int>(StepPart::other) + 1;

std::string csv_row(const PlannedRow& row) {
  std::string line = csv_cell(row.label);
  const std::string scaling =
      fmt::format(",{},{}", csv_cell(row.group), row.efficiency ? fmt::to_string(*row.efficiency) : "");
  if (!row.plan)
    return line + "," + csv_cell(row.refused) + std::string(29 + kParts, ',') + scaling + ",,,\n";
  const TrainingPlan& plan = *row.plan;
  const TrainingJob& job = plan.job;
  line += fmt::format(",,{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
                      csv_cell(job.model.name), csv_cell(plan.topology), csv_cell(plan.gpu), job.gpus(),
                      job.sequence, job.global_batch, job.micro_batch, job.tp, job.pp, job.vpp, job.dp,
                      job.cp, job.ep, csv_cell(name(job.sharding)), name(job.recompute), name(job.precision),
                      job.stack->name, schedule_name(job), plan.step_seconds, plan.tokens_per_second_per_gpu,
                      plan.mfu, plan.hfu, plan.memory.sum(), plan.memory_capacity_bytes, plan.may_not_fit());
  line += plan.published == nullptr
              ? ",,,,"
              : fmt::format(",{},{},{},{}", csv_cell(plan.published->kind), plan.published->steps,
                            plan.published->median, plan.published->p90);
  for (int part = 0; part < kParts; ++part)
    line += fmt::format(",{}", plan.step.seconds_of(static_cast<StepPart>(part)));
  line += scaling;
  if (!plan.cost) return line + ",,,\n";
  return line + fmt::format(",{},{},{}\n", plan.cost->days, plan.cost->gpu_hours,
                            plan.cost->dollars ? fmt::to_string(*plan.cost->dollars) : "");
}

}  // namespace

std::string plan_json(const PlanReport& report) {
  Json json;
  if (report.title.empty() && report.rows.size() == 1 && report.rows.front().plan) {
    json = plan_object(*report.rows.front().plan);
  } else {
    json = {{"record", "collbench training plans"}, {"title", report.title}, {"plans", Json::array()}};
    for (const PlannedRow& row : report.rows) json["plans"].push_back(row_object(row));
    json["notes"] = report.notes;
  }
  return json_document(json);
}

std::string plan_csv(const PlanReport& report) {
  std::string text =
      "label,refused,model,topology,gpu,n_gpus,seq,gbs,mbs,tp,pp,vpp,dp,cp,ep,zero_fsdp,recompute,precision,"
      "stack,schedule,"
      "step_seconds,tokens_per_second_per_gpu,mfu,hfu,memory_bytes,"
      "memory_capacity_bytes,may_not_fit,published_kind,published_steps,published_median,published_p90";
  for (int part = 0; part < kParts; ++part) text += "," + key_of(static_cast<StepPart>(part)) + "_seconds";
  text += ",group,efficiency,days,gpu_hours,dollars\n";
  for (const PlannedRow& row : report.rows) text += csv_row(row);
  return text;
}

}  // namespace collbench::analysis
