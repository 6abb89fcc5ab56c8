#include "analysis/attribution/burnin_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/attribution/blame_words.hpp"
#include "analysis/attribution/gpu_phase.hpp"
#include "analysis/attribution/group_verdicts.hpp"
#include "analysis/attribution/mixed_fleet.hpp"
#include "analysis/attribution/pair_outcome.hpp"
#include "analysis/attribution/pairs/pair_repeats.hpp"
#include "analysis/report/text_layout.hpp"
#include "base/statistics.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

double gigabytes_per_second(const BurninRecord& record, const RailTime& time) {
  return record.bytes / time.seconds / kGigabyte;
}

/// "rail 0: median 11.9 GB/s, slowest 5.9 (host2 to host0)".
std::string rail_line(const BurninRecord& record, int rail) {
  std::vector<double> rates;
  const RailTime* slowest = nullptr;
  for (const RailTime& time : record.table.times) {
    if (time.rail != rail || time.seconds <= 0) continue;
    rates.push_back(gigabytes_per_second(record, time));
    if (slowest == nullptr || time.seconds > slowest->seconds) slowest = &time;
  }
  if (rates.empty()) return fmt::format("rail {}: nothing measured", rail);
  return fmt::format("rail {}: {} directions, median {:.4g} GB/s, slowest {:.4g} ({} to {})", rail,
                     rates.size(), median(rates), gigabytes_per_second(record, *slowest),
                     record.table.nodes[slot_of(slowest->from)], record.table.nodes[slot_of(slowest->to)]);
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

/// A line for each node that is not good, one for all whom the scatter holds back, and what is not known.
std::vector<std::string> node_lines(const BurninRecord& record, const Attribution& found) {
  const std::string blind = blind_words(found.blind_below);
  std::vector<Said> said;
  std::vector<std::string> held_back;
  for (const NodeVerdict& node : found.nodes) {
    const std::string& host = record.table.nodes[slot_of(node.node)];
    if (node.bucket == Bucket::good) continue;
    if (node.why == blind)
      held_back.push_back(host);
    else
      said.push_back({host, fmt::format("{}: {}", name(node.bucket), node.why)});
  }
  std::vector<std::string> lines = said_once(said);
  if (!found.doubt.empty()) lines.push_back("not known: " + found.doubt);
  if (!held_back.empty()) {
    lines.push_back(fmt::format("{} {}: {}", fmt::join(held_back, ", "), name(Bucket::suspect), blind));
  } else if (std::isfinite(found.blind_below)) {
    lines.push_back(!blind.empty()
                        ? blind
                        : fmt::format("what costs less than {} passes unseen, by the scatter of these times",
                                      percent_slower(found.blind_below)));
  }
  return lines;
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
  add(fmt::format("{}: {}", counted(record.table.nodes.size(), "node"), fmt::join(counts, ", ")));
  if (!record.source.empty()) add(record.source);
  for (const BurninPhase phase : burnin_phases()) {
    if (phase == BurninPhase::pairs &&
        (!record.table.times.empty() || (record.groups.empty() && record.probes.empty()))) {
      if (!record.groups.empty()) add("phase pairs: a message one way");
      for (int rail = 0; rail < record.table.rails; ++rail) add(rail_line(record, rail));
    }
    text += phase == BurninPhase::gpus ? gpu_phase_text(record, width) : group_table(record, phase, width);
  }
  if (const std::string differ = gpu_difference(record); !differ.empty()) add(differ);
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
  std::vector<Said> failed;
  for (const GroupFailure& failure : record.group_failures) {
    const std::vector<int>& nodes = failure.launch.nodes;
    const std::string first = record.table.nodes[slot_of(nodes.front())];
    failed.push_back({nodes.size() == 1
                          ? first
                          : fmt::format("{} to {}", first, record.table.nodes[slot_of(nodes.back())]),
                      fmt::format("gave nothing in phase {}{}: {}", name(failure.launch.phase),
                                  failure.launch.rail ? fmt::format(" on rail {}", *failure.launch.rail) : "",
                                  failure.why)});
  }
  for (const std::string& line : said_once(failed)) add(line);
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
    text += fmt::format("{},{},{},{:.6g},{},{}\n", record.table.nodes[slot_of(time.from)],
                        record.table.nodes[slot_of(time.to)], time.rail,
                        time.seconds > 0 ? gigabytes_per_second(record, time) : 0, time.alone ? 1 : 0,
                        time.repeat);
  }
  return text;
}

}  // namespace collbench::analysis
