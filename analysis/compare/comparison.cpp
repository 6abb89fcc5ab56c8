#include "analysis/compare/comparison.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "analysis/compare/side_of_row.hpp"
#include "analysis/states/machine_states.hpp"
#include "analysis/verdict/verdict.hpp"
#include "base/error.hpp"
#include "base/statistics.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

constexpr double kRatioConfidence = 0.95;

bool all_have_probes(const std::vector<Run>& runs) {
  return std::ranges::all_of(runs, [](const Run& run) {
    return std::ranges::all_of(run.rows, [](const Row& row) {
      return !row.measurement.unavailable.empty() || has_probes(row.measurement);
    });
  });
}

std::vector<RowPasses> passes_of(const std::vector<Run>& runs) {
  std::map<RowKey, RowPasses> rows;
  for (const Run& run : runs) {
    for (const Row& row : run.rows) add_passes(rows[row.measurement.key], row.measurement);
  }
  std::vector<RowPasses> passes;
  for (auto& [_, row] : rows) passes.push_back(std::move(row));
  return passes;
}

/// No state of a machine was seen to change a time by more (8 B AllReduce: 0.147 to 0.456 µs, a factor
/// of 3.1, docs/statistics.md): what is further apart has another cause as well.
constexpr double kMaxStateFactor = 4;

bool is_within(double ratio, double factor) { return ratio <= factor && ratio * factor >= 1; }

/// Which single disturbed launches do not move, as they do the ratio of the means.
double ratio_of_medians(const SideOfRow& base, const SideOfRow& current) {
  return std::exp(median(current.log_seconds) - median(base.log_seconds));
}

/// How often each side was in which state: what a reader needs to know before any ratio.
std::vector<std::string> state_lines(const std::vector<RowPasses>& base,
                                     const std::vector<RowPasses>& current,
                                     const std::vector<double>& boundaries) {
  const auto line = [&boundaries](std::string_view side, const std::vector<RowPasses>& rows) {
    std::vector<std::vector<double>> by_state(boundaries.size() + 1);
    double all = 0;
    for (const RowPasses& row : rows) {
      for (const double each : row.round_trip_seconds)
        if (const auto state = state_of(each, boundaries)) by_state[*state].push_back(each);
      all += static_cast<double>(row.round_trip_seconds.size());
    }
    std::vector<std::string> parts;
    double in_states = 0;
    for (const std::vector<double>& each : by_state) {
      if (each.empty()) continue;
      const auto passes = static_cast<double>(each.size());
      in_states += passes / all;
      parts.push_back(
          fmt::format("{} in {:.0f} % of the passes", format_round_trip(median(each)), passes / all * 100));
    }
    const std::size_t states = parts.size();
    if (states == 0) return fmt::format("{}: no pass says in which state the machine was", side);
    if (!are_all_passes(in_states))
      parts.push_back(fmt::format("not known in {:.0f} %", (1 - in_states) * 100));
    return fmt::format(
        "{}: the machine was in {}, by the round trip of a cache line between neighboring ranks: {}", side,
        counted(states, "state"), fmt::join(parts, ", "));
  };
  if (boundaries.empty()) return {};
  return {line("base", base), line("new run", current)};
}

/// Of the rows that were measured, in the order of the runs.
std::vector<RowKey> keys_of(const std::vector<Run>& runs) {
  std::vector<RowKey> keys;
  std::set<RowKey> seen;
  for (const Run& run : runs) {
    for (const Row& row : run.rows) {
      const Measurement& measurement = row.measurement;
      if (was_measured(measurement) && seen.insert(measurement.key).second) keys.push_back(measurement.key);
    }
  }
  return keys;
}

ComparedTimes times_of(const SideOfRow& side) {
  if (side.log_seconds.empty()) return {};
  return {std::exp(mean(side.log_seconds)), static_cast<int>(side.log_seconds.size())};
}

double squared_deviations(const std::vector<double>& values) {
  const double center = mean(values);
  return std::accumulate(values.begin(), values.end(), 0.0, [center](double sum, double value) {
    return sum + (value - center) * (value - center);
  });
}

/// By Student's t, against the ratios that two sittings may have (1 / (1 + allowance) to 1 + allowance). `p`
/// is not adjusted yet, and the change not decided. Without a p and bounds where these are not finite.
/// `rows` are tested in all.
void compare_launches(ComparedRow& row, const SideOfRow& base, const SideOfRow& current,
                      const CompareOptions& options, double allowance, std::size_t rows) {
  const auto n_base = static_cast<double>(base.log_seconds.size());
  const auto n_current = static_cast<double>(current.log_seconds.size());
  const double freedom = n_base + n_current - 2;
  const double variance =
      (squared_deviations(base.log_seconds) + squared_deviations(current.log_seconds)) / freedom;
  const double error = std::sqrt(variance * (1 / n_base + 1 / n_current));
  const double effect = std::log(row.ratio);
  const boost::math::students_t distribution(freedom);
  const double reach = error * boost::math::quantile(distribution, (1 + kRatioConfidence) / 2);
  const double low = std::exp(effect - reach);
  const double high = std::exp(effect + reach);
  if (!is_time(low) || !is_time(high)) return;
  row.ratio_low = low;
  row.ratio_high = high;
  const double beyond = std::max(0.0, std::abs(effect) - std::log1p(allowance));
  // Times that are equal to the last digit have no spread.
  row.p = error > 0 ? 2 * boost::math::cdf(boost::math::complement(distribution, beyond / error))
                    : (beyond == 0 ? 1.0 : 0.0);
  row.launches_to_decide = launches_to_decide({.log_ratio = effect,
                                               .standard_deviation = std::sqrt(variance),
                                               .sitting_allowance = allowance,
                                               .same_within = options.same_within,
                                               .significance = options.significance,
                                               .rows = rows});
  row.is_within_sittings = allowance > 0 && row.launches_to_decide == 0;
}

/// The ends of a launch's own interval, as factors of its time.
std::pair<double, double> own_interval(const Measurement& measurement) {
  const auto& interval = measurement.interval;
  if (!interval || !(interval->low_seconds > 0)) return {1, 1};
  return {interval->low_seconds / measurement.seconds, interval->high_seconds / measurement.seconds};
}

/// Of a single launch each.
RowChange change_beyond(ComparedRow& row, const SideOfRow& base, const SideOfRow& current, double allowance) {
  const auto [base_low, base_high] = own_interval(*base.runs.front());
  const auto [current_low, current_high] = own_interval(*current.runs.front());
  const double low = row.ratio * current_low / base_high;
  const double high = row.ratio * current_high / base_low;
  if (!is_time(low) || !is_time(high)) return RowChange::unclear;
  if (base.runs.front()->interval || current.runs.front()->interval) {  // a log has none, and none is made up
    row.ratio_low = low;
    row.ratio_high = high;
  }
  if (low > 1 + allowance) return RowChange::slower;
  if (high < 1 / (1 + allowance)) return RowChange::faster;
  return RowChange::unclear;
}

/// Holm (1979): the smallest of m values is multiplied by m, the next by m − 1, …; none gets smaller than one
/// before it.
void adjust_by_holm(std::vector<ComparedRow>& rows) {
  std::vector<ComparedRow*> tested;
  for (ComparedRow& row : rows) {
    if (row.p) tested.push_back(&row);
  }
  std::ranges::sort(tested, [](const auto* a, const auto* b) { return *a->p < *b->p; });
  double before = 0;
  for (std::size_t i = 0; i < tested.size(); ++i) {
    before = std::max(before, std::min(1.0, *tested[i]->p * static_cast<double>(tested.size() - i)));
    tested[i]->p = before;
  }
}

RowChange decided(const ComparedRow& row, const CompareOptions& options, double sitting_allowance) {
  const double limit = (1 + options.same_within) / (1 + sitting_allowance);
  if (row.ratio_low > 1 / limit && row.ratio_high < limit) return RowChange::same;
  if (*row.p > options.significance) return RowChange::unclear;
  return row.ratio > 1 ? RowChange::slower : RowChange::faster;
}

std::set<std::string> algorithms(const SideOfRow& side) {
  std::set<std::string> found;
  for (const Measurement* measurement : side.runs) {
    const std::string& ran = measurement->algorithm_ran;
    if (ran != kLibraryChoice && !ran.empty()) found.insert(ran);
  }
  return found;
}

bool side_has_marks(const SideOfRow& side) {
  return std::ranges::any_of(side.runs, [](const auto* each) { return !each->marks.empty(); });
}

bool side_has_wrong_data(const SideOfRow& side) {
  return std::ranges::any_of(side.runs, [](const auto* each) { return has_wrong_data(*each); });
}

std::vector<std::string> notes_of(const SideOfRow& base, const SideOfRow& current) {
  std::vector<std::string> notes;
  const std::set<std::string> before = algorithms(base);
  const std::set<std::string> after = algorithms(current);
  if (!before.empty() && !after.empty() && before != after)
    notes.push_back(fmt::format("{} → {}", fmt::join(before, ", "), fmt::join(after, ", ")));
  if (!base.had_time) notes.emplace_back("no time for a block in the base: use a longer --time");
  if (!current.had_time) notes.emplace_back("no time for a block in the new run: use a longer --time");
  if (base.has_no_times)
    notes.emplace_back("launches of the base whose time is none (0, or no number) are left out");
  if (current.has_no_times)
    notes.emplace_back("launches of the new run whose time is none (0, or no number) are left out");
  if (side_has_wrong_data(base)) notes.emplace_back("WRONG DATA in the base");
  if (side_has_wrong_data(current)) notes.emplace_back("WRONG DATA in the new run");
  if (side_has_marks(base)) notes.emplace_back("GPUs in trouble in the base");
  if (side_has_marks(current)) notes.emplace_back("GPUs in trouble in the new run");
  return notes;
}

void require_comparable(const std::vector<Run>& base, const std::vector<Run>& current) {
  const Run& a = base.front();
  const auto check = [&a](const Run& b) {
    if (a.ranks.size() != b.ranks.size()) {
      throw usage_error(
          "compare",
          fmt::format("one run has {} and another {}: their times are not of the same operation",
                      counted(a.ranks.size(), "rank"), counted(b.ranks.size(), "rank")),
          "give runs of the same number of ranks");
    }
    require_times_of_gpus(b, "compare");
    if (a.simulated != b.simulated)
      throw usage_error("compare", "one run is simulated and another is not", "give two of a kind");
    if (a.time_reduction != b.time_reduction) {
      throw usage_error("compare",
                        fmt::format("the ranks' times became one by {} in one run and by {} in another",
                                    name(a.time_reduction), name(b.time_reduction)),
                        "measure both with the same -a");
    }
  };
  for (const Run& run : base) check(run);
  for (const Run& run : current) check(run);
}

/// The keys of the base in its order, then those of the new run only.
std::vector<RowKey> keys_of_both(const std::vector<Run>& base, const std::vector<Run>& current) {
  std::vector<RowKey> keys = keys_of(base);
  const std::set<RowKey> of_base(keys.begin(), keys.end());
  for (const RowKey& key : keys_of(current)) {
    if (!of_base.contains(key)) keys.push_back(key);
  }
  return keys;
}

/// All of a row but its key, with p not adjusted and, where there is one, the change not decided.
/// `are_several`: some side has several records, each of which is one value. `rows` are compared in all.
void compare_sides(ComparedRow& row, SideOfRow before, SideOfRow after, std::size_t states, bool are_several,
                   std::size_t rows, const Comparison& comparison) {
  const auto state = shared_state(before, after, states);
  if (state) {
    keep_state(before, *state);
    keep_state(after, *state);
  }
  if (are_several) {
    keep_value_per_record(before);
    keep_value_per_record(after);
  }
  row.base = times_of(before);
  row.current = times_of(after);
  if (before.runs.empty() || after.runs.empty()) {
    row.change = after.runs.empty() ? RowChange::missing : RowChange::added;
    return;
  }
  row.notes = notes_of(before, after);
  // UNCLEAR: a time in which something else was done than was asked for has no ratio.
  if (side_has_wrong_data(before) || side_has_wrong_data(after)) return;
  if (row.base.launches > 0 && row.current.launches > 0) row.ratio = row.current.seconds / row.base.seconds;
  if (!is_time(
          row.ratio)) {  // UNCLEAR: a side without a time, in no known state, or beyond what a double holds
    row.ratio = 0;
    row.is_other_state = states > 1 && (before.log_seconds.empty() || after.log_seconds.empty());
    return;
  }
  if (!before.had_time || !after.had_time) return;  // UNCLEAR: a few first calls say nothing of the row
  if (!state && is_within(ratio_of_medians(before, after), kMaxStateFactor)) {
    row.is_other_state = true;  // and UNCLEAR
    return;
  }
  if (row.base.launches + row.current.launches > 2) {
    compare_launches(row, before, after, comparison.options, comparison.sitting_allowance, rows);
  } else {
    row.change = change_beyond(row, before, after, comparison.options.launch_allowance);
  }
}

}  // namespace

std::size_t Comparison::count(RowChange change) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(rows, [change](const auto& row) { return row.change == change; }));
}

bool have_a_row_in_common(const std::vector<Run>& a, const std::vector<Run>& b) {
  const std::vector<RowKey> of_a = keys_of(a);
  const std::vector<MeasuredRows> of_b = measured_rows(b);
  return std::ranges::any_of(of_a, [&of_b](const RowKey& key) {
    return std::ranges::any_of(of_b, [&key](const MeasuredRows& rows) { return rows.contains(key); });
  });
}

void leave_unclear(ComparedRow& row) {
  if (row.change == RowChange::missing || row.change == RowChange::added) return;
  row.change = RowChange::unclear;
  row.ratio = row.ratio_low = row.ratio_high = 0;
  row.launches_to_decide = 0;
  row.is_within_sittings = row.is_other_state = false;
  row.p.reset();
}

Comparison compare(const std::vector<Run>& base, const std::vector<Run>& current,
                   const CompareOptions& options) {
  require_comparable(base, current);
  if (!have_a_row_in_common(base, current)) {
    const std::string counts = counts_difference(base.back(), current.back());
    throw usage_error("compare",
                      "no row is in both: operations, sizes, types or algorithms differ" +
                          (counts.empty() ? "" : " (" + counts + ")"),
                      "measure the same rows on both sides");
  }
  Comparison comparison;
  comparison.options = options;
  comparison.ranks = static_cast<int>(base.front().ranks.size());
  comparison.on_host_memory = measures_host_memory(current.back().backend);
  comparison.differences = run_differences(base.back(), current.back());
  for (std::string& line : record_lines(base, current)) comparison.differences.push_back(std::move(line));
  const std::vector<RowPasses> base_passes = passes_of(base);
  const std::vector<RowPasses> current_passes = passes_of(current);
  comparison.knows_states = all_have_probes(base) && all_have_probes(current);
  const std::vector<double> boundaries =
      comparison.knows_states ? state_boundaries_of_two(base_passes, current_passes) : std::vector<double>{};
  for (std::string& line : state_lines(base_passes, current_passes, boundaries))
    comparison.differences.push_back(std::move(line));
  for (const auto& [side, runs] : {std::pair("base", &base), std::pair("new run", &current)}) {
    if (const std::string note = runs->size() > 1 ? short_launches(*runs) : ""; !note.empty())
      comparison.differences.push_back(fmt::format("{}: {}", side, note));
  }
  const bool are_several = base.size() + current.size() > 2;
  const double sitting_allowance =
      comparison.knows_states ? options.sitting_allowance : options.unknown_state_allowance;
  if (!are_several) comparison.sitting_allowance = sitting_allowance;
  const std::vector<MeasuredRows> base_rows = measured_rows(base);
  const std::vector<MeasuredRows> current_rows = measured_rows(current);
  const std::vector<RowKey> keys = keys_of_both(base, current);
  const std::uint64_t cold_bytes = cold_below(base, current);
  for (const RowKey& key : keys) {
    ComparedRow& row = comparison.rows.emplace_back();
    row.key = key;
    compare_sides(row, side_of(base_rows, key, boundaries), side_of(current_rows, key, boundaries),
                  boundaries.size() + 1, are_several, keys.size(), comparison);
    if (key.size_bytes < cold_bytes) leave_unclear(row);
    comparison.has_repeats = comparison.has_repeats || row.p.has_value();
  }
  decide_rows(comparison);
  return comparison;
}

void compare_with_itself(Comparison& comparison) {
  comparison.is_of_one_record = true;
  comparison.has_repeats = false;
  comparison.differences = {
      "both are the same record: every row is compared with itself, which says nothing of a change; give the "
      "record of another run"};
  for (ComparedRow& row : comparison.rows) {
    if (row.ratio != 1) continue;
    row.change = RowChange::same;
    row.ratio_low = row.ratio_high = 0;
    row.p.reset();
    row.launches_to_decide = 0;
    row.is_within_sittings = row.is_other_state = false;
  }
}

void decide_rows(Comparison& comparison) {
  adjust_by_holm(comparison.rows);
  for (ComparedRow& row : comparison.rows) {
    if (row.p) row.change = decided(row, comparison.options, comparison.sitting_allowance);
  }
}

}  // namespace collbench::analysis
