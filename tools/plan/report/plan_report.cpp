#include "tools/plan/report/plan_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/report/report.hpp"
#include "base/error.hpp"
#include "base/text_sinks.hpp"

namespace collbench::analysis {

namespace {

constexpr int kMinColumns = 80;  ///< of a line: narrower terminals break it

/// A format: its writer, and what its text goes through last.
struct PlanFormat {
  std::string_view name;
  std::string (*as_shown)(std::string_view document);
  std::string (*write)(const PlanReport& report, int columns);
};

constexpr std::array<PlanFormat, 5> kPlanFormats{{
    {"text", terminal_text,
     [](const PlanReport& report, int columns) {
       return text(plan_document(report), {.columns = std::max(kMinColumns, columns)});
     }},
    {"md", page_text, [](const PlanReport& report, int) { return markdown(plan_document(report)); }},
    {"html", page_text, [](const PlanReport& report, int) { return plan_html(report); }},
    {"csv", page_text, [](const PlanReport& report, int) { return plan_csv(report); }},
    {"json", json_text, [](const PlanReport& report, int) { return plan_json(report); }},
}};

ReportBlock timeline_block(const TrainingPlan& plan) {
  try {
    return ReportPicture{timeline_svg(plan), "One step, stage by stage",
                         "The passes of each pipeline stage over the time of a step"};
  } catch (const Error& error) {
    return fmt::format("No picture: {}.", error.what());
  }
}

}  // namespace

std::vector<std::string> plan_formats() {
  std::vector<std::string> names;
  for (const PlanFormat& format : kPlanFormats) names.emplace_back(format.name);
  return names;
}

std::string written_plan(const PlanReport& report, std::string_view format, int columns) {
  const auto* const found = std::ranges::find(kPlanFormats, format, &PlanFormat::name);
  if (found != kPlanFormats.end()) return found->as_shown(found->write(report, columns));
  throw usage_error("--format", fmt::format("'{}' is not a format of a training plan", format),
                    "choose " + format_list(plan_formats()));
}

const TrainingPlan* only_plan(const PlanReport& report) {
  const bool is_one = report.title.empty() && report.rows.size() == 1 && report.rows.front().plan;
  return is_one ? &*report.rows.front().plan : nullptr;
}

std::string plan_html(const PlanReport& report) {
  Document page = plan_document(report);
  if (const TrainingPlan* const plan = only_plan(report); plan != nullptr)
    page.sections.push_back({"Timeline", {timeline_block(*plan)}, "timeline"});
  return html_page(page);
}

}  // namespace collbench::analysis
