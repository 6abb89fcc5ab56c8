#include "analysis/report/sections.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "analysis/report/launches.hpp"
#include "analysis/stragglers/straggler_analysis.hpp"
#include "base/record/run.hpp"
#include "base/statistics.hpp"
#include "base/units.hpp"
#include "base/word_list.hpp"

namespace collbench::analysis {
namespace {

constexpr std::size_t kMaxWrongRanks = 10;
constexpr std::size_t kMaxPauses = 10;

bool ran(const Row& row) { return row.measurement.unavailable.empty() && row.measurement.seconds > 0; }

std::string format_passes(int passes) { return counted(passes, "pass"); }

/// Of the row that has most.
int passes_of_rows(const Run& run) {
  std::size_t most = 0;
  for (const Row& row : run.rows) most = std::max(most, row.measurement.pass_seconds.size());
  return static_cast<int>(most);
}

void add_state(const Run& run, ReportLines& facts) {
  if (run.log) {
    if (!run.complete) {
      facts.push_back({"incomplete: the log ends before the end of the table", Tone::warning});
    }
    return;
  }
  if (!run.complete) {
    add(facts, Tone::warning,
        "incomplete: the run was cut short or is still going; the rows show the results after {}",
        format_passes(run.launches > 1 ? passes_of_rows(run) : run.passes));
  }
}

void add_wrong_data(const Run& run, ReportLines& facts) {
  std::size_t checked = 0;
  std::size_t wrong_rows = 0;
  std::size_t ranks = 0;
  for (const Row& row : run.rows) {
    const Measurement& measured = row.measurement;
    if (!measured.wrong_elements) continue;
    ++checked;
    if (!has_wrong_data(measured)) continue;
    ++wrong_rows;
    facts.push_back({wrong_data_words(measured), Tone::alarm});
    for (const WrongElements& wrong : measured.wrong) {
      if (++ranks > kMaxWrongRanks) continue;
      add(facts, Tone::alarm, "rank {} on {}: {} wrong, the first at index {}: expected {}, got {}",
          wrong.rank, wrong.host, wrong.count, wrong.first_index, wrong.expected, wrong.got);
    }
  }
  if (ranks > kMaxWrongRanks) {
    add(facts, Tone::alarm, "and {} more: the record has them all", counted(ranks - kMaxWrongRanks, "rank"));
  }
  const auto measured = static_cast<std::size_t>(std::ranges::count_if(run.rows, ran));
  if (std::string words = wrong_beyond_rows_words(run); !words.empty()) {
    facts.push_back({std::move(words), Tone::alarm});
  } else if (wrong_rows == 0 && checked > 0) {
    add(facts, "data: every element checked in {} of {}, none wrong{}", checked, counted(measured, "row"),
        has_wrong_data(run) ? " there, but on a node alone" : "");
  } else if (checked == 0 && measured > 0) {
    facts.push_back({"data: not checked"});
  }
}

void add_notes(const Run& run, ReportLines& facts) {
  std::map<std::string, std::set<std::string>> by_note;
  for (const Row& row : run.rows) {
    const RowKey& key = row.measurement.key;
    if (row.measurement.note.empty() || row.step) continue;
    by_note[row.measurement.note].insert(
        fmt::format("{} {}", traits(key.type).name,
                    key.reduction ? name(*key.reduction) : operation(key.operation).name));
  }
  for (const auto& [note, reductions] : by_note) {
    add(facts, "* {}: {}", fmt::join(reductions, ", "), note);
  }
}

void add_substitutions(const Run& run, ReportLines& facts) {
  std::map<std::pair<std::string, std::string>, std::size_t> rows;  // asked, ran
  for (const Row& row : run.rows) {
    const std::string& asked = row.measurement.key.algorithm;
    const std::string& instead = row.measurement.algorithm_ran;
    if (ran(row) && asked != "auto" && !instead.empty() && instead != asked) ++rows[{asked, instead}];
  }
  for (const auto& [names, count] : rows) {
    add(facts, "requested {}, but the library ran {} in {}", names.first, names.second,
        counted(count, "row"));
  }
}

/// `time` counts every call by its length; the median call does not know the slow ones, or the quick ones.
void add_unlike_medians(const Run& run, ReportLines& facts) {
  constexpr double kUnlike = 2;
  constexpr std::size_t kMaxNamed = 4;
  std::vector<std::string> named;
  for (const Row& row : run.rows) {
    const Measurement& measured = row.measurement;
    if (!ran(row) || measured.samples == 0 || !(measured.median > 0)) continue;
    const double ratio = measured.seconds / measured.median;
    if (ratio <= kUnlike && ratio >= 1 / kUnlike) continue;
    named.push_back(fmt::format("{}: {} against {}", format_row(measured.key),
                                format_seconds(measured.seconds), format_seconds(measured.median)));
  }
  if (named.empty()) return;
  add(facts, Tone::warning,
      "time and the median call differ by more than 2 times in {} ({}): some calls take many times as long "
      "as others; --percentiles shows how they are distributed",
      counted(named.size(), "row"), join_first(named, kMaxNamed, "; "));
}

void add_precision(const Run& run, ReportLines& facts) {
  std::map<std::string, std::size_t> reasons;
  std::size_t short_of_it = 0;
  bool out_of_time = false;
  const Row* widest = nullptr;
  double widest_half = -1;
  for (const Row& row : run.rows) {
    const std::optional<Stop>& stopped = row.measurement.stopped;
    if (!ran(row) || !stopped || stopped->reason == StopReason::precision_reached) continue;
    ++short_of_it;
    ++reasons[format_stop(*stopped)];
    out_of_time = out_of_time || stopped->reason == StopReason::out_of_time;
    const double half = interval_half_width(row.measurement).value_or(-1);
    if (half > widest_half) {
      widest_half = half;
      widest = &row;
    }
  }
  if (short_of_it == 0) return;
  std::vector<std::string> words;
  for (const auto& [reason, count] : reasons) words.push_back(fmt::format("{}: {}", reason, count));
  const auto measured = static_cast<std::size_t>(std::ranges::count_if(run.rows, ran));
  std::string text = fmt::format("precision not reached in {} of {} ({})", short_of_it,
                                 counted(measured, "row"), fmt::join(words, ", "));
  text += widest == nullptr
              ? "; too few passes for an interval"
              : fmt::format("; the widest interval is ±{} % ({})",
                            format_significant(widest_half * 100, 2, 7), format_row(widest->measurement.key));
  if (out_of_time) text += "; use a longer --time or fewer rows";
  facts.push_back({text});
}

/// What a probe that found nothing may say: who was looked at often enough is cleared, the links between
/// `hosts` (0: not looked at) by themselves.
std::string all_clear(const RankProbe& probe, int hosts) {
  const std::string took = format_seconds(probe.seconds);
  const auto too_few = [&](int needed, std::string_view what) {
    return fmt::format("{} of {} probes in {}: too few to rule out a {}", probe.repetitions, needed, took,
                       what);
  };
  if (probe.repetitions < kProbesToClear)
    return too_few(kProbesToClear, "straggler") + "; use a longer --time";
  const int for_links = probes_to_clear_links(hosts);
  const std::string ranks = "no rank is significantly late";
  if (probe.repetitions < for_links) {
    return fmt::format("{}; {}; use a longer --time", ranks, too_few(for_links, "slow link between hosts"));
  }
  return fmt::format("{}{} ({} in {})", ranks, for_links > 0 ? ", and no slow link between hosts" : "",
                     counted(probe.repetitions, "probe"), took);
}

void add_pauses(const Run& run, ReportLines& facts) {
  for (std::size_t i = 0; i < std::min(run.pauses.size(), kMaxPauses); ++i) {
    const RankPause& pause = run.pauses[i];
    warn(facts,
         "rank {} ({}) stood still for {}{} ({}): its process was stopped; times of that pass may contain it",
         pause.rank, pause.host, format_seconds(pause.seconds),
         pause.pass > 0 ? fmt::format(" in pass {}", pause.pass) : "", pause.step);
  }
  if (run.pauses.size() > kMaxPauses) {
    warn(facts, "{} more times a rank stood still: the record has them all", run.pauses.size() - kMaxPauses);
  }
}

void add_rank_probe(const Run& run, ReportLines& facts) {
  if (!run.rank_probe || run.rank_probe->repetitions == 0) return;
  const bool on_gpus = measures_gpus(run.backend);  // the hosts are probed, through MPI
  for (const ProbeFinding& finding : run.rank_probe->findings) {
    warn(facts, "{}{}{}", finding.text,
         finding.ranks.size() == 1 ? core_wait_of(run, finding.ranks.front()) : "",
         on_gpus ? "; this is its host's delay, which work already queued on its GPU may hide" : "");
  }
  if (!run.rank_probe->findings.empty()) return;
  add(facts, "stragglers: {}{}", all_clear(*run.rank_probe, on_gpus ? 0 : node_count(run.ranks)),
      on_gpus ? "; links between GPUs were not probed" : "");
}

void add_cost(const Run& run, ReportLines& facts) {
  if (run.log) return;  // a log does not say what it took
  // A stream has it in its last line only.
  std::string text = run.wall_seconds > 0 ? fmt::format("wall time {}", format_seconds(run.wall_seconds))
                                          : "wall time not known, since the run did not end";
  if (run.repeated) {
    text += fmt::format(" in {} of", counted(run.launches, "launch"));
    text += run.passes == 1 ? " 1 pass" : fmt::format(" at most {}", format_passes(run.passes));
  } else {
    text += ", " + format_passes(run.passes);
  }
  if (run.calibration_seconds > 0)
    text += fmt::format(", calibration {}", format_seconds(run.calibration_seconds));
  if (run.validation_seconds > 0 && run.wall_seconds > 0) {
    text += fmt::format(", checking data {} ({} %)", format_seconds(run.validation_seconds),
                        format_significant(run.validation_seconds / run.wall_seconds * 100, 2, 7));
  }
  facts.push_back({text});
}

void add_communicators(const Run& run, ReportLines& facts) {
  if (run.communicator_seconds.empty()) return;
  std::string text = fmt::format("communicators: {} for the first, including NCCL's own setup",
                                 format_seconds(run.communicator_seconds.front()));
  const std::vector<double> more(run.communicator_seconds.begin() + 1, run.communicator_seconds.end());
  if (!more.empty()) {
    text += fmt::format("; {} for each of {} more (median)", format_seconds(median(more)), more.size());
  }
  facts.push_back({text});
  std::vector<std::string> steps;
  for (const NcclInitStep& step : run.init_steps) {
    constexpr double kMinShownSeconds = 0.01;  // as finely as NCCL says it
    constexpr double kMinLateSeconds = 0.1;
    if (step.seconds < kMinShownSeconds) continue;
    steps.push_back(fmt::format("{} {}", step.name, format_seconds(step.seconds)));
    if (std::ranges::find(kNcclStepsAlone, step.name) == kNcclStepsAlone.end())
      steps.back() += " with waits";
    else if (step.seconds > step.median_seconds + kMinLateSeconds)
      steps.back() += fmt::format(
          " (rank {}, median {})", step.rank,
          step.median_seconds < kMinShownSeconds ? "below 10 ms" : format_seconds(step.median_seconds));
  }
  if (!steps.empty())
    facts.push_back({fmt::format("NCCL's init, the longest of each step: {}", fmt::join(steps, ", "))});
}

std::string signed_bytes(std::int64_t bytes) {
  const std::string text = format_bytes(static_cast<std::uint64_t>(std::abs(bytes)));
  return bytes < 0 ? "-" + text : text;
}

void add_gpu_memory(const Run& run, ReportLines& facts) {
  if (!run.gpu_memory) return;
  const GpuMemory& taken = *run.gpu_memory;
  add(facts,
      "GPU memory taken in the first pass, each on the rank that took most: NCCL {}, buffers {}, calls {}",
      signed_bytes(taken.init_bytes), signed_bytes(taken.buffer_bytes), signed_bytes(taken.collective_bytes));
}

void add_networks(const Run& run, ReportLines& facts) {
  const std::vector<std::string>& used = run.nccl_networks.used;
  if (used.size() > 1) {
    warn(facts,
         "NCCL began with network {} and made later communicators over {}: rows may have run over another "
         "network than was meant; NCCL_DEBUG=INFO shows why it changed",
         used.front(), fmt::join(used.begin() + 1, used.end(), ", "));
    return;
  }
  if (node_count(run.ranks) < 2) return;  // nothing runs over it
  if (!used.empty()) facts.push_back({"network between hosts, as NCCL chose it: " + used.front()});
  if (!run.nccl_networks.unknown_reason.empty()) {
    facts.push_back(
        {"network between hosts, as NCCL chose it: not known: " + run.nccl_networks.unknown_reason});
  }
}

}  // namespace

ReportLines unavailable_lines(const Run& run, OperationId id) {
  /// Rows of one algorithm that one reason keeps from running.
  struct Missing {
    std::string algorithm;
    std::string why;
    std::vector<std::string> kinds;  // types and reductions, each once
  };
  std::vector<Missing> all;
  std::map<std::string, std::set<std::string>> measured;  // the kinds of each algorithm
  for (const Row& row : run.rows) {
    const RowKey& key = row.measurement.key;
    const std::string& why = row.measurement.unavailable;
    if (key.operation != id) continue;
    std::string kind(traits(key.type).name);
    if (key.reduction) kind += fmt::format(" {}", name(*key.reduction));
    if (why.empty()) {
      measured[key.algorithm].insert(kind);
      continue;
    }
    auto same = std::ranges::find_if(
        all, [&](const Missing& each) { return each.algorithm == key.algorithm && each.why == why; });
    if (same == all.end()) same = all.insert(all.end(), {key.algorithm, why, {}});
    if (std::ranges::find(same->kinds, kind) == same->kinds.end()) same->kinds.push_back(kind);
  }
  ReportLines facts;
  for (const Missing& each : all) {
    const std::string algorithm = each.algorithm == kLibraryChoice ? "" : " --algo " + each.algorithm;
    // A type or reduction is named where it is what makes the difference.
    const std::set<std::string>& others = measured[each.algorithm];
    const bool of_these_only =
        !others.empty() &&
        std::ranges::none_of(each.kinds, [&](const std::string& kind) { return others.contains(kind); });
    const std::string kinds = of_these_only ? fmt::format(" ({})", fmt::join(each.kinds, ", ")) : "";
    add(facts, Tone::plain, "{}{}{}: not available: {}", operation(id).name, algorithm, kinds, each.why);
  }
  return facts;
}

ReportLines footer_lines(const Run& run) {
  ReportLines facts;
  const auto append = [&facts](const ReportLines& more) {
    facts.insert(facts.end(), more.begin(), more.end());
  };
  add_state(run, facts);
  add_wrong_data(run, facts);
  add_notes(run, facts);
  add_substitutions(run, facts);
  for (const auto lines : {choice_lines, poor_choice_lines, page_fault_lines, core_wait_lines})
    append(lines(run));
  for (const std::string& note : run.load_notes) warn(facts, "{}", note);
  for (const std::string& note : run.network_notes) warn(facts, "{}", note);
  append(gpu_health_lines(run));
  add_precision(run, facts);
  add_unlike_medians(run, facts);
  append(launch_lines(run));
  add_pauses(run, facts);
  add_rank_probe(run, facts);
  for (const auto lines : {step_lines, fit_lines}) append(lines(run));
  add_cost(run, facts);
  add_communicators(run, facts);
  add_gpu_memory(run, facts);
  add_networks(run, facts);
  for (const ReportLine& fact : verdict_lines(run)) facts.push_back(fact);
  return facts;
}

}  // namespace collbench::analysis
