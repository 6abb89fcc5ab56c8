#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "analysis/report/plan/plan_report.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

std::string thousands(double value) {
  std::string digits = fmt::format("{:.0f}", value);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

/// Two digits: the plans of nine of ten published steps are within 7 % at best, so a third is not known.
std::string two_digits(double value) {
  if (value <= 0) return "0";
  const double unit = std::pow(10, std::floor(std::log10(value)) - 1);
  const double rounded = std::round(value / unit) * unit;
  return rounded < 10 ? format_significant(rounded, 2, 8) : thousands(rounded);
}

/// How far the figures can be off, by published steps.
std::string error_in_words(const PublishedError* published) {
  if (published == nullptr)
    return "How far it can be off: not known, no published step of this kind was compared.";
  return fmt::format(
      "How far it can be off: the plans of {} published steps of this kind ({}) are within {:.0f} % (half of "
      "them) and {:.0f} % "
      "(nine of ten); the model's constants were chosen with them in view (docs/plan-accuracy.md).",
      published->steps, published->kind, 100 * published->median, 100 * published->p90);
}

std::string gigabytes(double bytes) { return bytes > 0 ? format_significant(bytes / 1e9, 3, 8) : ""; }

std::string percent(double part) { return fmt::format("{:.1f} %", 100 * part); }

std::string split_in_words(const TrainingJob& job) {
  std::string text = fmt::format("tp {} × pp {} × cp {} × dp {}", job.tp, job.pp, job.cp, job.dp);
  if (job.vpp > 1) text += fmt::format(", vpp {}", job.vpp);
  if (job.ep > 1) text += fmt::format(", ep {}", job.ep);
  return text;
}

PlanTable term_table(const TrainingPlan& plan) {
  PlanTable table{.heading = "One step, on the GPU that has most to do",
                  .columns = {"part", "seconds", "of the step", "hidden (s)", "GB per GPU", "calls", "over"},
                  .rows = {},
                  .spare_columns = {"calls", "hidden (s)"}};
  for (const StepTerm& term : plan.step.terms) {
    table.rows.push_back({std::string(name(term.part)), format_significant(term.exposed_seconds, 3, 8),
                          percent(term.exposed_seconds / plan.step_seconds),
                          term.hidden_seconds > 0 ? format_significant(term.hidden_seconds, 3, 8) : "",
                          gigabytes(term.bytes), term.calls > 0 ? fmt::format("{:.0f}", term.calls) : "",
                          term.crosses});
  }
  table.rows.push_back({"step", format_significant(plan.step_seconds, 4, 8), "100 %", "", "", "", ""});
  return table;
}

PlanTable sensitivity_table(const TrainingPlan& plan) {
  PlanTable table{
      .heading = "Each part at half its cost", .columns = {"part", "step (s)", "faster by"}, .rows = {}};
  for (const Sensitivity& each : plan.sensitivity) {
    const double gain = (plan.step_seconds - each.step_seconds) / plan.step_seconds;
    if (gain < 0.0005) continue;
    table.rows.push_back(
        {std::string(name(each.part)), format_significant(each.step_seconds, 4, 8), percent(gain)});
  }
  return table;
}

std::vector<std::string> cost_facts(const TrainingPlan& plan) {
  std::vector<std::string> facts;
  if (plan.cost) {
    const RunCost& cost = *plan.cost;
    std::string text = fmt::format("{:.4g} tokens: about {} days, {} GPU-hours", cost.tokens,
                                   two_digits(cost.days), two_digits(cost.gpu_hours));
    if (cost.dollars) text += fmt::format(", ${}", two_digits(*cost.dollars));
    text += fmt::format(", {} MWh (GPU boards at their limit × PUE", two_digits(cost.megawatt_hours));
    if (cost.energy_dollars) text += fmt::format("; ${}", two_digits(*cost.energy_dollars));
    facts.push_back(text + "), without interruptions");
  }
  const Goodput& goodput = plan.goodput;
  std::string text = fmt::format(
      "Interruptions: one in {} on all GPUs (assumed: --interruption-gpu-hours), a checkpoint every {}, {} "
      "of the "
      "time is left",
      format_seconds(goodput.fleet_mtbf_seconds), format_seconds(goodput.interval_seconds),
      percent(goodput.useful_part));
  if (plan.cost && goodput.useful_part > 0)
    text += fmt::format(": about {} days", two_digits(plan.cost->days / goodput.useful_part));
  facts.push_back(std::move(text));
  return facts;
}

std::string memory_warning(const TrainingPlan& plan) {
  if (plan.memory_part() > kRefusedOfCapacity)
    return fmt::format("the estimate is {:.2f} of the GPU's memory; planned, for --exceed-memory says so",
                       plan.memory_part());
  return fmt::format(
      "the estimate is {:.2f} of the GPU's memory; it is refused only beyond {:.2f}, for published steps ran "
      "whose estimate is above 1",
      plan.memory_part(), kRefusedOfCapacity);
}

PlanPage page_of_plan(const TrainingPlan& plan) {
  const TrainingJob& job = plan.job;
  const ParameterCount count = count_parameters(job.model);
  PlanPage page;
  std::string model = fmt::format("{}: {:.4g} B parameters", job.model.name, count.total / 1e9);
  if (job.model.experts.count > 0) model += fmt::format(", {:.3g} B of them active", count.active / 1e9);
  page.facts = {
      model + fmt::format(", {:.0f} GFLOP per token",
                          flops_per_token(job.model, job.sequence, FlopConvention::full_attention) / 1e9),
      fmt::format("{}: {} node{} × {} {} ({} GPUs), {}", plan.topology, plan.nodes,
                  plan.nodes == 1 ? "" : "s", plan.gpus_per_node, plan.gpu, job.gpus(), split_in_words(job)),
      fmt::format(
          "{} samples of {} tokens, {} micro-batch{} of {} on each of {} ranks; {}, recompute {}, {}, {}",
          job.global_batch, thousands(job.sequence), job.micro_batches(),
          job.micro_batches() == 1 ? "" : "es", job.micro_batch, job.dp, name(job.precision),
          name(job.recompute), name(job.sharding), job.stack->name),
      fmt::format("{} s a step, {} tokens/s per GPU, {} tokens/s",
                  format_significant(plan.step_seconds, 4, 8), thousands(plan.tokens_per_second_per_gpu),
                  thousands(plan.tokens_per_second_per_gpu * job.gpus())),
      fmt::format("MFU {} of {:.0f} TFLOPS {} ({}); with causal attention {}", percent(plan.mfu),
                  plan.peak_flops / 1e12, name(job.precision), name(FlopConvention::full_attention),
                  percent(plan.mfu_causal)),
      "Memory per GPU: " + memory_in_words(plan.memory, plan.memory_capacity_bytes) + " (an estimate)"};
  if (plan.may_not_fit()) page.facts.push_back("MAY NOT FIT: " + memory_warning(plan));
  for (std::string& fact : cost_facts(plan)) page.facts.push_back(std::move(fact));
  page.facts.push_back(error_in_words(plan.published));
  page.facts.push_back("What bounds it: " + plan.bound);
  page.tables = {term_table(plan), sensitivity_table(plan)};
  std::vector<std::string> taken;
  for (const TakenDefault& each : plan.defaults)
    taken.push_back(fmt::format("{} {} ({})", each.option, each.value, each.reason));
  if (!taken.empty()) page.notes.push_back(fmt::format("Not given, so assumed: {}.", fmt::join(taken, "; ")));
  return page;
}

PlanPage page_of_table(const PlanReport& report) {
  PlanPage page;
  page.facts = {report.title};
  PlanTable table{
      .heading = "",
      .columns = {report.first_column, "GPUs", "step (s)", "tok/s/GPU", "MFU", "GB", "split", "bound by"},
      .rows = {},
      .spare_columns = {"GB", "MFU", "tok/s/GPU", "GPUs"},
      .text_columns = 2};
  bool any_may_not_fit = false;
  for (const PlannedRow& row : report.rows) {
    if (!row.plan) {
      table.rows.push_back({row.label, "", "", "", "", "", "refused", row.refused});
      continue;
    }
    const TrainingPlan& plan = *row.plan;
    any_may_not_fit = any_may_not_fit || plan.may_not_fit();
    const std::string bound =
        plan.sensitivity.empty() ? "" : std::string(name(plan.sensitivity.front().part));
    table.rows.push_back(
        {row.label, fmt::to_string(plan.job.gpus()), format_significant(plan.step_seconds, 4, 8),
         thousands(plan.tokens_per_second_per_gpu), percent(plan.mfu),
         fmt::format("{:.0f} of {:.0f}", plan.memory.sum() / 1e9, plan.memory_capacity_bytes / 1e9),
         split_in_words(plan.job), plan.may_not_fit() ? "MAY NOT FIT; " + bound : bound});
  }
  page.tables = {table};
  page.notes = report.notes;
  if (any_may_not_fit) {
    page.notes.push_back(
        fmt::format("MAY NOT FIT: the estimate is above the GPU's memory; beyond {:.2f} of it a plan is "
                    "refused unless --exceed-memory "
                    "is true.",
                    kRefusedOfCapacity));
  }
  return page;
}

}  // namespace

PlanPage plan_page(const PlanReport& report) {
  return report.title.empty() && report.rows.size() == 1 && report.rows.front().plan
             ? page_of_plan(*report.rows.front().plan)
             : page_of_table(report);
}

}  // namespace collbench::analysis
