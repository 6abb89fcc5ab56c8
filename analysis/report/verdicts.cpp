#include "analysis/report/sections.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/report/report.hpp"
#include "analysis/verdict/fitting_machines.hpp"
#include "analysis/verdict/verdict.hpp"
#include "base/record/run.hpp"
#include "base/units.hpp"
#include "base/word_list.hpp"
#include "topology/catalog/gpus.hpp"

namespace collbench::analysis {
namespace {

Tone tone_of(VerdictWord word) {
  if (word == VerdictWord::fault) return Tone::alarm;
  return word == VerdictWord::below || word == VerdictWord::unclear ? Tone::warning : Tone::quiet;
}

bool judged(const Run& run) {
  return std::ranges::any_of(run.rows, [](const Row& row) { return !row.verdict.explanation.empty(); });
}

/// "AllReduce float"; ", in place" where the deciding row is.
std::string judged_series_name(const SizeSeries& series) {
  const RowKey& key = series.back()->measurement.key;
  return fmt::format("{} {}{}", operation(key.operation).name, traits(key.type).name,
                     key.in_place ? ", in place" : "");
}

/// "0.82"; with a third digit, rounded down, where it would read as the edge that it is under.
std::string ratio_words(const Verdict& verdict) {
  const std::string words = fmt::format("{:.2f}", *verdict.ratio);
  const bool reads_as_edge = is_bad(verdict.word) && verdict.range && *verdict.ratio < verdict.range->below &&
                             words == fmt::format("{:.2f}", verdict.range->below);
  return reads_as_edge ? fmt::format("{:.3f}", std::floor(*verdict.ratio * 1000) / 1000) : words;
}

/// What a word and its ratio leave to say in the first line: why it is UNCLEAR.
std::string why_unclear(const Verdict& verdict) {
  if (verdict.word != VerdictWord::unclear || !verdict.ratio || !verdict.range) return {};
  if (*verdict.ratio > verdict.range->high)
    return fmt::format(": above what sound machines reach, {:.2f}", verdict.range->high);
  if (*verdict.ratio >= verdict.range->sound) return ": some of its largest rows are slow";
  return *verdict.ratio < verdict.range->below ? ": the rate of another algorithm" : "";
}

std::string wrong_rows_words(const Run& run) {
  const auto wrong = static_cast<std::size_t>(
      std::ranges::count_if(run.rows, [](const Row& row) { return has_wrong_data(row.measurement); }));
  std::vector<std::string> where;
  if (wrong > 0) where.push_back(fmt::format("in {}", counted(wrong, "row")));
  for (const NodeGroup& group : run.node_groups)
    if (has_wrong_data(group.row.measurement)) where.push_back("on " + name(group));
  if (run.sustained && has_wrong_data(run.sustained->measurement))
    where.emplace_back("while it was sustained");
  return where.empty() ? "" : fmt::format("WRONG DATA {}", fmt::join(where, ", "));
}

/// "AllReduce 1 GiB: 340.1 GB/s, 0.71 of expected"
std::string row_words(const Row& row, int ranks) {
  const RowKey& key = row.measurement.key;
  const auto busbw = rates(row, ranks).bus_bandwidth;
  return fmt::format("{} {}: {}{}", operation(key.operation).name, format_bytes(key.size_bytes),
                     busbw ? format_rate(*busbw) : "no bus bandwidth",
                     row.verdict.ratio ? fmt::format(", {:.2f} of expected", *row.verdict.ratio) : "");
}

std::string row_of_group(const NodeGroup& group) { return row_words(group.row, group.ranks); }

/// "sustained in 61 passes: AllReduce 1 GiB: 340.1 GB/s, 0.71 of expected; 0.98 of its row above"
std::string sustained_words(const Run& run) {
  const Measurement& measured = run.sustained->measurement;
  const auto above =
      std::ranges::find_if(run.rows, [&](const Row& row) { return row.measurement.key == measured.key; });
  const double share = above == run.rows.end() ? 0 : above->measurement.seconds / measured.seconds;
  return fmt::format(
      "sustained in {}: {}{}", counted(measured.pass_seconds.size(), "pass"),
      row_words(*run.sustained, static_cast<int>(run.ranks.size())),
      std::isfinite(share) && share > 0 ? fmt::format("; {:.2f} of its row above", share) : "");
}

bool is_slow(const NodeGroup& group) { return is_bad(group.row.verdict.word); }

bool is_unclear(const NodeGroup& group) { return group.row.verdict.word == VerdictWord::unclear; }

/// Of one node, or of pairs.
std::vector<const NodeGroup*> groups_that(bool (*is_it)(const NodeGroup&), std::size_t nodes,
                                          const Run& run) {
  std::vector<const NodeGroup*> found;
  for (const NodeGroup& group : run.node_groups)
    if (group.hosts.size() == nodes && is_it(group)) found.push_back(&group);
  return found;
}

constexpr std::size_t kNamedHosts = 4;

/// Whether rows over all ranks are slow in this operation: in their large sizes, of which one was measured on
/// nodes or pairs.
bool is_slow_in(OperationId id, const Run& run) {
  return std::ranges::any_of(run.rows, [id](const Row& row) {
    const Verdict& verdict = row.verdict;
    return row.measurement.key.operation == id && is_bad(verdict.word) && verdict.ratio && verdict.range &&
           *verdict.ratio < verdict.range->below;
  });
}

/// What pairs of nodes that are sound by themselves say of the network between them; empty where all are
/// SOUND, or there are none.
std::string slow_pairs_words(const Run& run) {
  const PairsSeen pairs = pairs_seen(run);
  if (pairs.slow.empty()) return {};
  if (!pairs.slow_hosts.empty()) {
    const std::string& host = pairs.slow_hosts.front();
    const auto own = std::ranges::find_if(pairs.slow, [&host](const NodeGroup* pair) {
      return pair->hosts[0] == host || pair->hosts[1] == host;
    });
    return fmt::format("{} {} slow with each neighbor: {}: {}", join_first(pairs.slow_hosts, kNamedHosts),
                       pairs.slow_hosts.size() == 1 ? "is" : "are", name(**own), row_of_group(**own));
  }
  const std::string row = row_of_group(*pairs.slow.front());
  if (std::cmp_equal(pairs.slow.size(), pairs.pairs))
    return fmt::format("every pair of neighboring nodes is slow: {}", row);
  std::vector<std::string> names;
  for (const NodeGroup* group : pairs.slow) names.push_back(name(*group));
  return fmt::format("slow: {}: {}", join_first(names, kNamedHosts), row);
}

/// Whose a loss is: the nodes' that are slow alone, or what lies between nodes that are not; and which nodes
/// are not clear where nothing else keeps the machine from being SOUND. Empty where nothing is known of it.
std::string where_the_loss_is(const Run& run) {
  const VerdictWord word = machine_word(run);
  const std::vector<const NodeGroup*> slow = groups_that(is_slow, 1, run);
  const bool only_nodes =
      slow.empty() && word == VerdictWord::unclear &&
      std::ranges::none_of(run.rows, [word](const Row& row) { return row.verdict.word == word; });
  const std::vector<const NodeGroup*> named = only_nodes ? groups_that(is_unclear, 1, run) : slow;
  if (!named.empty()) {
    std::vector<std::string> names;
    for (const NodeGroup* node : named) names.push_back(node->hosts.front());
    return fmt::format("{} {} {} by {}: {}", join_first(names, kNamedHosts), named.size() == 1 ? "is" : "are",
                       only_nodes ? name(word) : "slow", named.size() == 1 ? "itself" : "themselves",
                       row_of_group(*named.front()));
  }
  if (!is_bad(word)) return {};
  if (std::string pairs = slow_pairs_words(run); !pairs.empty()) return pairs;
  const bool is_between = all_nodes_are_sound_alone(run) &&
                          is_slow_in(run.node_groups.front().row.measurement.key.operation, run);
  if (!is_between) return {};
  const PairsSeen pairs = pairs_seen(run);
  const bool of_more = pairs.pairs > 0 && pairs.sound == pairs.pairs &&
                       is_slow_in(run.node_groups.back().row.measurement.key.operation, run);
  return of_more
             ? "each node alone and each pair of neighbors is SOUND: the loss shows between more nodes only"
             : "each node alone is SOUND: the loss shows between nodes only";
}

/// A line for each group of so many nodes that is not SOUND, and one for all that are.
void add_lines_of_groups(ReportLines& lines, const Run& run, std::size_t nodes) {
  std::size_t groups = 0;
  for (const NodeGroup& group : run.node_groups) {
    if (group.hosts.size() != nodes) continue;
    groups += 1;
    if (is_sound(group)) continue;
    const Verdict& verdict = group.row.verdict;
    const Measurement& measured = group.row.measurement;
    const bool is_wrong = has_wrong_data(measured);
    const std::string why = is_wrong                        ? wrong_data_words(measured)
                            : !measured.unavailable.empty() ? measured.unavailable
                                                            : verdict.explanation;
    lines.push_back({fmt::format("{}: {}: {}{}", name(group),
                                 verdict.word == VerdictWord::none ? "no verdict" : name(verdict.word),
                                 row_of_group(group), why.empty() ? "" : "; " + why),
                     is_wrong ? Tone::alarm : tone_of(verdict.word)});
  }
  const std::vector<const NodeGroup*> sound = groups_that(is_sound, nodes, run);
  if (sound.empty()) return;
  const auto [least, most] = std::ranges::minmax_element(sound, [](const NodeGroup* a, const NodeGroup* b) {
    return a->row.verdict.ratio.value_or(0) < b->row.verdict.ratio.value_or(0);
  });
  const double best = (*most)->row.verdict.ratio.value_or(0);
  add(lines, "{} of {} SOUND{}: {}{}", sound.size(),
      nodes == 1 ? counted(groups, "node") : counted(groups, "pair") + " of neighbors",
      nodes == 1 ? " alone" : "", row_of_group(**least),
      least == most ? "" : fmt::format(" to {:.2f}", best));
}

/// Rows of neighboring sizes that have the same bound.
struct SizeRange {
  std::string_view bound;  ///< "latency-bound": a row's explanation up to its ratio
  std::uint64_t from_bytes = 0;
  std::uint64_t to_bytes = 0;
  double min_ratio = 0;  ///< measured over expected
  double max_ratio = 0;
};

std::string_view bound(const Row& row) {
  const std::string_view text = row.verdict.explanation;
  return text.substr(0, text.rfind("; "));
}

/// The rows of a sweep without its largest, whose explanation is the sweep's own.
std::vector<SizeRange> size_ranges(const SizeSeries& series, int ranks) {
  std::vector<SizeRange> ranges;
  for (auto row = series.begin(); row + 1 < series.end(); ++row) {
    const auto ratio = rates(**row, ranks).measured_over_expected;
    if (!ratio || (*row)->verdict.explanation.empty()) continue;
    const std::uint64_t size = (*row)->measurement.key.size_bytes;
    if (ranges.empty() || ranges.back().bound != bound(**row)) {
      ranges.push_back({bound(**row), size, size, *ratio, *ratio});
      continue;
    }
    SizeRange& last = ranges.back();
    last = {last.bound, last.from_bytes, size, std::min(last.min_ratio, *ratio),
            std::max(last.max_ratio, *ratio)};
  }
  return ranges;
}

/// "8 B to 2 MiB: latency-bound, 0.91 to 1.04 of expected"
std::string format_size_range(const SizeRange& range) {
  return fmt::format(
      "{}: {}, {} of expected", format_span(format_bytes(range.from_bytes), format_bytes(range.to_bytes)),
      range.bound,
      format_span(fmt::format("{:.2f}", range.min_ratio), fmt::format("{:.2f}", range.max_ratio)));
}

/// "NICs", "PCIe links of the NICs", "path through the host"
std::string resource_name(const HiddenLoss& hidden) {
  if (hidden.resource == kNicPcie) return "PCIe links of the NICs";
  return hidden.count == 1 ? hidden.resource : hidden.resource + "s";
}

/// "a loss of 2 of 8": the least that shows, by the steps of hidden_losses().
std::string least_loss_ruled_out(const HiddenLoss& hidden) {
  if (hidden.count == 1) return "a loss of half of their rate";
  const double one = 1.0 / hidden.count;
  if (hidden.share == 0) return fmt::format("a loss of half of one of {}", hidden.count);
  const int lost = static_cast<int>(std::floor(hidden.share / one + 0.01)) + 1;
  return 2 * lost < hidden.count ? fmt::format("a loss of {} of {}", lost, hidden.count)
                                 : fmt::format("a loss of half of the {}", hidden.count);
}

/// What the SOUND operations say of each resource: "NICs: a loss of 1 of 8 is ruled out by AllGather, 0.98 of
/// expected; PCIe links of the NICs: not tested". Empty where none says anything.
std::string resources_line(const Run& run) {
  std::vector<std::string> parts;
  for (const ResourceTest& test : resource_tests(run)) {
    if (test.hidden.count == 0) continue;  // an older record
    const std::string by =
        test.is_untested()
            ? "not tested by these operations"
            : fmt::format("{} is ruled out by {}{}, {:.2f} of expected", least_loss_ruled_out(test.hidden),
                          operation(test.best_row->measurement.key.operation).name,
                          test.on_each_node ? " on each node alone" : "",
                          test.best_row->verdict.ratio.value_or(0));
    parts.push_back(fmt::format("{}: {}", resource_name(test.hidden), by));
  }
  return parts.empty() ? "" : fmt::format("resources: {}", fmt::join(parts, "; "));
}

/// "AllToAll: 0.8 GB/s at 64 MiB, 28 times less than at 4 MiB, whatever the machine": the deepest fall to
/// less than a third of a smaller size's rate, from 1 MiB on, in and out of place. Empty where none is so
/// deep.
std::string collapse_in_words(const Run& run) {
  std::map<RowKey, std::map<std::uint64_t, const Row*>> sweeps;  // of each size the quicker place
  for (const Row& row : run.rows) {
    if (!row.measurement.unavailable.empty() || row.measurement.seconds <= 0) continue;
    RowKey sweep = row.measurement.key;
    sweep.size_bytes = sweep.count = 0;
    sweep.in_place = false;
    const Row*& quicker = sweeps[sweep][row.measurement.key.size_bytes];
    if (quicker == nullptr || row.measurement.seconds < quicker->measurement.seconds) quicker = &row;
  }
  const auto rate = [&run](const Row& row) {
    return rates(row, static_cast<int>(run.ranks.size())).bus_bandwidth.value_or(0) / kGigabyte;
  };
  std::string words;
  double deepest = kCollapse;
  for (const auto& [sweep, rows] : sweeps) {
    const Row* quickest = nullptr;
    for (const auto& [size, row] : rows) {
      if (quickest == nullptr || rate(*row) > rate(*quickest)) quickest = row;
      const double fall = rate(*row) > 0 ? rate(*quickest) / rate(*row) : 0;
      if (size < kCollapseFrom || fall <= deepest) continue;
      deepest = fall;
      words = fmt::format("{}: {:.3g} GB/s at {}, {:.0f} times less than at {}, whatever the machine",
                          operation(sweep.operation).name, rate(*row), format_bytes(size), fall,
                          format_bytes(quickest->measurement.key.size_bytes));
    }
  }
  return words;
}

/// "the log shows TCP sockets between nodes (line 12)": what slows any machine. Empty where it shows none.
std::string slowdowns_in_words(const Run& run) {
  const LogFacts& log = *run.log;
  std::vector<std::string> seen = costly_settings(run);
  if (uses_sockets(log) && node_count(run.ranks) > 1)
    seen.push_back(fmt::format("TCP sockets between nodes (line {})", log.network->line));
  const auto& least = log.nvlink_least_bytes_per_second;
  if (least && log.nvlink_most_bytes_per_second && least->value < log.nvlink_most_bytes_per_second->value)
    seen.push_back(fmt::format("NVLink of {} between two GPUs (line {}), of {} elsewhere",
                               format_rate(least->value), least->line,
                               format_rate(log.nvlink_most_bytes_per_second->value)));
  return seen.empty() ? "" : fmt::format("the log shows {}", fmt::join(seen, ", and "));
}

/// A log by itself tells of no machine; of one that no model has, none is asked for.
std::string why_no_machine(const Run& run) {
  const std::string gpu = run.log->gpu ? run.log->gpu->value : "";
  const auto maker = topology::other_gpu_maker(gpu);
  if (maker.empty()) {
    std::vector<std::string> seen;
    if (is_machine_unknown(run)) seen = {why_not_sound(run), collapse_in_words(run), slowdowns_in_words(run)};
    seen.erase(std::remove(seen.begin(), seen.end(), ""), seen.end());
    return fmt::format("{}: {}the machine is unknown; {}", is_machine_unknown(run) ? "UNCLEAR" : "no verdict",
                       seen.empty() ? "" : fmt::format("{}; ", fmt::join(seen, "; ")),
                       suggested_topology(*run.log));
  }
  return fmt::format("no verdict: {} is {}'s, and only NCCL on NVIDIA's GPUs is modeled", gpu, maker);
}

constexpr std::string_view kAfterWrongData =
    "; next: do not use these nodes; collbench doctor on each (Xid, ECC)";

/// " against hgx-h100", where that is not what the user said; and what having no such machine means.
std::string yardstick_words(const Run& run, bool nothing_is_named) {
  if (!run.yardstick) return {};
  const Yardstick& yardstick = *run.yardstick;
  if (yardstick.kind == YardstickKind::own) {
    const bool has_nearest = !yardstick.machine.empty() && !yardstick.differences.empty();
    return fmt::format(
        " (no reference machine matches{}; a fault that every node shares would not show)",
        has_nearest ? fmt::format("; nearest: {}, but {}", yardstick.machine, yardstick.differences.front())
                    : "");
  }
  if (yardstick.kind == YardstickKind::slowest)
    return ", slower than every reference machine with these GPUs";
  const bool is_said = yardstick.kind == YardstickKind::named && !nothing_is_named;
  return is_said ? "" : " against " + yardstick.machine;
}

/// Where no row has a verdict: that data is wrong, or why a log's machine is not known.
ReportLines headline_without_verdict(const Run& run, const std::string& wrong) {
  if (!wrong.empty() && run.gpus_simulated) return {{"SIMULATED GPUs: " + wrong, Tone::alarm}};
  if (!wrong.empty()) return {{wrong + std::string(kAfterWrongData), Tone::alarm}};
  const bool is_unknown = run.log && measures_gpus(run.backend) && !judged(run);
  return is_unknown ? ReportLines{{why_no_machine(run), Tone::warning}} : ReportLines{};
}

/// "AllReduce, 0.71 of expected (SOUND from 0.90, BELOW under 0.82)"
std::string worst_row_words(const Row& worst) {
  const Verdict& verdict = worst.verdict;
  const std::string range = verdict.range && std::isfinite(verdict.range->sound)
                                ? fmt::format(" (SOUND from {:.2f}, BELOW under {:.2f})",
                                              verdict.range->sound, verdict.range->below)
                                : "";
  return fmt::format("{}, {} of expected{}{}", operation(worst.measurement.key.operation).name,
                     ratio_words(verdict), range, why_unclear(verdict));
}

/// What SOUND rows leave open.
void add_untested(std::vector<std::string>& parts, const Run& run) {
  std::vector<std::string> untested;
  std::vector<std::string> losses;
  for (const ResourceTest& test : resource_tests(run)) {
    if (test.is_untested()) untested.push_back(resource_name(test.hidden));
    if (test.hidden.share > 0 && !test.is_untested()) losses.push_back(test.hidden.text);
  }
  if (!untested.empty()) parts.push_back(fmt::format("not tested: {}", fmt::join(untested, ", ")));
  if (!losses.empty()) parts.push_back(fmt::format("not ruled out: {}", fmt::join(losses, ", ")));
}

}  // namespace

const Row* worst_row(const Run& run) {
  const Row* worst = nullptr;
  const auto rank = [](const Row& row) {
    return std::pair(row.verdict.word, -row.verdict.ratio.value_or(0));
  };
  for (const SizeSeries& series : verdict_series_of(run.rows))
    if (worst == nullptr || rank(*series.back()) > rank(*worst)) worst = series.back();
  return worst;
}

bool falls_under_load(const Run& run) {
  const Row* const worst = worst_row(run);
  return run.sustained && worst != nullptr && run.sustained->verdict.word > worst->verdict.word;
}

ReportLines verdict_headline(const Run& run) {
  const VerdictWord word = machine_word(run);
  const std::string wrong = wrong_rows_words(run);
  if (word == VerdictWord::none || is_machine_unknown(run)) return headline_without_verdict(run, wrong);
  const std::vector<int> locals = ranks_per_node(run.ranks);
  const std::string given = run.log && run.log->topology ? " on " + run.log->topology->value : "";
  const std::string machine = given + yardstick_words(run, given.empty());
  std::vector<std::string> parts{fmt::format("{}: {} × {} ranks{}", name(word), node_count(run.ranks),
                                             locals.empty() ? 0 : locals.front(), machine)};
  if (!wrong.empty()) {
    parts.insert(parts.begin(), wrong);
  } else if (const std::string why = why_not_sound(run); !why.empty()) {
    parts.push_back(why);
  }
  if (const auto gpus = gpus_found_alone(run); !gpus.empty()) parts.push_back(gpus.front().words);
  const std::string where = where_the_loss_is(run);
  if (!where.empty()) parts.push_back(where);
  const Row* const worst = worst_row(run);
  const bool falls = falls_under_load(run);
  if (falls) parts.push_back(sustained_words(run));
  if (!falls && worst != nullptr && worst->verdict.ratio)
    parts.push_back((where.empty() ? "worst: " : "of all ranks, worst: ") + worst_row_words(*worst));
  if (worst != nullptr && worst->measurement.key.size_bytes < kLargeSize)
    parts.push_back(
        fmt::format("no row of {} of 64 MiB or more", operation(worst->measurement.key.operation).name));
  if (word == VerdictWord::sound) add_untested(parts, run);
  if (const std::string next = next_step_by_verdict(run, worst); wrong.empty() && !next.empty())
    parts.push_back("next: " + next);
  return {{fmt::format("{}{}", fmt::join(parts, "; "), wrong.empty() ? "" : kAfterWrongData),
           wrong.empty() ? tone_of(word) : Tone::alarm}};
}

ReportLines verdict_lines(const Run& run) {
  ReportLines facts;
  const std::vector<SizeSeries> all_series = verdict_series_of(run.rows);
  if (run.simulated || run.gpus_simulated) {
    facts.push_back({run.simulated ? "no verdict: simulated time" : "no verdict: simulated GPUs"});
  } else if (!measures_gpus(run.backend)) {
    facts.push_back({run.buffers.allocator.empty()
                         ? "no verdict on host memory; meas/exp is informational"
                         : "no verdict: MPI's collectives on GPUs are not modeled"});
  } else if (has_wrong_data(run) && all_series.empty()) {
    facts.push_back({"no verdict: the data of every row is wrong"});
  }
  if (std::string resources = resources_line(run); !resources.empty())
    facts.push_back({std::move(resources)});
  for (const std::size_t nodes : {1U, 2U}) add_lines_of_groups(facts, run, nodes);
  for (ReportLine& line : gpus_alone_lines(run)) facts.push_back(std::move(line));
  if (run.sustained) facts.push_back({sustained_words(run), tone_of(run.sustained->verdict.word)});
  for (const SizeSeries& series : all_series) {
    const Verdict& verdict = series.back()->verdict;
    if (verdict.explanation.empty()) continue;
    const auto word = verdict.word == VerdictWord::none ? "no verdict" : name(verdict.word);
    facts.push_back({fmt::format("{}: {}: {}", judged_series_name(series), word, verdict.explanation),
                     tone_of(verdict.word)});
    std::vector<std::string> ranges;
    for (const SizeRange& range : size_ranges(series, static_cast<int>(run.ranks.size()))) {
      ranges.push_back(format_size_range(range));
    }
    if (!ranges.empty()) add(facts, "{}: {}", judged_series_name(series), fmt::join(ranges, "; "));
  }
  return facts;
}

std::string verdict_summary(const Run& run) {
  std::vector<std::string> words;
  if (std::string wrong = wrong_rows_words(run); !wrong.empty()) words.push_back(std::move(wrong));
  if (wrong_values_beyond_rows(run) > 0) words.emplace_back("WRONG DATA by the log's own count");
  if (words.empty() && is_judged(run) && !why_not_sound(run).empty())
    words.push_back(fmt::format("{}: {}", name(machine_word(run)), why_not_sound(run)));
  for (const NodeGroup& group : run.node_groups)
    if (is_slow(group)) words.push_back(fmt::format("{} {}", name(group), name(group.row.verdict.word)));
  for (const SizeSeries& series : verdict_series_of(run.rows)) {
    const Verdict& verdict = series.back()->verdict;
    words.push_back(fmt::format("{} {}", judged_series_name(series),
                                verdict.word == VerdictWord::none ? "no verdict" : name(verdict.word)));
  }
  return words.empty() ? "no rows" : fmt::format("{}", fmt::join(words, "; "));
}

}  // namespace collbench::analysis
