#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "analysis/report/diff_report.hpp"
#include "analysis/report/html/machine_drawing.hpp"
#include "analysis/report/html/page.hpp"
#include "analysis/report/odd_nodes.hpp"
#include "analysis/report/report.hpp"
#include "topology/catalog/finding_kinds.hpp"

namespace collbench::analysis {
namespace {

constexpr std::size_t kMaxDrawings = 8;  ///< of a fleet's kinds of odd machines

std::string severity_style(topology::Severity severity) {
  switch (severity) {
    case topology::Severity::broken:
      return "alarm";
    case topology::Severity::degraded:
      return "warning";
    case topology::Severity::differs:
    case topology::Severity::cosmetic:
      return "";
  }
  return "";
}

ReportTable finding_rows(const ComparedHosts& pair) {
  ReportTable table{
      "Findings",
      {"severity", "code", "host", "device", "what", "why it matters", "cost", "advice", "confirm"},
      {},
      true};
  for (const PricedFinding& each : pair.findings) {
    const topology::FindingKind& kind = topology::finding_kind(each.finding.code);
    table.rows.push_back(
        {{std::string(topology::severity_name(kind.severity)), severity_style(kind.severity)},
         {std::string(kind.code)},
         {each.host},
         {each.finding.device},
         {each.finding.what},
         {std::string(kind.reason)},
         {format_price(each.price)},
         {each.price.advice},
         {std::string(kind.confirm)}});
  }
  return table;
}

std::string odd_node_body(const DiffReport& diff, const std::vector<OddNode>& odd) {
  ReportTable table{"Odd nodes", {"node", "findings"}, {}, true};
  for (const OddNode& node : odd)
    table.rows.push_back({{node.host}, {fmt::format("{}", fmt::join(node.findings, "; "))}});
  const std::string faulty = slurm_node_list(faulty_nodes(diff));
  return html_table(table) + html_paragraph("Slurm: " + (faulty.empty() ? no_slurm_list(diff) : faulty));
}

}  // namespace

std::string report_html(const DiffReport& diff) {
  std::vector<HtmlSection> sections;
  for (std::size_t i = 0; i < diff.pairs.size(); ++i) {
    const ComparedHosts& pair = diff.pairs[i];
    std::string body = html_paragraph(diff_summary(pair));
    if (!pair.findings.empty()) body += html_table(finding_rows(pair));
    if (pair.drawn && !pair.findings.empty() && i < kMaxDrawings)
      body += machine_drawing(*pair.drawn, pair.b.front(), drawing_marks(pair.findings));
    ReportLines versions;
    for (const std::string& version : pair.versions) versions.push_back({"version of " + version});
    sections.push_back({fmt::format("pair-{}", i + 1), diff_title(pair), body + html_list(versions)});
  }
  if (const std::vector<OddNode> odd = odd_nodes(diff); !odd.empty()) {
    sections.push_back(
        {"odd-nodes", fmt::format("Odd nodes ({} of {})", odd.size(), diff.nodes), odd_node_body(diff, odd)});
  }
  ReportLines lines;
  for (const std::string& line : diff_headlines(diff)) lines.push_back({line});
  for (const std::string& note : diff.left_out) lines.push_back({note});
  return html_page("Topology diff", lines, sections);
}

}  // namespace collbench::analysis
