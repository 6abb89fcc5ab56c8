#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "analysis/report/columns.hpp"
#include "analysis/report/diff_report.hpp"
#include "analysis/report/prediction.hpp"
#include "analysis/report/report.hpp"
#include "analysis/report/sections.hpp"
#include "base/text_sinks.hpp"
#include "topology/catalog/finding_kinds.hpp"

namespace collbench::analysis {
namespace {

std::string section(const Run& run, OperationId id, const TextOptions& options) {
  const int ranks = static_cast<int>(run.ranks.size());
  const std::vector<ReportRow> shown = rows_of(run, id);
  std::string text = "\n## " + std::string(operation(id).name) + "\n";
  if (!shown.empty())
    text += markdown_text(operation_line(id, ranks).text) + "\n\n" +
            markdown_table(table_of_rows(shown, columns_for(run, shown)));
  if (!shown.empty() && options.percentiles) {
    const std::vector<const ReportColumn*> columns = percentile_columns(shown);
    text += "\n" + markdown_text(columns.empty() ? kNoPercentiles : kPercentilesTitle) + "\n";
    if (!columns.empty()) text += "\n" + markdown_table(table_of_rows(shown, columns));
  }
  const std::string unavailable = markdown(unavailable_lines(run, id));
  return unavailable.empty() ? text : text + "\n" + unavailable;
}

std::string priced_cell(const FindingPrice& price) {
  const std::string text = price_words(price);
  return price.advice.empty() ? text : text + "; advice: " + price.advice;
}

}  // namespace

std::string report_markdown(const Run& run, const TextOptions& options) {
  std::string text = "# collbench report\n\n" + markdown(verdict_headline(run)) +
                     markdown(header_lines(run)) + markdown(legend_lines(run)) +
                     "- bold: what a terminal shows in yellow or red, such as meas/exp below 0.80\n";
  for (const OperationId id : operations_in(run)) text += section(run, id, options);
  return text + "\n## Outcome\n" + markdown(footer_lines(run));
}

std::string report_markdown(const Prediction& prediction) {
  std::string text = "# Expected\n";
  for (const std::string& line : {prediction_answer(prediction), prediction_title(prediction)})
    text += "\n" + markdown_text(line) + "\n";
  for (const std::string& line : prediction_legend(prediction)) text += "\n" + markdown_text(line) + "\n";
  ReportTable table{.headings = prediction_headings(), .left = 0, .right = 2};
  for (const PredictedRow& row : prediction.rows) {
    const std::vector<std::string> cells = prediction_cells(row, prediction.cluster);
    table.rows.emplace_back(cells.begin(), cells.end());
    if (&row != &prediction.rows.back() && (&row + 1)->operation == row.operation) continue;
    text += fmt::format("\n## {}\n\n{}", operation(row.operation).name, markdown_table(table));
    table.rows.clear();
  }
  return text;
}

std::string report_markdown(const DiffReport& diff) {
  std::string text = "# Topology diff\n";
  for (const std::string& line : diff_headlines(diff)) text += "\n" + markdown_text(line) + "\n";
  for (const ComparedHosts& pair : diff.pairs) {
    text += "\n## " + markdown_text(diff_title(pair)) + "\n\n" + diff_summary(pair) + "\n";
    if (!pair.findings.empty()) {
      text += "\n| severity | code | host | device | what | cost | confirm |\n|-|-|-|-|-|-|-|\n";
    }
    for (const PricedFinding& each : pair.findings) {
      const topology::FindingKind& kind = topology::finding_kind(each.finding.code);
      text +=
          fmt::format("| {} | {} | {} | {} | {} | {} | `{}` |\n", topology::severity_name(kind.severity),
                      kind.code, markdown_text(each.host), markdown_text(each.finding.device),
                      markdown_text(each.finding.what), markdown_text(priced_cell(each.price)), kind.confirm);
    }
    for (const std::string& version : pair.versions) text += "\nVersion of " + markdown_text(version) + "\n";
  }
  for (const std::string& note : diff.left_out) text += "\n" + markdown_text(note) + "\n";
  if (const std::vector<OddNode> odd = odd_nodes(diff); !odd.empty()) {
    text += fmt::format("\n## Odd nodes ({} of {})\n\n| node | findings |\n|-|-|\n", odd.size(), diff.nodes);
    for (const OddNode& node : odd)
      text += fmt::format("| {} | {} |\n", markdown_text(node.host),
                          markdown_text(fmt::format("{}", fmt::join(node.findings, "; "))));
    const std::string faulty = slurm_node_list(faulty_nodes(diff));
    text += "\nSlurm: " + (faulty.empty() ? no_slurm_list(diff) : markdown_code(faulty)) + "\n";
  }
  return text;
}

}  // namespace collbench::analysis
