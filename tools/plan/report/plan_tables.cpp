#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tools/plan/report/plan_report.hpp"

namespace collbench::analysis {
namespace {

/// What a difference of two plans says, by the published steps of their kinds: of several kinds, the one that
/// is planned worst.
std::string tie_note(const PlanReport& report) {
  const PublishedError* worst = nullptr;
  for (const PlannedRow& row : report.rows) {
    if (!row.plan) continue;
    const PublishedError* const each = row.plan->published;
    if (each == nullptr)
      return "Which of two close ones is faster is not known: of at least one line's kind no published step "
             "was compared, or none without its stack told (--stack).";
    if (worst == nullptr || each->p90 > worst->p90) worst = each;
  }
  if (worst == nullptr) return "Nothing could be planned.";
  return fmt::format(
      "Plans of the published steps of this kind ({}) are off by up to {:.0f} % (nine of ten; half of them "
      "up to {:.0f} %): which of two closer ones is faster is not known, and nobody measured these.",
      worst->kind, 100 * worst->p90, 100 * worst->median);
}

/// What of a step's size is not given, and so was chosen: it changes the seconds of every line.
void add_assumed_note(const PlanRequest& request, const TrainingPlan& any, PlanReport& report) {
  std::vector<std::string> taken;
  if (!request.global_batch)
    taken.push_back(fmt::format("gbs {} (4 Mi tokens a step)", usual_global_batch(request)));
  for (const TakenDefault& each : any.defaults) {
    if (each.option == "seq" || each.option == "precision")
      taken.push_back(fmt::format("{} {} ({})", each.option, each.value, each.reason));
  }
  if (taken.empty()) return;
  report.notes.push_back(fmt::format("Not given, so assumed: {}.", fmt::join(taken, "; ")));
}

/// Tokens/s by GPUs.
Chart scaling_chart(const std::vector<ScaleSeries>& scaling) {
  Chart chart{.id = "scaling",
              .title = "Planned tokens/s by number of GPUs",
              .x = {"GPUs", AxisUnit::count, true},
              .y = {"thousand tokens/s", AxisUnit::count, true},
              .series = {}};
  ChartSeries linear{"every GPU as at the fewest", SeriesKind::expected, {}};
  for (const ScaleSeries& series : scaling) {
    ChartSeries line{series.name + " scaling", SeriesKind::measured, {}};
    std::optional<double> base;
    for (const ScalePoint& point : series.points) {
      if (!point.plan) continue;
      const double each = point.plan->tokens_per_second_per_gpu / 1e3;
      line.points.push_back({static_cast<double>(point.gpus), each * point.gpus});
      if (!base) base = each;
      if (series.name == "strong")
        linear.points.push_back({static_cast<double>(point.gpus), *base * point.gpus});
    }
    chart.series.push_back(std::move(line));
  }
  chart.series.push_back(std::move(linear));
  return chart;
}

/// "strong scaling pays up to 64 GPUs (each 87 % of the tokens/s of one at 8)"; "still pays at" the most that
/// could be planned.
std::string pays_up_to(const ScaleSeries& series) {
  if (!series.verdict.end)
    return fmt::format("where {} scaling stops paying is not known: fewer than two sizes could be planned",
                       series.name);
  const auto first =
      std::ranges::find_if(series.points, [](const ScalePoint& at) { return at.plan.has_value(); });
  const bool is_most = std::ranges::none_of(series.points, [&](const ScalePoint& at) {
    return at.plan.has_value() && at.gpus > series.verdict.end->gpus;
  });
  return fmt::format("{} scaling {} {} GPUs{} (each {:.0f} % of the tokens/s of one at {})", series.name,
                     is_most ? "still pays at" : "pays up to", series.verdict.end->gpus,
                     is_most ? ", the most planned" : "", 100 * series.verdict.end->efficiency.value_or(1),
                     first->gpus);
}

}  // namespace

PlanReport search_report(const SplitSearch& search, const PlanRequest& request) {
  const TrainingPlan& fastest = search.best.front();
  PlanReport report{
      .title = fmt::format(
          "{} --gbs {}: {:.4g} s a step, the fastest of {} splits of {} that fit {} GPUs ({} were tried)",
          split_options(fastest.job), fastest.job.global_batch, fastest.step_seconds, search.fitting,
          request.model.name, fastest.job.gpus(), search.tried),
      .first_column = "rank",
      .rows = {}};
  for (const TrainingPlan& plan : search.best)
    report.rows.push_back({.label = fmt::to_string(report.rows.size() + 1), .plan = plan, .refused = {}});
  report.notes = {
      fmt::format("Each line is the fastest of its micro-batches, chunks (vpp) and recomputations; all have "
                  "{} samples of {} tokens a step.",
                  fastest.job.global_batch, fastest.job.sequence),
      "Memory is an estimate: 0.85 to 1.11 of what 25 steps of 2022 used, not checked on today's software."};
  add_assumed_note(request, fastest, report);
  report.notes.push_back(tie_note(report));
  return report;
}

PlanReport scaling_report(const std::vector<ScaleSeries>& scaling, const PlanRequest& request) {
  std::vector<std::string> answers;
  std::ranges::transform(scaling, std::back_inserter(answers), pays_up_to);
  PlanReport report{
      .title = fmt::format("{} on {}: {}", request.model.name, request.topology, fmt::join(answers, ", ")),
      .first_column = "GPUs",
      .rows = {},
      .notes = {"Each line is the fastest split that fits that number of GPUs."}};
  for (const ScaleSeries& series : scaling) {
    for (const ScalePoint& point : series.points) {
      const std::string refused = fmt::format("{} GPUs: {}.", point.gpus, point.refused);
      if (!point.plan && std::ranges::find(report.notes, refused) == report.notes.end())
        report.notes.push_back(refused);
      report.rows.push_back({.label = fmt::to_string(point.gpus),
                             .plan = point.plan,
                             .refused = point.refused,
                             .group = series.name == "strong" ? "Strong scaling: the same batch on more GPUs"
                                                              : "Weak scaling: as many samples per GPU",
                             .efficiency = point.efficiency});
    }
    report.notes.push_back(
        fmt::format("{} scaling: {}", series.name == "strong" ? "Strong" : "Weak", series.verdict.words));
  }
  const auto first =
      std::ranges::find_if(report.rows, [](const PlannedRow& row) { return row.plan.has_value(); });
  if (first != report.rows.end()) add_assumed_note(request, *first->plan, report);
  report.notes.push_back(tie_note(report));
  report.charts = {scaling_chart(scaling)};
  return report;
}

ReportTable placement_table(const TrainingPlan& plan) {
  const bool has_fabric = plan.fabric.kind != FabricKind::unstated;
  const bool is_node = plan.domain == plan.gpus_per_node;
  ReportTable table{
      .caption = fmt::format("Where ranks lie: numbered {}, the first one innermost", words(plan.job.order)),
      .headings = {"group", "ranks", is_node ? "in a node" : "in a domain", is_node ? "nodes" : "domains"},
      .right = 1};
  std::vector<std::string>& names = table.headings;
  if (has_fabric) names.insert(names.end(), {"leaves", "hops out", "NIC rate"});
  names.emplace_back("first ranks");
  for (const PlacedGroup& each : plan.placement) {
    std::vector<std::string> cells{std::string(name(each.kind)), fmt::to_string(each.ranks),
                                   fmt::to_string(each.ranks_in_domain), fmt::to_string(each.domains)};
    if (has_fabric && each.domains > 1) {
      const LeafCrossings& crossings = each.crossings;
      cells.insert(cells.end(), {fmt::to_string(crossings.leaves),
                                 fmt::format("{} of {}", crossings.hops_outside, crossings.hops),
                                 fmt::format("{:.0f} %", 100 * each.fabric_share)});
    } else if (has_fabric) {
      cells.insert(cells.end(), {"", "", ""});
    }
    const bool more = each.first_ranks.size() < static_cast<std::size_t>(each.ranks);
    cells.push_back(fmt::format("{}{}", fmt::join(each.first_ranks, ", "), more ? ", …" : ""));
    table.rows.emplace_back(cells.begin(), cells.end());
  }
  return table;
}

}  // namespace collbench::analysis
