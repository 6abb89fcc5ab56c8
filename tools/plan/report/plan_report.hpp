#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/chart.hpp"
#include "base/document/document.hpp"
#include "tools/plan/step/plan.hpp"
#include "tools/plan/step/scaling.hpp"
#include "tools/plan/step/search.hpp"

namespace collbench::analysis {

/// A plan, or why there is none.
struct PlannedRow {
  std::string label;  ///< of a table's row, a number of GPUs or a rank of the search
  std::optional<TrainingPlan> plan;
  std::string refused;  ///< the reason; empty where there is a plan
  std::string group{};  ///< rows of one table, "strong" or "weak" scaling; empty: of the only one
  std::optional<double> efficiency{};  ///< tokens/s per GPU, of that at the group's fewest GPUs
};

/// One plan, or a table of them; of scaling a table for each group.
struct PlanReport {
  std::string title;         ///< of a table; empty: one plan
  std::string first_column;  ///< what the labels are
  std::vector<PlannedRow> rows;
  std::vector<std::string> notes{};  ///< behind a table
  std::vector<Chart> charts{};       ///< of scaling
};

/// The fastest splits, of SplitSearch. `request` is what was asked for, with its batch.
[[nodiscard]] PlanReport search_report(const SplitSearch& search, const PlanRequest& request);

/// With a chart: tokens/s by GPUs, and what they would be if every GPU brought as much as at the fewest.
[[nodiscard]] PlanReport scaling_report(const std::vector<ScaleSeries>& scaling, const PlanRequest& request);

/// The formats by name, the usual one first.
[[nodiscard]] std::vector<std::string> plan_formats();

/// The report in the format of that name. Throws Error (usage) for another. `columns` are those of text.
[[nodiscard]] std::string written_plan(const PlanReport& report, std::string_view format, int columns);

/// With the charts, and of one plan its timeline.
[[nodiscard]] std::string plan_html(const PlanReport& report);
/// A line per plan; the names of options are its columns, then figures in SI units.
[[nodiscard]] std::string plan_csv(const PlanReport& report);
/// One plan as an object; a table as one with "plans".
[[nodiscard]] std::string plan_json(const PlanReport& report);

/// One step of the plan as a picture: a lane for each pipeline stage, time from left to right.
[[nodiscard]] std::string timeline_svg(const TrainingPlan& plan);

/// The same as "Trace Event Format" JSON (object form, complete events "X", times in microseconds), which
/// ui.perfetto.dev and chrome://tracing open: a thread for each stage.
[[nodiscard]] std::string timeline_trace(const TrainingPlan& plan);

/// Which ranks each kind of group has in a node and, where a fabric is told, what leaves leaf switches.
[[nodiscard]] ReportTable placement_table(const TrainingPlan& plan);

/// What people read of it, but for the timeline.
[[nodiscard]] Document plan_document(const PlanReport& report);

/// Null for a table.
[[nodiscard]] const TrainingPlan* only_plan(const PlanReport& report);

}  // namespace collbench::analysis
