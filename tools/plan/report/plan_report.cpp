#include "tools/plan/report/plan_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/report/report.hpp"
#include "base/error.hpp"
#include "base/text_sinks.hpp"

namespace collbench::analysis {
namespace {

/// A format: its writer, and what its text goes through last.
struct PlanFormat {
  std::string_view name;
  std::string (*as_shown)(std::string_view document);
  std::string (*write)(const PlanReport& report, int columns);
};

constexpr std::array<PlanFormat, 5> kPlanFormats{{
    {"text", terminal_text, plan_text},
    {"md", page_text, [](const PlanReport& report, int) { return plan_markdown(report); }},
    {"html", page_text, [](const PlanReport& report, int) { return plan_html(report); }},
    {"csv", page_text, [](const PlanReport& report, int) { return plan_csv(report); }},
    {"json", json_text, [](const PlanReport& report, int) { return plan_json(report); }},
}};

}  // namespace

std::vector<std::string> plan_formats() {
  std::vector<std::string> names;
  for (const PlanFormat& format : kPlanFormats) names.emplace_back(format.name);
  return names;
}

std::string written_plan(const PlanReport& report, std::string_view format, int columns) {
  const auto* const found =
      std::ranges::find_if(kPlanFormats, [format](const PlanFormat& each) { return each.name == format; });
  if (found != kPlanFormats.end()) return found->as_shown(found->write(report, columns));
  throw usage_error("--format", fmt::format("'{}' is not a format of a training plan", format),
                    "choose " + format_list(plan_formats()));
}

}  // namespace collbench::analysis
