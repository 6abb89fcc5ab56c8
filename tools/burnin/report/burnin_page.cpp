#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <string>
#include <vector>

#include "analysis/report/html/page.hpp"
#include "base/units.hpp"
#include "tools/burnin/attribution/blame_words.hpp"
#include "tools/burnin/attribution/group_verdicts.hpp"
#include "tools/burnin/report/burnin_report.hpp"
#include "tools/burnin/report/direction_rates.hpp"

namespace collbench::analysis {
namespace {

constexpr std::size_t kMaxRows = 1000;  // of a table

std::string style_of(Bucket bucket) {
  switch (bucket) {
    case Bucket::good:
      return "";
    case Bucket::suspect:
      return "warning";
    case Bucket::bad:
    case Bucket::not_tested:
      return "alarm";
  }
  return "";
}

std::string not_good_body(const BurninRecord& record, const Attribution& found) {
  HtmlTable table{"Hosts that are not good", {"host", "bucket", "why"}, {}, true};
  std::size_t left_out = 0;
  for (const NodeVerdict& node : found.nodes) {
    if (node.bucket == Bucket::good) continue;
    if (table.rows.size() == kMaxRows)
      ++left_out;
    else
      table.rows.push_back(
          {{record.table.nodes[slot_of(node.node)]}, {name(node.bucket), style_of(node.bucket)}, {node.why}});
  }
  if (table.rows.empty())
    return html_paragraph(has_finding_of_no_node(record, found)
                              ? "All hosts are good; the findings are of no single host."
                              : "All hosts are good.");
  return html_table(table) +
         (left_out > 0 ? html_paragraph(fmt::format("and {} more, in --format json", left_out)) : "");
}

std::string findings_body(const BurninRecord& record, const Attribution& found) {
  if (found.blames.empty()) return html_paragraph("None.");
  HtmlTable table{
      "Findings, worst first",
      {"what", "hosts", "rail", "times slower", "line", "against", "measured alone", "evidence", "next"},
      {},
      true};
  const std::vector<Blame> blames = with_such_paths_last(found);
  if (is_path_not_alone(blames.back()) && !is_path_not_alone(blames.front()))
    table.caption = "Findings, worst first; then paths that were not measured alone";
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

std::string rails_body(const BurninRecord& record, const DirectionRates& rates) {
  HtmlTable table{
      "Pairs, a message one way", {"rail", "directions", "median (GB/s)", "slowest (GB/s)", "of"}, {}};
  for (int rail = 0; rail < record.table.rails; ++rail) {
    std::size_t count = 0;
    const DirectionRate* slowest = nullptr;
    for (const DirectionRate& rate : rates.all) {
      if (rate.rail != rail || !(rate.bytes_per_second > 0)) continue;
      ++count;
      if (slowest == nullptr || rate.bytes_per_second < slowest->bytes_per_second) slowest = &rate;
    }
    if (slowest == nullptr) {
      table.rows.push_back({{fmt::to_string(rail)}, {"0"}, {"–"}, {"–"}, {"–"}});
      continue;
    }
    table.rows.push_back(
        {{fmt::to_string(rail)},
         {fmt::to_string(count)},
         {fmt::format("{:.4g}", median_rate(rates, rail) / kGigabyte)},
         {fmt::format("{:.4g}", slowest->bytes_per_second / kGigabyte)},
         {record.table.nodes[slot_of(slowest->from)] + " to " + record.table.nodes[slot_of(slowest->to)]}});
  }
  return html_table(table);
}

std::string groups_body(const BurninRecord& record) {
  HtmlTable table{"Groups of hosts, bus bandwidth",
                  {"phase", "operation", "hosts", "measured", "jobs", "median (GB/s)", "line"},
                  {}};
  for (const GroupPopulation& population : group_populations(record)) {
    table.rows.push_back(
        {{name(population.phase)},
         {population.operation},
         {fmt::to_string(population.size)},
         {population.alone ? "alone" : "at once"},
         {fmt::to_string(population.members.size())},
         {fmt::format("{:.4g}", population.median / kGigabyte)},
         {std::isfinite(population.line) ? fmt::format("+{:.1f} %", 100 * std::expm1(population.line))
                                         : "–"}});
  }
  return html_table(table);
}

/// What was not measured, and what of it is not known.
ReportLines missing_lines(const BurninRecord& record, const Attribution& found) {
  ReportLines lines;
  if (!found.doubt.empty()) lines.push_back({"not known: " + found.doubt, Tone::warning});
  if (!std::isfinite(found.blind_below)) {
    if (!record.table.times.empty())
      lines.push_back({"too few pairs gave times to tell what passes unseen", Tone::warning});
  } else if (!record.table.times.empty()) {
    lines.push_back(
        {fmt::format(
             "what costs less than {:+.1f} % of the time passes unseen, by the scatter of these times",
             100 * std::expm1(found.blind_below)),
         found.blind_below > kMaxBlind ? Tone::warning : Tone::plain});
  }
  if (record.expected <= 0) lines.push_back({"compared with the median of these hosts only"});
  if (record.left_out > 0)
    lines.push_back({fmt::format("{} of {} pairs and rails were left out for want of time", record.left_out,
                                 record.planned),
                     Tone::warning});
  if (record.retests_left_out > 0)
    lines.push_back(
        {fmt::format("{} left out for want of time", counted(slot_of(record.retests_left_out), "retest")),
         Tone::warning});
  for (const std::string& phase : record.phases_left_out) lines.push_back({"left out: " + phase});
  for (const GroupFailure& failure : record.group_failures)
    lines.push_back(
        {fmt::format("no result in phase {}: {}", name(failure.launch.phase), failure.why), Tone::alarm});
  for (const PairFailure& failure : record.failures) {
    if (lines.size() > kMaxRows) break;
    lines.push_back({fmt::format("rail {} gave no time: {}", failure.rail, failure.why), Tone::alarm});
  }
  for (const std::string& note : record.counter_notes) lines.push_back({"counters not read: " + note});
  return lines;
}

}  // namespace

std::string burnin_html(const BurninRecord& record) {
  const Attribution found = attribute(record);
  ReportLines lead;
  if (!record.source.empty()) lead.push_back({record.source});
  for (const Bucket bucket : {Bucket::good, Bucket::suspect, Bucket::bad, Bucket::not_tested}) {
    const std::size_t count = names_of(record, found, bucket).size();
    if (count == 0 && bucket != Bucket::good) continue;
    lead.push_back(
        {fmt::format("{} of {} {}", count, counted(record.table.nodes.size(), "host"), name(bucket)),
         bucket == Bucket::good      ? Tone::plain
         : bucket == Bucket::suspect ? Tone::warning
                                     : Tone::alarm});
  }
  std::vector<HtmlSection> sections;
  sections.push_back({"hosts", "Hosts", not_good_body(record, found)});
  sections.push_back({"findings", "Findings", findings_body(record, found)});
  if (!record.table.times.empty()) {
    const DirectionRates rates = direction_rates(record);
    sections.push_back({"map", "Pairs and rails",
                        html_picture(burnin_svg(record), "Rates over the usual one of each rail",
                                     "A map of all pairs on each rail; the tables say what stands out") +
                            rails_body(record, rates)});
  }
  if (!record.groups.empty()) sections.push_back({"groups", "Groups", groups_body(record)});
  if (!record.rises.empty()) {
    ReportLines rises;
    for (const CounterRise& rise : record.rises) {
      if (rises.size() == kMaxRows) break;
      rises.push_back({fmt::format("phase {}: {}", rise.phase, rise_words(rise)),
                       grade_of(rise) == RiseGrade::noted ? Tone::plain : Tone::warning});
    }
    sections.push_back({"counters", "Error counters that went up", html_list(rises)});
  }
  sections.push_back(
      {"missing", "What was not measured, and what is not known", html_list(missing_lines(record, found))});
  return html_page("Burn-in", lead, sections);
}

}  // namespace collbench::analysis
