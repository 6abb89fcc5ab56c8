#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/units.hpp"
#include "tools/plan/report/plan_report.hpp"

namespace collbench::analysis {
namespace {

std::string thousands(double value) {
  std::string digits = fmt::format("{:.0f}", value);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

std::string rounded_to(double value, int digits) {
  if (value < std::pow(10, digits)) return value <= 0 ? "0" : format_significant(value, digits, 8);
  const double unit = std::pow(10, std::floor(std::log10(value)) + 1 - digits);
  return thousands(std::round(value / unit) * unit);
}

/// Nine of ten plans of published steps are within 5 % at best, so a third digit is not known.
std::string two_digits(double value) { return rounded_to(value, 2); }

/// "15T", "300B": as --tokens takes them.
std::string tokens_in_words(double tokens) {
  constexpr std::array<std::pair<double, const char*>, 3> kUnits{{{1e12, "T"}, {1e9, "B"}, {1e6, "M"}}};
  for (const auto& [unit, letter] : kUnits) {
    if (tokens >= unit) return fmt::format("{:.4g}{}", tokens / unit, letter);
  }
  return fmt::format("{:.4g}", tokens);
}

/// How far the figures can be off, by published steps.
std::string error_in_words(const TrainingPlan& plan) {
  if (plan.job.is_zero_bubble())
    return "How far it can be off: not known, no published step with a zero-bubble schedule was compared.";
  if (plan.measured)
    return "How far it can be off: not known, no plan with a record of collectives was compared with a step.";
  const PublishedError* const published = plan.published;
  const PublishedError* const near = published_error(plan.job, plan.gpu, true);
  if (published == nullptr && near != nullptr && near->most_gpus < plan.job.gpus())
    return fmt::format(
        "How far it can be off: not known, published steps of this kind ({}) ran on up to {} GPUs.",
        near->kind, thousands(near->most_gpus));
  if (published == nullptr && near != nullptr && plan.job.model.experts.count > 0)
    return "How far it can be off: not known for a stack taken by default; published steps of this kind were "
           "compared with theirs told (--stack).";
  if (published == nullptr)
    return "How far it can be off: not known, no published step of this kind was compared.";
  return fmt::format(
      "How far it can be off: the plans of {} published steps of this kind ({}) are within {:.0f} % (half of "
      "them) and {:.0f} % ({}); the model's constants were chosen with them in view "
      "(docs/notes/plan-accuracy.md).",
      published->steps, published->kind, 100 * published->median, 100 * published->p90,
      published->steps < 9 ? "all of them" : "nine of ten");
}

std::string gigabytes(double bytes) { return bytes > 0 ? format_significant(bytes / 1e9, 3, 8) : ""; }

/// Three digits, so that hours times the price make the dollars: "162", "9,950", "3.98M". The error stands
/// beside them.
std::string three_digits(double value) {
  constexpr std::array<std::pair<double, const char*>, 2> kUnits{{{1e9, "B"}, {1e6, "M"}}};
  for (const auto& [unit, letter] : kUnits) {
    if (value >= unit) return format_significant(value / unit, 3, 8) + letter;
  }
  return rounded_to(value, 3);
}

std::string percent(double part) { return fmt::format("{:.1f} %", 100 * part); }

std::string split_in_words(const TrainingJob& job) {
  std::string text = fmt::format("tp {} × pp {} × cp {} × dp {}", job.tp, job.pp, job.cp, job.dp);
  if (job.vpp > 1) text += fmt::format(", vpp {}", job.vpp);
  if (job.is_zero_bubble()) text += fmt::format(", schedule {}", schedule_name(job));
  if (job.ep > 1) text += fmt::format(", ep {}", job.ep);
  return text;
}

ReportTable term_table(const TrainingPlan& plan) {
  ReportTable table{
      .caption = "One step, on the GPU that has most to do",
      .headings = {"part", "seconds", "of the step", "hidden (s)", "GB per GPU", "calls", "over"},
      .right = 1,
      .spare = {"calls", "hidden (s)"},
      .wraps = true};
  for (const StepTerm& term : plan.step.terms) {
    table.rows.push_back({name(term.part), format_significant(term.exposed_seconds, 3, 8),
                          percent(term.exposed_seconds / plan.step_seconds),
                          term.hidden_seconds > 0 ? format_significant(term.hidden_seconds, 3, 8) : "",
                          gigabytes(term.bytes), term.calls > 0 ? fmt::format("{:.0f}", term.calls) : "",
                          term.crosses});
  }
  table.rows.push_back({"step", format_significant(plan.step_seconds, 4, 8), "100 %", "", "", "", ""});
  return table;
}

ReportTable sensitivity_table(const TrainingPlan& plan) {
  ReportTable table{.caption = "Each part at half its cost", .headings = {"part", "step (s)", "faster by"}};
  for (const Sensitivity& each : plan.sensitivity) {
    const double gain = (plan.step_seconds - each.step_seconds) / plan.step_seconds;
    if (gain < 0.0005) continue;
    table.rows.push_back({name(each.part), format_significant(each.step_seconds, 4, 8), percent(gain)});
  }
  return table;
}

/// What draws TrainingPlan::megawatts: of a GH200's server nothing is known.
std::string_view powered(const TrainingPlan& plan) { return plan.gpu == "GH200" ? "boards" : "servers"; }

std::vector<std::string> cost_facts(const TrainingPlan& plan) {
  std::vector<std::string> facts;
  if (plan.cost) {
    const RunCost& cost = *plan.cost;
    std::string text = fmt::format("{} tokens: about {} days, {} GPU-hours", tokens_in_words(cost.tokens),
                                   three_digits(cost.days), three_digits(cost.gpu_hours));
    if (cost.dollars) text += fmt::format(", ${}", three_digits(*cost.dollars));
    text +=
        fmt::format(", {} MWh ({} at their limit × PUE", three_digits(cost.megawatt_hours), powered(plan));
    if (cost.energy_dollars) text += fmt::format("; ${}", three_digits(*cost.energy_dollars));
    text += "), of the steps alone";
    if (plan.published != nullptr)
      text += fmt::format("; each off by up to {:.0f} % ({} published steps)", 100 * plan.published->p90,
                          plan.published->steps < 9 ? "all" : "nine of ten");
    facts.push_back(std::move(text));
    facts.emplace_back(
        "A whole run takes more than its steps, which no figure here has: published ones 17 % more GPU-hours "
        "(Llama 3.1 405B) and 64 % (OPT-175B).");
  }
  const Goodput& goodput = plan.goodput;
  std::string text = fmt::format(
      "Interruptions: one in {} on all GPUs (assumed: --interruption-gpu-hours), a checkpoint of {} GB every "
      "{} that stops the step for {}",
      format_seconds(goodput.fleet_mtbf_seconds), three_digits(plan.checkpoint.bytes / 1e9),
      format_seconds(goodput.interval_seconds), format_seconds(plan.checkpoint.stop_seconds));
  if (plan.checkpoint.write_seconds > 0)
    text += fmt::format(" and is written in {} beside it", format_seconds(plan.checkpoint.write_seconds));
  if (!goodput.advances()) {
    facts.push_back(text + ": less than 1 % of the time is left, the run does not advance");
    return facts;
  }
  text += fmt::format(", {} of the time is left (published: above 90 % on 16,384 GPUs, Llama 3)",
                      percent(goodput.useful_part));
  facts.push_back(std::move(text));
  return facts;
}

/// "14.76 s a step (+2.6 %), 2.579B tokens a day less, $1,900 a day of GPU time"
std::string price_in_words(const FaultCost::Price& price) {
  const std::string text = fmt::format("{} s a step (+{:.1f} %), {} tokens a day less",
                                       format_significant(price.step_seconds, 4, 8), 100 * price.slower,
                                       tokens_in_words(price.tokens_lost_per_day));
  return text + (price.dollars_lost_per_day
                     ? fmt::format(", ${} a day of GPU time", two_digits(*price.dollars_lost_per_day))
                     : ", dollars not known without --price");
}

/// What one node with a fault takes from the job.
std::vector<std::string> fault_facts(const TrainingPlan& plan) {
  if (!plan.fault) return {};
  const FaultCost& fault = *plan.fault;
  std::vector<std::string> facts;
  const std::string subject =
      fault.in_words ? fmt::format("Fault: {}", fault.node) : fmt::format("One node like {}", fault.node);
  if (!fault.price) {
    facts.push_back(fault.unpriced.empty()
                        ? fmt::format("{}: nothing that was compared differs, so it has no price", subject)
                        : fmt::format("{}: what it costs is not known; none of what differs is priced: {}",
                                      subject, fmt::join(fault.unpriced, "; ")));
    return facts;
  }
  if (fault.stall_seconds > 0)
    facts.push_back(
        fmt::format("{}: the job stops once NCCL's retries end, for {} until it is where it was (half of an "
                    "interval and --restart-seconds), {} GPU-hours{}",
                    subject, format_seconds(fault.stall_seconds),
                    two_digits(fault.stall_seconds / 3600 * plan.job.gpus()),
                    fault.stall_dollars ? ", $" + two_digits(*fault.stall_dollars) : ""));
  facts.push_back(fmt::format("{} ({}), while the job runs: {}", subject, fmt::join(fault.findings, "; "),
                              price_in_words(*fault.price)));
  if (!fault.unpriced.empty())
    facts.push_back(fmt::format("Differs too, not priced: {}", fmt::join(fault.unpriced, "; ")));
  return facts;
}

/// "AllReduce of 4.3 GB"
std::string sized_collective(OperationId id, double bytes) {
  return fmt::format("{} of {}", operation(id).name, format_bytes(static_cast<std::uint64_t>(bytes)));
}

/// For what the record speaks, by which sizes, and for which collectives of the step it does not.
std::string measured_in_words(const TrainingPlan& plan) {
  const MeasuredCollectives& measured = *plan.measured;
  std::vector<std::string> ranges;
  for (const auto& [id, ratios] : measured.ratios) {
    const std::string last = format_bytes(static_cast<std::uint64_t>(ratios.back().bytes));
    ranges.push_back(ratios.size() > 1
                         ? fmt::format("{} to {}", sized_collective(id, ratios.front().bytes), last)
                         : sized_collective(id, ratios.front().bytes));
  }
  std::string text = fmt::format(
      "Collectives {}: by {}, measured over expected seconds by size ({}; up to {:g} times beyond, as at the "
      "nearest); the others by the model",
      measured.across_nodes ? "between nodes" : "within a node", measured.record, fmt::join(ranges, ", "),
      kRatioReach);
  std::vector<std::string> silent;
  for (const StepCollective& each : out_of_reach(plan.step, measured))
    silent.push_back(sized_collective(each.operation, each.bytes));
  if (silent.empty()) return text;
  return text + fmt::format(". TOO FAR from its sizes, so by the model alone: {}", fmt::join(silent, ", "));
}

/// "parameters 8.8, gradients 17.6, … = 75.2 of 80 GB"
std::string memory_in_words(const MemoryUse& use, double capacity_bytes) {
  const std::array<std::pair<const char*, double>, 8> items{{{"parameters", use.parameters},
                                                             {"gradients", use.gradients},
                                                             {"optimizer", use.optimizer},
                                                             {"activations", use.activations},
                                                             {"logits", use.logits},
                                                             {"gathered layers", use.gathered},
                                                             {"allocator", use.allocator},
                                                             {"framework", use.framework}}};
  std::string text;
  for (const auto& [what, bytes] : items) {
    if (bytes > 0) text += fmt::format("{}{} {:.1f}", text.empty() ? "" : ", ", what, bytes / 1e9);
  }
  return text + fmt::format(" = {:.1f} of {:.0f} GB", use.sum() / 1e9, capacity_bytes / 1e9);
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

/// "14.25 s a step (MFU 56.0 %); 1T tokens: about 9.83 days and $725,000, 10.0 and $741,000 with
/// interruptions; 57.0 of 80 GB per GPU"
std::string answer(const TrainingPlan& plan) {
  std::string text =
      fmt::format("{} s a step (MFU {})", format_significant(plan.step_seconds, 4, 8), percent(plan.mfu));
  if (plan.cost) {
    const auto taken = [&plan](double useful_part, const char* unit) {
      std::string words = three_digits(plan.cost->days / useful_part) + unit;
      if (plan.cost->dollars)
        words += fmt::format(" and ${}", three_digits(*plan.cost->dollars / useful_part));
      return words;
    };
    text += fmt::format("; {} tokens: about {}", tokens_in_words(plan.cost->tokens), taken(1, " days"));
    text += plan.goodput.advances()
                ? fmt::format(", {} with interruptions", taken(plan.goodput.useful_part, ""))
                : ", but with interruptions the run does not advance";
  }
  return text + fmt::format("; {}{:.1f} of {:.0f} GB per GPU", plan.may_not_fit() ? "MAY NOT FIT: " : "",
                            plan.memory.sum() / 1e9, plan.memory_capacity_bytes / 1e9);
}

/// `facts`: the answer first.
Document plan_document(const std::vector<std::string>& facts, std::vector<ReportTable> tables,
                       std::vector<std::string> notes) {
  Document document{"Training plan", {}, as_lines({facts.begin() + 1, facts.end()}), {facts.front()}};
  for (ReportTable& table : tables) {
    const std::string heading = table.caption;
    document.sections.push_back(
        {heading, {std::move(table)}, fmt::format("table-{}", document.sections.size() + 1)});
  }
  document.sections.push_back({"Notes", {std::move(notes)}, "notes"});
  return document;
}

Document document_of_plan(const TrainingPlan& plan) {
  const TrainingJob& job = plan.job;
  const ParameterCount count = count_parameters(job.model);
  std::string model = fmt::format("{}: {:.4g} B parameters", job.model.name, count.total / 1e9);
  if (job.model.experts.count > 0) model += fmt::format(", {:.3g} B of them active", count.active / 1e9);
  std::vector<std::string> facts{
      answer(plan),
      model + fmt::format(", {:.0f} GFLOP per token",
                          flops_per_token(job.model, job.sequence, FlopConvention::full_attention) / 1e9),
      fmt::format("{}: {} node{} × {} {} ({} GPUs), {}", plan.topology, plan.nodes,
                  plan.nodes == 1 ? "" : "s", plan.gpus_per_node, plan.gpu, job.gpus(), split_in_words(job)) +
          (plan.fabric == Fabric{} ? "" : "; between nodes: " + words(plan.fabric)),
      fmt::format(
          "{} samples of {} tokens, {} micro-batch{} of {} on each of {} ranks; {}, recompute {}, {}, {}",
          job.global_batch, thousands(job.sequence), job.micro_batches(),
          job.micro_batches() == 1 ? "" : "es", job.micro_batch, job.dp, name(job.precision),
          name(job.recompute), name(job.sharding), job.stack->name),
      fmt::format("{} tokens/s per GPU, {} tokens/s in all", thousands(plan.tokens_per_second_per_gpu),
                  thousands(plan.tokens_per_second_per_gpu * job.gpus())),
      fmt::format("MFU {} of {:.0f} TFLOPS {} ({}), {:.0f} TFLOP/s per GPU; with causal attention {}",
                  percent(plan.mfu), plan.peak_flops / 1e12, name(job.precision), kFullAttention,
                  plan.mfu * plan.peak_flops / 1e12, percent(plan.mfu_causal)),
      fmt::format("Power: {} MW ({} at their limit × PUE)", format_significant(plan.megawatts, 3, 8),
                  powered(plan)),
      "Memory per GPU: " + memory_in_words(plan.memory, plan.memory_capacity_bytes) + " (an estimate)"};
  if (plan.may_not_fit()) facts.push_back("MAY NOT FIT: " + memory_warning(plan));
  for (std::string& fact : cost_facts(plan)) facts.push_back(std::move(fact));
  if (plan.measured) facts.push_back(measured_in_words(plan));
  if (plan.measured_cost) {
    facts.push_back(fmt::format("What this record costs, against the model's own collectives: {}",
                                price_in_words(*plan.measured_cost)));
  }
  const std::vector<std::string> asked = fault_facts(plan);  // whoever names a fault asks what it costs
  facts.insert(facts.begin(), asked.begin(), asked.end());
  facts.push_back(error_in_words(plan));
  facts.push_back("What bounds it: " + plan.bound);
  std::vector<ReportTable> tables{term_table(plan), sensitivity_table(plan)};
  if (!plan.placement.empty()) tables.push_back(placement_table(plan));
  std::vector<std::string> notes;
  std::vector<std::string> taken;
  for (const TakenDefault& each : plan.defaults)
    taken.push_back(fmt::format("{} {} ({})", each.option, each.value, each.reason));
  if (job.tp > job.model.kv_heads && job.model.latent.kv_rank == 0)
    notes.push_back(fmt::format(
        "tp {} is beyond the {} KV heads: each of them is on {} GPUs, and the copies are not counted.",
        job.tp, job.model.kv_heads, job.tp / job.model.kv_heads));
  if (!taken.empty()) notes.push_back(fmt::format("Not given, so assumed: {}.", fmt::join(taken, "; ")));
  return plan_document(facts, std::move(tables), std::move(notes));
}

/// "tp 8, pp 16, dp 8, vpp 4, mbs 1": what is 1 is left out, but for dp and the micro-batch; so is ZeRO-1.
std::string split_in_short(const TrainingJob& job) {
  std::string text;
  const auto add = [&](const char* what, int size, bool always = false) {
    if (size > 1 || always) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", what, size);
  };
  add("tp", job.tp), add("pp", job.pp), add("cp", job.cp), add("ep", job.ep);
  add("dp", job.dp, true), add("vpp", job.vpp), add("mbs", job.micro_batch, true);
  if (job.sharding != Sharding::optimizer) text += fmt::format(", {}", name(job.sharding));
  return job.recompute == Recompute::none ? text : text + fmt::format(", recompute {}", name(job.recompute));
}

std::string_view short_name(StepPart part) {
  constexpr std::array<std::string_view, 12> kNames{"products", "attention", "memory-bound", "launches",
                                                    "TP",       "CP",        "EP",           "PP",
                                                    "DP",       "bubble",    "optimizer",    "host"};
  return kNames.at(static_cast<std::size_t>(part));
}

/// "products 66 %, bubble 9 %": the two largest parts.
std::string bound_in_short(const TrainingPlan& plan) {
  std::vector<StepTerm> terms = plan.step.terms;
  std::ranges::sort(terms, [](const StepTerm& a, const StepTerm& b) {
    return std::pair(-a.exposed_seconds, a.part) < std::pair(-b.exposed_seconds, b.part);
  });
  terms.resize(std::min<std::size_t>(2, terms.size()));
  std::vector<std::string> words;
  for (const StepTerm& term : terms)
    words.push_back(
        fmt::format("{} {:.0f} %", short_name(term.part), 100 * term.exposed_seconds / plan.step_seconds));
  return fmt::format("{}", fmt::join(words, ", "));
}

/// Which columns a table has; all have the label, the step, the split and what bounds it.
struct TableKind {
  bool gpus = false;    ///< the number of GPUs, where the label is not it
  bool scales = false;  ///< the batch, all tokens/s, the efficiency
  bool costs = false;   ///< days of the run, without interruptions
  bool dollars = false;
};

std::vector<std::string> table_columns(const std::string& first, const TableKind& kind) {
  std::vector<std::string> columns{first};
  if (kind.gpus) columns.emplace_back("GPUs");
  if (kind.scales) columns.emplace_back("samples");
  columns.insert(columns.end(), {"step (s)", "tok/s/GPU"});
  if (kind.scales) columns.emplace_back("of fewest");
  if (kind.costs) columns.emplace_back("days");
  if (kind.dollars) columns.emplace_back("dollars");
  columns.insert(columns.end(), {"MFU", "memory", "split", "largest parts"});
  return columns;
}

std::vector<std::string> plan_cells(const PlannedRow& row, const TableKind& kind) {
  std::vector<std::string> cells{row.label};
  if (!row.plan) {
    cells.resize(table_columns("", kind).size() - 2);
    // Scaling says the reason below its tables, whole and once.
    cells.insert(cells.end(), {"refused", kind.scales ? "" : row.refused});
    return cells;
  }
  const TrainingPlan& plan = *row.plan;
  if (kind.gpus) cells.push_back(fmt::to_string(plan.job.gpus()));
  if (kind.scales) cells.push_back(fmt::to_string(plan.job.global_batch));
  cells.push_back(format_significant(plan.step_seconds, 4, 8));
  cells.push_back(thousands(plan.tokens_per_second_per_gpu));
  if (kind.scales) cells.push_back(row.efficiency ? fmt::format("{:.0f} %", 100 * *row.efficiency) : "");
  if (kind.costs) cells.push_back(plan.cost ? three_digits(plan.cost->days) : "");
  if (kind.dollars)
    cells.push_back(plan.cost && plan.cost->dollars ? "$" + three_digits(*plan.cost->dollars) : "");
  cells.push_back(percent(plan.mfu));
  cells.push_back(
      fmt::format("{:.0f} %{}", 100 * plan.memory_part(), plan.memory_part() > kNearlyFull ? " !" : ""));
  cells.push_back(split_in_short(plan.job));
  if (plan.may_not_fit()) cells.back().insert(0, "MAY NOT FIT; ");
  cells.push_back(bound_in_short(plan));
  return cells;
}

Document document_of_table(const PlanReport& report) {
  std::vector<ReportTable> tables;
  const auto any_plan = [&](auto holds) {
    return std::ranges::any_of(report.rows,
                               [&](const PlannedRow& row) { return row.plan && holds(*row.plan); });
  };
  const bool costs = any_plan([](const TrainingPlan& plan) { return plan.cost.has_value(); });
  const bool dollars = any_plan([](const TrainingPlan& plan) { return plan.cost && plan.cost->dollars; });
  for (const PlannedRow& row : report.rows) {
    const TableKind kind{.gpus = row.group.empty() && report.first_column == "id",
                         .scales = !row.group.empty(),
                         .costs = costs,
                         .dollars = dollars};
    const std::string caption = row.group.empty() ? "Plans" : row.group;
    if (tables.empty() || tables.back().caption != caption) {
      tables.push_back({.caption = caption,
                        .headings = table_columns(report.first_column, kind),
                        .is_text = true,
                        .right = 2,
                        // A line of --table can have the reason of a refusal in its last column.
                        .spare = {"MFU", "tok/s/GPU", kind.scales ? "samples" : "GPUs",
                                  kind.gpus ? "memory" : "largest parts"},
                        .wraps = kind.gpus});
    }
    const std::vector<std::string> cells = plan_cells(row, kind);
    tables.back().rows.emplace_back(cells.begin(), cells.end());
  }
  std::vector<std::string> notes = report.notes;
  notes.emplace_back(
      "A split is ZeRO-1 without recomputation where it does not say otherwise; mbs: samples of a "
      "micro-batch.");
  if (any_plan([](const TrainingPlan& plan) { return plan.memory_part() > kNearlyFull; })) {
    notes.push_back(fmt::format(
        "!: by the estimate more than {:.0f} % of the GPU's memory, so it may not run.", 100 * kNearlyFull));
  }
  if (costs) notes.emplace_back("Days and dollars are those of the run without interruptions.");
  if (any_plan([](const TrainingPlan& plan) { return plan.may_not_fit(); })) {
    notes.push_back(
        fmt::format("MAY NOT FIT: the estimate is above the GPU's memory; beyond {:.2f} of it a plan is "
                    "refused unless --exceed-memory is true.",
                    kRefusedOfCapacity));
  }
  return plan_document({report.title}, std::move(tables), std::move(notes));
}

}  // namespace

Document plan_document(const PlanReport& report) {
  const TrainingPlan* const plan = only_plan(report);
  Document document = plan == nullptr ? document_of_table(report) : document_of_plan(*plan);
  for (const Chart& chart : report.charts)
    document.sections.push_back({chart.title, {std::vector{chart}}, chart.id});
  return document;
}

}  // namespace collbench::analysis
