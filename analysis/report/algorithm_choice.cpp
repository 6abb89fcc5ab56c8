#include "analysis/report/sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/units.hpp"

namespace collbench::analysis {
namespace {

/// One size: the row of the library's own choice, and those of the others.
struct Contest {
  const Measurement* own = nullptr;
  std::vector<const Measurement*> others;
};

/// Sizes by what else makes a row.
using Contests = std::map<RowKey, std::vector<Contest>>;

Contests contests_of(const Run& run) {
  const auto is_other = [](const Row& row) { return row.measurement.key.algorithm != kLibraryChoice; };
  if (std::ranges::none_of(run.rows, is_other)) return {};
  std::map<RowKey, Contest> by_size;
  for (const Row& row : run.rows) {
    const Measurement& measured = row.measurement;
    if (!measured.unavailable.empty() || measured.seconds <= 0) continue;
    RowKey key = measured.key;
    key.algorithm = "";
    Contest& contest = by_size[key];
    if (measured.key.algorithm == kLibraryChoice) {
      contest.own = &measured;
    } else {
      contest.others.push_back(&measured);
    }
  }
  Contests contests;
  for (const auto& [key, contest] : by_size) {
    if (contest.own == nullptr || contest.others.empty()) continue;
    RowKey series = key;
    series.size_bytes = series.count = 0;
    contests[series].push_back(contest);
  }
  return contests;
}

/// The fastest of the others, when its interval lies wholly below that of the library's choice.
const Measurement* winner(const Contest& contest) {
  const auto fastest =
      std::ranges::min_element(contest.others, [](auto* a, auto* b) { return a->seconds < b->seconds; });
  const auto& theirs = (*fastest)->interval;
  const auto& own = contest.own->interval;
  return theirs && own && theirs->high_seconds < own->low_seconds ? *fastest : nullptr;
}

/// Share of the library's own time that the winner saves.
double saved(const Measurement& own, const Measurement& won) { return 1 - won.seconds / own.seconds; }

/// Neighboring sizes with the same winner.
struct Range {
  std::string winner;
  std::uint64_t from_bytes = 0;
  std::uint64_t to_bytes = 0;
  double least = 0;  ///< share of time saved
  double most = 0;
  const Measurement* own = nullptr;  ///< where it was most
  const Measurement* won = nullptr;
};

std::vector<Range> ranges_of(const std::vector<Contest>& contests) {
  std::vector<Range> ranges;
  bool adjacent = false;
  for (const Contest& contest : contests) {
    const Measurement* const won = winner(contest);
    if (won == nullptr) {
      adjacent = false;
      continue;
    }
    const double share = saved(*contest.own, *won);
    const std::uint64_t size = contest.own->key.size_bytes;
    if (!adjacent || ranges.back().winner != won->key.algorithm) {
      ranges.push_back({won->key.algorithm, size, size, share, share, contest.own, won});
      adjacent = true;
      continue;
    }
    Range& range = ranges.back();
    range.to_bytes = size;
    range.least = std::min(range.least, share);
    if (share > range.most) {
      range.most = share;
      range.own = contest.own;
      range.won = won;
    }
  }
  return ranges;
}

std::optional<double> expected_seconds(const NcclSelection& reported, const NcclSelection& used) {
  for (const NcclExpectation& each : reported.expected) {
    if (each.algorithm == used.algorithm && each.protocol == used.protocol) return each.seconds;
  }
  return std::nullopt;
}

/// "; at 4 KiB NCCL predicted 6.4 µs for tree/ll, which it chose, and 8.1 µs for ring/ll"
std::string nccl_predictions(const Range& range) {
  if (!range.own->nccl || !range.won->nccl) return {};
  const NcclSelection& chosen = *range.own->nccl;
  const NcclSelection& better = *range.won->nccl;
  const auto of_chosen = expected_seconds(chosen, chosen);
  const auto of_better = expected_seconds(chosen, better);
  if (!of_chosen || !of_better) return {};
  return fmt::format("; at {} NCCL predicted {} for {}/{}, which it chose, and {} for {}/{}",
                     format_bytes(range.own->key.size_bytes), format_seconds(*of_chosen), chosen.algorithm,
                     chosen.protocol, format_seconds(*of_better), better.algorithm, better.protocol);
}

std::string percent(double share) { return fmt::format("{:.{}f}", share * 100, share < 0.0995 ? 1 : 0); }

std::string format_range(const Range& range) {
  return fmt::format("{}: {} takes {} % less time than auto{}",
                     format_span(format_bytes(range.from_bytes), format_bytes(range.to_bytes)), range.winner,
                     format_span(percent(range.least), percent(range.most)), nccl_predictions(range));
}

/// "AllReduce float sum, in place"
std::string contest_name(const RowKey& key) {
  std::string text = fmt::format("{} {}", operation(key.operation).name, traits(key.type).name);
  if (key.reduction) text += fmt::format(" {}", name(*key.reduction));
  return text + (key.in_place ? ", in place" : "");
}

bool has_interval(const Contest& contest) {
  return contest.own->interval && std::ranges::any_of(contest.others, [](const Measurement* each) {
           return each->interval.has_value();
         });
}

/// The model is a quarter off where it is good (docs/notes/benchmarks.md).
constexpr double kMuchLess = 0.75;

bool has_ring(OperationId operation) {
  using enum OperationId;
  return operation == all_reduce || operation == all_gather || operation == reduce_scatter;
}

bool ring_should_take_much_less(const Row& row) {
  const Measurement& measured = row.measurement;
  const Expectation& expected = row.expectation;
  return measured.unavailable.empty() && measured.key.algorithm == kLibraryChoice &&
         has_ring(measured.key.operation) && measured.algorithm_ran == expected.expected_by &&
         expected.ring_seconds && expected.expected_seconds &&
         *expected.ring_seconds <= kMuchLess * *expected.expected_seconds &&
         *expected.ring_seconds < measured.seconds;
}

/// The rows of one operation and algorithm.
struct PoorChoice {
  std::set<std::uint64_t> sizes_bytes;
  double min_share = 1;  ///< of the time, that a ring would take
  double max_share = 0;
};

void add(PoorChoice& choice, const Row& row) {
  const double share = *row.expectation.ring_seconds / *row.expectation.expected_seconds;
  choice.sizes_bytes.insert(row.measurement.key.size_bytes);
  choice.min_share = std::min(choice.min_share, share);
  choice.max_share = std::max(choice.max_share, share);
}

}  // namespace

ReportLines choice_lines(const Run& run) {
  ReportLines facts;
  for (const auto& [series, contests] : contests_of(run)) {
    const std::string name = contest_name(series);
    const std::vector<Range> ranges = ranges_of(contests);
    for (const Range& range : ranges) {
      add(facts, Tone::warning, "{}: {}", name, format_range(range));
    }
    if (!ranges.empty()) continue;
    facts.push_back(
        {std::ranges::any_of(contests, has_interval)
             ? fmt::format("{}: no other algorithm measured was significantly faster than auto", name)
             : fmt::format("{}: too few passes to tell whether any algorithm was faster than auto; an "
                           "interval needs six",
                           name)});
  }
  return facts;
}

ReportLines poor_choice_lines(const Run& run) {
  ReportLines facts;
  const bool measured_beside_it = std::ranges::any_of(
      run.rows, [](const Row& row) { return row.measurement.key.algorithm != kLibraryChoice; });
  if (measures_gpus(run.backend) || run.simulated || measured_beside_it) return facts;
  std::map<std::pair<OperationId, std::string>, PoorChoice> choices;
  for (const Row& row : run.rows) {
    if (!ring_should_take_much_less(row)) continue;
    add(choices[{row.measurement.key.operation, row.measurement.algorithm_ran}], row);
  }
  for (const auto& [what, choice] : choices) {
    add(facts,
        "{}, {}: auto runs {}; the model predicts that a ring takes {} of its time: compare with --algo "
        "auto,ring",
        operation(what.first).name, format_sizes(choice.sizes_bytes), what.second,
        format_span(fmt::format("{:.2f}", choice.min_share), fmt::format("{:.2f}", choice.max_share)));
  }
  return facts;
}

}  // namespace collbench::analysis
