#include "tools/burnin/attribution/burnin_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "analysis/report/text_layout.hpp"
#include "base/statistics.hpp"
#include "base/text_sinks.hpp"
#include "base/units.hpp"
#include "tools/burnin/attribution/blame_words.hpp"
#include "tools/burnin/attribution/gpu_phase.hpp"
#include "tools/burnin/attribution/group_verdicts.hpp"
#include "tools/burnin/attribution/mixed_fleet.hpp"
#include "tools/burnin/attribution/pair_outcome.hpp"
#include "tools/burnin/attribution/pairs/pair_design.hpp"
#include "tools/burnin/attribution/pairs/pair_repeats.hpp"

namespace collbench::analysis {
namespace {

double gigabytes_per_second(const BurninRecord& record, const RailTime& time) {
  return record.bytes / time.seconds / kGigabyte;
}

/// "rail 0: 12 directions, median 11.9 GB/s, slowest 5.9 (host2 to host0)", of hosts that are alike.
std::string rail_line(const BurninRecord& record, int rail, const std::string& of_hosts) {
  std::vector<double> rates;
  const RailTime* slowest = nullptr;
  for (const RailTime& time : record.table.times) {
    if (time.rail != rail || time.seconds <= 0) continue;
    rates.push_back(gigabytes_per_second(record, time));
    if (slowest == nullptr || time.seconds > slowest->seconds) slowest = &time;
  }
  if (rates.empty()) return fmt::format("rail {}{}: nothing measured", rail, of_hosts);
  return fmt::format("rail {}{}: {} directions, median {:.4g} GB/s, slowest {:.4g} ({} to {})", rail,
                     of_hosts, rates.size(), median(rates), gigabytes_per_second(record, *slowest),
                     record.table.nodes[slot_of(slowest->from)], record.table.nodes[slot_of(slowest->to)]);
}

/// One for each rail; in a mixed fleet for each kind of hosts that is compared.
std::vector<std::string> rail_lines(const BurninRecord& record) {
  const std::vector<std::vector<int>> kinds = nodes_alike(record);
  std::vector<std::string> lines;
  for (int rail = 0; rail < record.table.rails; ++rail) {
    for (const std::vector<int>& nodes : kinds) {
      if (kinds.size() < 2)
        lines.push_back(rail_line(record, rail, ""));
      else if (std::cmp_greater_equal(nodes.size(), kMinNodesOfPairs))
        lines.push_back(
            rail_line(part_of(record, nodes), rail,
                      fmt::format(", hosts like {}", record.table.nodes[slot_of(nodes.front())])));
    }
  }
  return lines;
}

/// What went up on a host of a finding, which stands beside it: at most three counters.
std::string beside(const BurninRecord& record, const Blame& blame) {
  constexpr std::size_t kShown = 3;
  std::vector<std::string> words;
  for (const CounterRise& rise : record.rises) {
    const bool is_of_it = std::any_of(blame.nodes.begin(), blame.nodes.end(), [&](int node) {
      return is_same_host(record.table.nodes[slot_of(node)], rise.host);
    });
    if (is_of_it && words.size() < kShown) words.push_back(rise_words(rise));
  }
  return words.empty() ? std::string() : fmt::format("went up there: {}", fmt::join(words, "; "));
}

/// What went up on hosts without a finding, and what could not be read.
std::vector<std::string> counter_lines(const BurninRecord& record) {
  constexpr std::size_t kShown = 8;
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < std::min(kShown, record.rises.size()); ++i)
    lines.push_back(fmt::format("phase {}: {}", record.rises[i].phase, rise_words(record.rises[i])));
  if (record.rises.size() > kShown)
    lines.push_back(fmt::format("and {} more, in --format json", record.rises.size() - kShown));
  return lines;
}

/// "n0, n5" of few, "n0 to n30 (16 hosts)" of many, which need not follow each other.
std::string hosts_of(const BurninRecord& record, const std::vector<int>& nodes) {
  constexpr std::size_t kMaxNamed = 4;
  const std::vector<std::string> hosts = names_of(record, nodes);
  return hosts.size() <= kMaxNamed
             ? fmt::format("{}", fmt::join(hosts, ", "))
             : fmt::format("{} to {} ({} hosts)", hosts.front(), hosts.back(), hosts.size());
}

/// "groups, found from the pairs: n0, n2, n4, n6 and 4 more; …", and what they are used for; empty for none.
std::string group_line_of(const BurninRecord& record, const Attribution& found) {
  if (found.groups.empty()) return {};
  constexpr std::size_t kShown = 8;
  std::vector<std::string> groups;
  for (std::size_t i = 0; i < std::min(kShown, found.groups.size()); ++i) {
    const std::vector<int>& members = found.groups[i];
    const std::size_t named = std::min<std::size_t>(4, members.size());
    const std::string first =
        hosts_of(record, {members.begin(), members.begin() + static_cast<std::ptrdiff_t>(named)});
    groups.push_back(named == members.size() ? first
                                             : fmt::format("{} and {} more", first, members.size() - named));
  }
  if (found.groups.size() > kShown)
    groups.push_back(fmt::format("{} more groups in --format json", found.groups.size() - kShown));
  return fmt::format(
      "groups, found from the pairs themselves (leaves, racks): {}; pairs between groups take {}, and a node "
      "is "
      "judged against pairs of its own kind",
      fmt::join(groups, "; "), percent_slower(found.across_groups));
}

/// What passes unseen by those who were judged; empty where nobody was, or it is said of whom it holds back.
std::string unseen_line(const Attribution& found) {
  double blind = 0;
  bool is_judged = false;
  for (const NodeVerdict& node : found.nodes) {
    const double of = found.blind_below_of(node.node);
    if (node.bucket == Bucket::not_tested || !std::isfinite(of)) continue;
    if (of > kMaxBlind && node.why == blind_words(of)) return {};
    is_judged = true;
    blind = std::max(blind, of);
  }
  if (!is_judged) return {};
  const std::string words = blind_words(blind);
  return !words.empty()
             ? words
             : fmt::format("what costs less than {} of the time passes unseen, by the scatter of these times",
                           percent_slower(blind));
}

/// A line for each node that is not good, one for all of whom the same is said, and what is not known.
std::vector<std::string> node_lines(const BurninRecord& record, const Attribution& found) {
  std::vector<Said> said;
  std::vector<Said> held_back;
  for (const NodeVerdict& node : found.nodes) {
    if (node.bucket == Bucket::good) continue;
    const bool is_held_back = !node.why.empty() && node.why == blind_words(found.blind_below_of(node.node));
    (is_held_back ? held_back : said)
        .push_back(
            {record.table.nodes[slot_of(node.node)], fmt::format("{}: {}", name(node.bucket), node.why)});
  }
  std::vector<std::string> lines = said_once(said);
  if (!found.doubt.empty()) lines.push_back("not known: " + found.doubt);
  for (std::string& line : said_once(held_back)) lines.push_back(std::move(line));
  if (std::string unseen = unseen_line(found); !unseen.empty()) lines.push_back(std::move(unseen));
  return lines;
}

/// Jobs without a result.
std::vector<std::string> failed_lines(const BurninRecord& record) {
  std::vector<Said> failed;
  for (const GroupFailure& failure : record.group_failures) {
    const GroupLaunch& launch = failure.launch;
    const std::string first = record.table.nodes[slot_of(launch.nodes.front())];
    const std::string last = record.table.nodes[slot_of(launch.nodes.back())];
    const std::string why =
        without_prefix(without_prefix(failure.why, first + ": "), fmt::format("{} to {}: ", first, last));
    failed.push_back({hosts_of(record, launch.nodes),
                      fmt::format("no result in phase {}{}{}: {}", name(launch.phase),
                                  launch.rail ? fmt::format(" on rail {}", *launch.rail) : "",
                                  launch.phase == BurninPhase::rails && launch.alone ? " alone" : "", why)});
  }
  return said_once(failed);
}

}  // namespace

std::string burnin_text(const BurninRecord& record, int width) {
  const Attribution found = attribute(record);
  std::string text;
  const auto add = [&](std::string_view line, std::string_view first = "", std::string_view rest = "  ") {
    text += wrap(line, width, first, rest);
    if (!text.ends_with('\n')) text += '\n';
  };
  constexpr std::array<Bucket, 4> kBuckets{Bucket::good, Bucket::suspect, Bucket::bad, Bucket::not_tested};
  std::vector<std::string> counts;
  for (const Bucket bucket : kBuckets)
    counts.push_back(fmt::format("{} {}", names_of(record, found, bucket).size(), name(bucket)));
  add(fmt::format("{}: {}{}", counted(record.table.nodes.size(), "node"), fmt::join(counts, ", "),
                  has_finding_of_no_node(record, found) ? "; the findings below are of no single node" : ""));
  if (!record.source.empty()) add(record.source);
  if (!record.source.empty() && !record.table.times.empty()) add(design_words(record.table));
  for (const BurninPhase phase : burnin_phases()) {
    if (phase == BurninPhase::pairs &&
        (!record.table.times.empty() || (record.groups.empty() && record.probes.empty()))) {
      if (!record.groups.empty()) add("phase pairs: a message one way");
      for (const std::string& line : rail_lines(record)) add(line);
    }
    text += phase == BurninPhase::gpus ? gpu_phase_text(record, width) : group_table(record, phase, width);
  }
  if (const std::string differ = gpu_difference(record); !differ.empty()) add(differ);
  if (const std::string groups = group_line_of(record, found); !groups.empty()) add(groups);
  for (const std::string& line : node_lines(record, found)) add(line);
  if (record.expected <= 0)
    add("compared with the median of these nodes only; with --expected also with a known rate");
  if (!found.blames.empty()) text += '\n';
  const std::vector<Blame> paths = paths_that_were_not_alone(found);
  const bool many = paths.size() > kMaxPathsOneByOne;
  for (const Blame& blame : found.blames) {
    if (many && is_path_not_alone(blame)) continue;
    add(blame_words(blame));
    if (const std::string rises = beside(record, blame); !rises.empty()) add(rises, "  ", "  ");
    add("next: " + blame.next, "  ", "  ");
  }
  if (many) {
    add(many_paths(paths, record.table));
    add("next: measure these pairs again, alone; ibtracert between two nodes names the links of a static "
        "route",
        "  ", "  ");
  }
  if (!record.rises.empty()) add("error counters went up:");
  for (const std::string& line : counter_lines(record)) add(line, "  ", "    ");
  for (const std::string& note : record.counter_notes) add("counters not read: " + note);
  std::vector<std::string> drained = names_of(record, found, Bucket::bad);
  if (!drained.empty()) {
    add(
        fmt::format("to drain them (printed, not run): scontrol update NodeName={} State=DRAIN "
                    "Reason=collbench-burnin",
                    fmt::join(drained, ",")));
  }
  if (has_repeats(record.table)) {
    const SettledPairs settled = settled_counts(record);
    add(fmt::format("{} stood out beside others and {} measured again so: {} then like the others",
                    counted(settled.repeated, "direction"), settled.repeated == 1 ? "was" : "were",
                    settled.eased));
  }
  if (record.left_out > 0) {
    add(fmt::format("{} of {} pairs and rails were left out for want of time", record.left_out,
                    record.planned));
  }
  for (const std::string& line : failed_lines(record)) add(line);
  if (!record.phases_left_out.empty()) {
    add(fmt::format("left out, so what {} would show is not known: {}",
                    record.phases_left_out.size() == 1 ? "it" : "they",
                    fmt::join(record.phases_left_out, ", ")));
  }
  if (record.retests_left_out > 0) {
    add(
        fmt::format("{} of whoever failed or is suspected left out for want of time; --resume without --time "
                    "makes up for them",
                    counted(static_cast<std::size_t>(record.retests_left_out), "retest")));
  }
  if (!record.failures.empty()) add(counted(record.failures.size(), "pair") + " gave no time:");
  constexpr std::size_t kShown = 8;
  for (std::size_t i = 0; i < std::min(kShown, record.failures.size()); ++i)
    add(fmt::format("rail {}: {}", record.failures[i].rail, record.failures[i].why), "  ", "    ");
  if (record.failures.size() > kShown)
    add(fmt::format("and {} more, in --format json", record.failures.size() - kShown), "  ");
  return text;
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
