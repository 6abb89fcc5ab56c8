#include "tools/burnin/attribution/burnin_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <ranges>
#include <utility>

#include "base/statistics.hpp"
#include "base/text_sinks.hpp"
#include "base/units.hpp"
#include "base/word_list.hpp"
#include "tools/burnin/attribution/blame_words.hpp"
#include "tools/burnin/attribution/gpu_phase.hpp"
#include "tools/burnin/attribution/group_verdicts.hpp"
#include "tools/burnin/attribution/halving.hpp"
#include "tools/burnin/attribution/mixed_fleet.hpp"
#include "tools/burnin/attribution/pairs/pair_design.hpp"
#include "tools/burnin/attribution/pairs/pair_repeats.hpp"

namespace collbench::analysis {
namespace {

double gigabytes_per_second(const BurninRecord& record, const RailTime& time) {
  return record.bytes / time.seconds / kGigabyte;
}

/// "rail 3: 12 directions, median 11.9 GB/s, slowest 5.9 (host2 to host0)", of hosts that are alike; "pairs:
/// …" where there is one rail only.
std::string rail_line(const BurninRecord& record, int rail, const std::string& of_hosts) {
  std::vector<double> rates;
  const RailTime* slowest = nullptr;
  for (const RailTime& time : record.table.times) {
    if (time.rail != rail || time.seconds <= 0) continue;
    rates.push_back(gigabytes_per_second(record, time));
    if (slowest == nullptr || time.seconds > slowest->seconds) slowest = &time;
  }
  const std::string what =
      (record.table.rails > 1 ? fmt::format("rail {}", rail) : std::string("pairs")) + of_hosts;
  if (rates.empty()) return what + ": nothing measured";
  return fmt::format("{}: {} directions, median {:.4g} GB/s, slowest {:.4g} ({} to {})", what, rates.size(),
                     median(rates), gigabytes_per_second(record, *slowest),
                     record.table.nodes[slot_of(slowest->from)], record.table.nodes[slot_of(slowest->to)]);
}

/// What went up on a host of a finding, which stands beside it: at most three counters.
std::string beside(const BurninRecord& record, const Blame& blame) {
  constexpr std::size_t kShown = 3;
  std::vector<std::string> words;
  for (const CounterRise& rise : record.rises) {
    const auto node = node_named(record, rise.host);
    const bool is_of_it = node && std::ranges::find(blame.nodes, *node) != blame.nodes.end();
    if (is_of_it && words.size() < kShown) words.push_back(rise_words(rise));
  }
  return words.empty() ? std::string() : fmt::format("went up there: {}", fmt::join(words, "; "));
}

/// "groups, found from the pairs: n0, n2, n4, n6 and 4 more; …", and what they are used for; empty for none.
std::string group_line_of(const BurninRecord& record, const Attribution& found) {
  if (found.groups.empty()) return {};
  std::vector<std::string> groups;
  for (const std::vector<int>& members : found.groups)
    groups.push_back(join_first(names_of(record, members), 4, ", "));
  return fmt::format(
      "groups, found from the pairs themselves (leaves, racks): {}; pairs between groups take {}, and a node "
      "is judged against pairs of its own kind",
      join_first(groups, 8, "; "), time_words(found.across_groups));
}

/// What passes unseen by those who were judged; empty where nobody was, it is said of whom it holds back, or
/// what is expected of each says it.
std::string unseen_line(const BurninRecord& record, const Attribution& found) {
  if (record.expected > 0 && has_rate_of_each_node(record)) return {};
  double blind = 0;
  bool is_judged = false;
  for (const NodeVerdict& node : found.nodes) {
    const double of = found.blind_below_of(node.node);
    if (node.bucket == Bucket::not_tested || !std::isfinite(of)) continue;
    if (of > kMaxBlind && node.held_back) return {};
    is_judged = true;
    blind = std::max(blind, of);
  }
  if (!is_judged) return {};
  const std::string words = blind_words(blind);
  return !words.empty() ? words
                        : fmt::format("what takes less than {} passes unseen, by the scatter of these times",
                                      time_words(blind));
}

/// A line for each node that is not good, one for all of whom the same is said.
ReportLines node_lines(const BurninRecord& record, const Attribution& found) {
  std::vector<Said> said;
  std::vector<Said> held_back;
  for (const NodeVerdict& node : found.nodes) {
    if (node.bucket == Bucket::good) continue;
    (node.held_back ? held_back : said)
        .push_back({record.table.nodes[slot_of(node.node)],
                    fmt::format("{}: {}", name(node.bucket), node.why),
                    node.bucket == Bucket::suspect ? Tone::warning : Tone::alarm});
  }
  ReportLines lines = said_once(said);
  std::ranges::move(said_once(held_back), std::back_inserter(lines));
  return lines;
}

/// Jobs without a result.
ReportLines failed_lines(const BurninRecord& record) {
  std::vector<Said> failed;
  for (const GroupFailure& failure : record.group_failures) {
    const GroupLaunch& launch = failure.launch;
    failed.push_back(
        {hosts_of(record, launch.nodes),
         fmt::format("no result in phase {}{}{}: {}", name(launch.phase),
                     launch.rail ? fmt::format(" on rail {}", *launch.rail) : "",
                     launch.phase == BurninPhase::rails && launch.alone ? " alone" : "", failure.why)});
  }
  return said_once(failed);
}

std::string repeat_words(const BurninRecord& record) {
  if (!has_repeats(record.table)) return {};
  const SettledPairs settled = settled_counts(record);
  return fmt::format("{} stood out beside others and {} measured again so: {} then like the others",
                     counted(settled.repeated, "direction"), settled.repeated == 1 ? "was" : "were",
                     settled.eased);
}

struct SaidFinding {
  std::string words;
  std::string beside;  ///< what went up beside it; empty: nothing
  std::string next;
  Tone tone = Tone::warning;  ///< an alarm where it was seen alone
};

/// Many paths are one of them.
std::vector<SaidFinding> said_findings(const BurninRecord& record, const Attribution& found) {
  std::vector<SaidFinding> said;
  const std::vector<Blame> paths = paths_that_were_not_alone(found);
  const bool many = paths.size() > kMaxPathsOneByOne;
  for (const Blame& blame : found.blames) {
    if (many && is_path_not_alone(blame)) continue;
    said.push_back({blame_words(blame), beside(record, blame), blame.next,
                    blame.confirmed ? Tone::alarm : Tone::warning});
  }
  if (many)
    said.push_back({many_paths(paths, record.table), "",
                    "measure these pairs again, alone; ibtracert between two nodes names the links of a "
                    "static route"});
  return said;
}

/// Of each rail, and in a mixed fleet of each kind of hosts that is compared.
ReportLines rail_lines(const BurninRecord& record) {
  const std::vector<std::vector<int>> kinds = nodes_alike(record);
  ReportLines lines;
  for (int rail = 0; rail < record.table.rails; ++rail) {
    for (const std::vector<int>& nodes : kinds) {
      if (kinds.size() < 2)
        lines.push_back({rail_line(record, rail, "")});
      else if (std::cmp_greater_equal(nodes.size(), kMinNodesOfPairs))
        lines.push_back(
            {rail_line(part_of(record, nodes), rail,
                       fmt::format(", hosts like {}", record.table.nodes[slot_of(nodes.front())]))});
    }
  }
  return lines;
}

/// What went up while phases ran, `max` counters at most, and how many more.
ReportLines rise_lines(const BurninRecord& record, std::size_t max) {
  ReportLines lines;
  for (std::size_t i = 0; i < std::min(max, record.rises.size()); ++i)
    lines.push_back({fmt::format("phase {}: {}", record.rises[i].phase, rise_words(record.rises[i]))});
  if (record.rises.size() > max)
    lines.push_back({fmt::format("and {} more, in --format json", record.rises.size() - max)});
  return lines;
}

/// The pairs' rails; a heading where groups have one too.
ReportSection pairs_section(const BurninRecord& record) {
  const bool has_pairs = !record.table.times.empty();
  if (!has_pairs && !(record.source.empty() && record.groups.empty() && record.probes.empty())) return {};
  return {has_pairs && !record.groups.empty() ? "phase pairs: a message one way" : "", {rail_lines(record)}};
}

ReportSection phase_section(const BurninRecord& record, BurninPhase phase) {
  return phase == BurninPhase::gpus    ? gpu_section(record)
         : phase == BurninPhase::pairs ? pairs_section(record)
                                       : group_section(record, phase);
}

/// What is said of hosts.
ReportLines host_lines(const BurninRecord& record, const Attribution& found) {
  ReportLines lines{{gpu_difference(record)}, {group_line_of(record, found)}};
  std::ranges::move(node_lines(record, found), std::back_inserter(lines));
  std::erase_if(lines, [](const ReportLine& line) { return line.text.empty(); });
  return lines;
}

/// What follows from it, how it was measured, and what was not.
ReportLines last_lines(const BurninRecord& record, const Attribution& found) {
  ReportLines lines;
  if (const std::vector<std::string> drained = names_of(record, found, Bucket::bad); !drained.empty())
    add(lines,
        "to drain them (printed, not run; --format drain has the reason of each): scontrol update "
        "NodeName={} State=DRAIN Reason=collbench-burnin",
        fmt::join(drained, ","));
  for (std::string words : {repeat_words(record), halving_words(record)})
    if (!words.empty()) lines.push_back({std::move(words)});
  std::ranges::move(missing_lines(record, found), std::back_inserter(lines));
  return lines;
}

/// What of it every form begins with.
Document without_sections(const BurninRecord& record, const Attribution& found) {
  const bool is_alarm = !nodes_in(found, Bucket::bad).empty() || !nodes_in(found, Bucket::not_tested).empty();
  Document document{"Burn-in",
                    {},
                    {},
                    {summary(record, found), passes(record, found) ? Tone::plain
                                             : is_alarm            ? Tone::alarm
                                                                   : Tone::warning}};
  if (!record.source.empty()) {
    document.lead.push_back({record.source});
    if (!record.table.times.empty())
      document.lead.push_back({design_words(record.table, record.expected > 0)});
  }
  return document;
}

}  // namespace

ReportLines missing_lines(const BurninRecord& record, const Attribution& found) {
  ReportLines lines;
  const auto add = [&lines](Tone tone, std::string text) { lines.push_back({std::move(text), tone}); };
  for (const auto& [what, why] : record.launcher_errors)
    add(Tone::alarm, fmt::format("{} ended by {}", what, why));
  std::vector<Said> silent;
  for (const auto& [host, why] : record.without_counters)
    silent.push_back(
        {host, why.empty() ? "gave no error counters" : "gave no error counters: " + why, Tone::warning});
  std::ranges::move(said_once(silent), std::back_inserter(lines));
  for (const std::string& note : record.counter_notes) add(Tone::plain, "counters not read: " + note);
  if (!found.doubt.empty()) add(Tone::warning, "not known: " + found.doubt);
  if (std::string unseen = unseen_line(record, found); !unseen.empty())
    add(found.blind_below > kMaxBlind ? Tone::warning : Tone::plain, std::move(unseen));
  const JobsBelowFloor below = jobs_below_floor(record);
  if (below.below > 0) add(Tone::alarm, "the slowest job: " + floor_words(record, *below.worst));
  if (record.expected > 0 && !is_held_against_expected(record))
    add(Tone::warning,
        "not known: how they compare with --expected, a rate between hosts: no pair was measured");
  else if (record.expected > 0)
    add(Tone::plain, fmt::format("held against the expected {:.4g} GB/s: less than {:.0f} % of it is below",
                                 record.expected / kGigabyte, 100 * kShareOfExpected));
  else if (below.judged == 0 && !was_halved(record))
    add(Tone::plain, "compared with the median of these nodes only; with --expected also with a known rate");
  if (was_halved(record) && !record.groups.empty() && below.judged == 0)
    add(Tone::plain,
        "groups are compared with one another only: one equally slow host in each would not show");
  if (record.left_out > 0)
    add(Tone::warning, fmt::format("{} of {} pairs and rails were left out for want of time", record.left_out,
                                   record.planned));
  if (record.retests_left_out > 0)
    add(Tone::warning, fmt::format("{} of whoever failed or is suspected left out for want of time; --resume "
                                   "without --time makes up for them",
                                   counted(slot_of(record.retests_left_out), "retest")));
  const std::vector<LeftOutPhase>& left_out = record.phases_left_out;
  if (!left_out.empty())
    add(std::ranges::any_of(left_out, &LeftOutPhase::is_cut_by_time) ? Tone::warning : Tone::plain,
        fmt::format("left out, so what {} would show is not known: {}", left_out.size() == 1 ? "it" : "they",
                    fmt::join(std::views::transform(left_out, &LeftOutPhase::words), ", ")));
  std::ranges::move(failed_lines(record), std::back_inserter(lines));
  constexpr std::size_t kShown = 8;
  for (std::size_t i = 0; i < std::min(kShown, record.failures.size()); ++i)
    add(Tone::alarm, fmt::format("no time{}: {}", record.table.of_rail(record.failures[i].rail, " on"),
                                 record.failures[i].why));
  if (record.failures.size() > kShown)
    add(Tone::alarm, fmt::format("{} gave no time, in --format json",
                                 counted(record.failures.size() - kShown, "more pair")));
  return lines;
}

Document document_of(const BurninRecord& record, const Attribution& found) {
  Document document = without_sections(record, found);
  std::vector<ReportSection>& sections = document.sections;
  for (const BurninPhase phase : burnin_phases()) sections.push_back(phase_section(record, phase));
  sections.push_back({"", {host_lines(record, found)}});
  for (SaidFinding& finding : said_findings(record, found)) {
    ReportList lines{"next: " + finding.next};
    if (!finding.beside.empty()) lines.insert(lines.begin(), std::move(finding.beside));
    sections.push_back({std::move(finding.words), {std::move(lines)}});
  }
  sections.push_back({"error counters went up:", {rise_lines(record, 8)}});
  sections.push_back({"", {last_lines(record, found)}});
  return document;
}

Document page_of(const BurninRecord& record, const Attribution& found, ReportPicture map) {
  Document page = without_sections(record, found);
  constexpr std::size_t kMaxOfPage = 1000;
  ReportTable findings{.headings = {"finding", "next step"}, .is_text = true};
  const std::vector<SaidFinding> all = said_findings(record, found);
  for (const SaidFinding& finding : all | std::views::take(kMaxOfPage))
    findings.rows.push_back({{finding.words, tone_class(finding.tone)},
                             {finding.beside.empty() ? finding.next : finding.beside + ". " + finding.next}});
  ReportLines more;
  if (all.size() > kMaxOfPage) add(more, "and {} more, in --format json", all.size() - kMaxOfPage);
  page.sections = {{"Hosts", {host_lines(record, found)}, "hosts"},
                   {"Findings", {std::move(findings), std::move(more)}, "findings"}};
  for (const BurninPhase phase : burnin_phases()) {
    if (phase == BurninPhase::pairs && !map.svg.empty())
      page.sections.push_back({"Pairs and rails", {std::move(map), rail_lines(record)}, "map"});
    else
      page.sections.push_back(phase_section(record, phase));
  }
  page.sections.push_back({"Error counters that went up", {rise_lines(record, kMaxOfPage)}, "counters"});
  page.sections.push_back({"What follows, and what is not known", {last_lines(record, found)}, "missing"});
  return page;
}

std::string burnin_csv(const BurninRecord& record) {
  std::string text = "from,to,rail,gigabytes_per_second,alone,repeat\n";
  for (const RailTime& time : record.table.times) {
    text += fmt::format("{},{},{},{:.6g},{},{}\n", csv_cell(record.table.nodes[slot_of(time.from)]),
                        csv_cell(record.table.nodes[slot_of(time.to)]), time.rail,
                        time.seconds > 0 ? gigabytes_per_second(record, time) : 0, time.alone ? 1 : 0,
                        time.repeat);
  }
  return text;
}

}  // namespace collbench::analysis
