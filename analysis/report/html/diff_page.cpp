#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "analysis/report/diff_report.hpp"
#include "analysis/report/html/markup.hpp"
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

ReportSection odd_node_section(const DiffReport& diff, const std::vector<OddNode>& odd) {
  ReportTable table{"Odd nodes", {"node", "findings"}, {}, true};
  for (const OddNode& node : odd)
    table.rows.push_back({{node.host}, {fmt::format("{}", fmt::join(node.findings, "; "))}});
  const std::string faulty = slurm_node_list(faulty_nodes(diff));
  return {fmt::format("Odd nodes ({} of {})", odd.size(), diff.nodes),
          {std::move(table), "Slurm: " + (faulty.empty() ? no_slurm_list(diff) : faulty)},
          "odd-nodes"};
}

}  // namespace

std::string report_html(const DiffReport& diff) {
  Document page{"Topology diff", {}, as_lines(diff_headlines(diff))};
  for (const std::string& note : diff.left_out) page.lead.push_back({note});
  for (std::size_t i = 0; i < diff.pairs.size(); ++i) {
    const ComparedHosts& pair = diff.pairs[i];
    ReportSection& section = page.sections.emplace_back(
        diff_title(pair), std::vector<ReportBlock>{diff_summary(pair)}, fmt::format("pair-{}", i + 1));
    if (!pair.findings.empty()) section.blocks.emplace_back(finding_rows(pair));
    if (pair.drawn && !pair.findings.empty() && i < kMaxDrawings)
      section.blocks.push_back(machine_drawing(*pair.drawn, pair.b.front(), drawing_marks(pair.findings)));
    ReportLines versions;
    for (const std::string& version : pair.versions) versions.push_back({"version of " + version});
    section.blocks.emplace_back(std::move(versions));
  }
  if (const std::vector<OddNode> odd = odd_nodes(diff); !odd.empty())
    page.sections.push_back(odd_node_section(diff, odd));
  return html_page(page);
}

}  // namespace collbench::analysis
