#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <string>
#include <vector>

#include "analysis/report/html/page.hpp"
#include "base/units.hpp"
#include "tools/burnin/attribution/blame_words.hpp"
#include "tools/burnin/attribution/burnin_text.hpp"
#include "tools/burnin/attribution/group_verdicts.hpp"
#include "tools/burnin/report/burnin_report.hpp"

namespace collbench::analysis {
namespace {

constexpr std::size_t kMaxRows = 1000;  // of a table

std::string not_good_body(const BurninRecord& record, const Attribution& found) {
  ReportTable table{"Hosts that are not good", {"host", "bucket", "why"}, {}, true};
  std::size_t left_out = 0;
  for (const NodeVerdict& node : found.nodes) {
    if (node.bucket == Bucket::good) continue;
    if (table.rows.size() == kMaxRows)
      ++left_out;
    else
      table.rows.push_back({{record.table.nodes[slot_of(node.node)]},
                            {name(node.bucket), node.bucket == Bucket::suspect ? "warning" : "alarm"},
                            {node.why}});
  }
  if (table.rows.empty())
    return html_paragraph(
        fmt::format("All {} hosts are good{}.", found.nodes.size(),
                    has_finding_of_no_node(record, found) ? "; the findings are of no single host" : ""));
  return html_table(table) +
         (left_out > 0 ? html_paragraph(fmt::format("and {} more, in --format json", left_out)) : "");
}

std::string findings_body(const BurninRecord& record, const Attribution& found) {
  if (found.blames.empty()) return html_paragraph("None.");
  ReportTable table{
      "Findings, worst first; paths that were not measured alone last",
      {"what", "hosts", "rail", "times slower", "line", "against", "measured alone", "evidence", "next"},
      {},
      true};
  const std::vector<Blame> blames = with_such_paths_last(found);
  for (const Blame& blame : blames) {
    if (table.rows.size() == kMaxRows) break;
    const bool by_time = blame.measure.empty();  // else by lost packets or other work, which have no ratio
    table.rows.push_back({{name(blame.kind)},
                          {fmt::format("{}", fmt::join(names_of(record, blame.nodes), ", "))},
                          {blame.rail ? fmt::to_string(*blame.rail) : "all"},
                          {by_time ? fmt::format("{:.2f}", blame.times_slower) : blame.measure},
                          {by_time ? fmt::format("{:.2f}", blame.line) : "–"},
                          {!by_time                 ? "–"
                           : blame.against_expected ? "what is expected"
                                                    : "its like"},
                          {blame.confirmed ? "confirmed" : "not confirmed", blame.confirmed ? "" : "warning"},
                          {blame.evidence},
                          {blame.next}});
  }
  std::string body = html_table(table);
  if (found.blames.size() > kMaxRows)
    body += html_paragraph(fmt::format("and {} more, in --format json", found.blames.size() - kMaxRows));
  return body;
}

std::string groups_body(const BurninRecord& record) {
  ReportTable table{"Groups of hosts, bus bandwidth",
                    {"phase", "operation", "hosts", "measured", "jobs", "median (GB/s)", "line"},
                    {}};
  for (const GroupPopulation& population : group_populations(record)) {
    table.rows.push_back({{name(population.phase)},
                          {population.operation},
                          {fmt::to_string(population.size)},
                          {population.alone ? "alone" : "at once"},
                          {fmt::to_string(population.members.size())},
                          {fmt::format("{:.4g}", population.median / kGigabyte)},
                          {std::isfinite(population.line) ? percent_slower(population.line) : "–"}});
  }
  return html_table(table);
}

}  // namespace

std::string burnin_html(const BurninRecord& record) {
  const Attribution found = attribute(record);
  const bool is_alarm =
      !names_of(record, found, Bucket::bad).empty() || !names_of(record, found, Bucket::not_tested).empty();
  ReportLines lead{{summary(record, found), passes(record, found) ? Tone::plain
                                            : is_alarm            ? Tone::alarm
                                                                  : Tone::warning}};
  if (!record.source.empty()) lead.push_back({record.source});
  std::vector<HtmlSection> sections;
  sections.push_back({"hosts", "Hosts", not_good_body(record, found)});
  sections.push_back({"findings", "Findings", findings_body(record, found)});
  if (!record.table.times.empty()) {
    sections.push_back({"map", "Pairs and rails",
                        html_picture(burnin_svg(record), "Rates over the usual one of each rail",
                                     "A map of all pairs on each rail; the tables say what stands out") +
                            html_list(rail_lines(record))});
  }
  if (!record.groups.empty()) sections.push_back({"groups", "Groups", groups_body(record)});
  if (!record.rises.empty())
    sections.push_back({"counters", "Error counters that went up", html_list(rise_lines(record, kMaxRows))});
  sections.push_back(
      {"missing", "What was not measured, and what is not known", html_list(missing_lines(record, found))});
  return html_page("Burn-in", lead, sections);
}

}  // namespace collbench::analysis
