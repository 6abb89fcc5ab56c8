#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/document/document.hpp"
#include "base/units.hpp"
#include "tools/burnin/attribution/blame_words.hpp"
#include "tools/burnin/attribution/burnin_text.hpp"
#include "tools/burnin/attribution/group_verdicts.hpp"
#include "tools/burnin/report/burnin_report.hpp"

namespace collbench::analysis {
namespace {

constexpr std::size_t kMaxRows = 1000;  // of a table

std::vector<ReportBlock> not_good_blocks(const BurninRecord& record, const Attribution& found) {
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
    return {fmt::format("All {} hosts are good{}.", found.nodes.size(),
                        has_finding_of_no_node(record, found) ? "; the findings are of no single host" : "")};
  std::vector<ReportBlock> blocks{std::move(table)};
  if (left_out > 0) blocks.emplace_back(fmt::format("and {} more, in --format json", left_out));
  return blocks;
}

std::vector<ReportBlock> findings_blocks(const BurninRecord& record, const Attribution& found) {
  if (found.blames.empty()) return {"None."};
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
  std::vector<ReportBlock> all{std::move(table)};
  if (found.blames.size() > kMaxRows)
    all.emplace_back(fmt::format("and {} more, in --format json", found.blames.size() - kMaxRows));
  return all;
}

ReportTable groups_table(const BurninRecord& record) {
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
  return table;
}

}  // namespace

std::string burnin_html(const BurninRecord& record) {
  const Attribution found = attribute(record);
  const bool is_alarm =
      !names_of(record, found, Bucket::bad).empty() || !names_of(record, found, Bucket::not_tested).empty();
  ReportLines lead;
  if (!record.source.empty()) lead.push_back({record.source});
  std::vector<ReportSection> sections{{"Hosts", not_good_blocks(record, found), "hosts"},
                                      {"Findings", findings_blocks(record, found), "findings"}};
  if (!record.table.times.empty()) {
    const ReportPicture map{burnin_svg(record), "Rates over the usual one of each rail",
                            "A map of all pairs on each rail; the tables say what stands out"};
    sections.push_back({"Pairs and rails", {map, rail_lines(record)}, "map"});
  }
  if (!record.groups.empty()) sections.push_back({"Groups", {groups_table(record)}, "groups"});
  sections.push_back({"Error counters that went up", {rise_lines(record, kMaxRows)}, "counters"});
  sections.push_back(
      {"What was not measured, and what is not known", {missing_lines(record, found)}, "missing"});
  return html_page({"Burn-in",
                    std::move(sections),
                    std::move(lead),
                    {summary(record, found), passes(record, found) ? Tone::plain
                                             : is_alarm            ? Tone::alarm
                                                                   : Tone::warning}});
}

}  // namespace collbench::analysis
