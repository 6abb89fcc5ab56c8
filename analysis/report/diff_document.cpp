// diff_document() of diff_report.hpp.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/report/diff_report.hpp"
#include "analysis/report/report.hpp"
#include "topology/catalog/finding_kinds.hpp"

namespace collbench::analysis {
namespace {

constexpr int kMinDiffWidth = 80;
constexpr int kMaxDiffWidth = 110;  ///< longer lines of prose are hard to read

Tone severity_tone(topology::Severity severity) {
  switch (severity) {
    case topology::Severity::broken:
      return Tone::alarm;
    case topology::Severity::degraded:
      return Tone::warning;
    case topology::Severity::differs:
    case topology::Severity::cosmetic:
      return Tone::plain;
  }
  return Tone::plain;
}

ReportFindings findings_of(const ComparedHosts& pair, bool all_costs) {
  ReportFindings findings;
  for (const PricedFinding& each : pair.findings) {
    const topology::FindingKind& kind = topology::finding_kind(each.finding.code);
    ReportFinding& found =
        findings.emplace_back(ReportFinding{std::string(topology::severity_name(kind.severity)),
                                            severity_tone(kind.severity), std::string(kind.code), each.host});
    found.lines = {{"", each.finding.device + ": " + each.finding.what},
                   {"", std::string(kind.reason)},
                   {"cost", price_words(each.price, all_costs)}};
    if (!each.price.advice.empty()) found.lines.emplace_back("advice", each.price.advice);
    found.lines.emplace_back("confirm", kind.confirm);
  }
  return findings;
}

ReportSection odd_node_section(const DiffReport& diff, const std::vector<OddNode>& odd) {
  ReportList lines;
  for (const OddNode& node : odd)
    lines.push_back(fmt::format("{}: {}", node.host, fmt::join(node.findings, "; ")));
  const std::string faulty = slurm_node_list(faulty_nodes(diff));
  return {fmt::format("Odd nodes ({} of {})", odd.size(), diff.nodes),
          {std::move(lines), "Slurm: " + (faulty.empty() ? no_slurm_list(diff) : faulty)},
          "odd-nodes"};
}

}  // namespace

Document diff_document(const DiffReport& diff, bool all_costs) {
  ReportLines lines = as_lines(diff_headlines(diff));
  // The answer of two machines is the first line, too.
  const bool is_one = lines.empty() && diff.pairs.size() == 1;
  Document page{"Topology diff", {}};
  for (std::size_t i = 0; i < diff.pairs.size(); ++i) {
    const ComparedHosts& pair = diff.pairs[i];
    const std::string title = fmt::format("{}: {}", diff_title(pair), diff_summary(pair));
    if (is_one) lines.push_back({title});
    ReportSection& section =
        page.sections.emplace_back(ReportSection{is_one ? "" : title, {}, fmt::format("pair-{}", i + 1)});
    if (!pair.findings.empty()) section.blocks.emplace_back(findings_of(pair, all_costs));
    for (const std::string& version : pair.versions) section.blocks.emplace_back("version of " + version);
  }
  if (!diff.left_out.empty()) page.sections.push_back({"", {diff.left_out}});
  if (const std::vector<OddNode> odd = odd_nodes(diff); !odd.empty())
    page.sections.push_back(odd_node_section(diff, odd));
  if (!lines.empty()) page.headline = lines.front();
  if (!lines.empty()) page.lead.assign(lines.begin() + 1, lines.end());
  return page;
}

std::string report_markdown(const DiffReport& diff) { return markdown(diff_document(diff)); }

std::string report_text(const DiffReport& diff, const TextOptions& options) {
  return text(diff_document(diff, options.verbose),
              {.columns = std::clamp(options.columns, kMinDiffWidth, kMaxDiffWidth)});
}

}  // namespace collbench::analysis
