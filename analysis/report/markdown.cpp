#include "analysis/report/markdown.hpp"

#include <string_view>
#include <vector>

#include "analysis/report/columns.hpp"
#include "analysis/report/footer.hpp"
#include "analysis/report/header.hpp"
#include "analysis/report/text_layout.hpp"

namespace collbench::analysis {
namespace {

std::string bullets(const ReportFacts& facts) {
  std::string text;
  for (const ReportFact& fact : facts) {
    const bool loud = fact.tone == Tone::warning || fact.tone == Tone::alarm;
    text += loud ? "- **" + markdown_text(fact.text) + "**\n" : "- " + markdown_text(fact.text) + "\n";
  }
  return text;
}

/// Numbers stand at the right; the last column, the algorithm, is text.
std::string table_head(const std::vector<const ReportColumn*>& columns) {
  std::string names = "|";
  std::string rule = "|";
  for (const ReportColumn* const column : columns) {
    names += " " + markdown_text(column->heading) + " |";
    rule += column == columns.back() ? " --- |" : " ---: |";
  }
  return names + "\n" + rule + "\n";
}

std::string table_row(const ReportRow& row, const std::vector<const ReportColumn*>& columns) {
  std::string line = "|";
  for (const ReportColumn* const column : columns) {
    const std::string cell = markdown_text(column->cell(row));
    const bool loud = column->tone != nullptr && column->tone(row) != Tone::plain;
    line += loud ? " **" + cell + "** |" : " " + cell + " |";
  }
  return line + "\n";
}

std::string section(const Run& run, OperationId id) {
  const int ranks = static_cast<int>(run.ranks.size());
  std::vector<ReportRow> shown;
  for (const Row& row : run.rows) {
    if (row.measurement.key.operation == id && row.measurement.unavailable.empty())
      shown.push_back({row, rates(row, ranks)});
  }
  const std::vector<const ReportColumn*> columns = columns_for(run, shown);
  std::string rows;
  for (const ReportRow& row : shown) rows += table_row(row, columns);
  std::string text = "\n## " + std::string(operation(id).name) + "\n";
  if (!rows.empty())
    text += markdown_text(operation_fact(id, ranks).text) + "\n\n" + table_head(columns) + rows;
  const std::string unavailable = bullets(unavailable_facts(run, id));
  return unavailable.empty() ? text : text + "\n" + unavailable;
}

}  // namespace

std::string report_markdown(const Run& run) {
  std::string text = "# collbench report\n\n" + bullets(header_facts(run)) + bullets(legend_facts(run));
  for (const OperationId id : operations_in(run)) text += section(run, id);
  return text + "\n## Outcome\n" + bullets(footer_facts(run));
}

}  // namespace collbench::analysis
