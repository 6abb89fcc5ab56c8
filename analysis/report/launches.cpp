#include "analysis/report/launches.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "analysis/states/machine_states.hpp"
#include "analysis/stragglers/step_verdict.hpp"
#include "base/record/measured_block.hpp"
#include "base/statistics.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

using Rows = std::vector<const Row*>;  // one row of every launch that measured it

template <class Value>
std::optional<double> median_over(const Rows& rows, Value value) {
  std::vector<double> values;
  for (const Row* row : rows) {
    if (const std::optional<double> each = value(*row)) values.push_back(*each);
  }
  if (values.empty()) return std::nullopt;
  return median(std::move(values));
}

void merge_times(Measurement& merged, const Rows& rows) {
  merged.pass_seconds.clear();
  merged.launch_passes.clear();
  merged.pass_probes.clear();
  std::vector<double> times;
  std::vector<std::vector<double>> passes;
  for (const Row* row : rows) {
    const Measurement& launch = row->measurement;
    merged.pass_seconds.insert(merged.pass_seconds.end(), launch.pass_seconds.begin(),
                               launch.pass_seconds.end());
    merged.launch_passes.push_back(static_cast<int>(launch.pass_seconds.size()));
    merged.pass_probes.insert(merged.pass_probes.end(), launch.pass_probes.begin(), launch.pass_probes.end());
    passes.push_back(launch.pass_seconds);
    times.push_back(launch.states.empty() ? launch.seconds : median(launch.pass_seconds));
  }
  if (merged.pass_probes.size() != merged.pass_seconds.size()) merged.pass_probes.clear();
  merged.seconds = median(times);
  merged.interval = time_interval(times, true);
  if (const auto variation = launch_variation(passes, merged.seconds)) merged.launch_variation = variation;
}

void merge_samples(Measurement& merged, const Rows& rows) {
  merged.iterations = 0;
  merged.samples = 0;
  for (const Row* row : rows) {
    merged.iterations += row->measurement.iterations;
    merged.iterations_per_sample =
        std::max(merged.iterations_per_sample, row->measurement.iterations_per_sample);
    merged.samples += row->measurement.samples;
  }
  for (double Measurement::* figure : {&Measurement::minimum, &Measurement::mean, &Measurement::median,
                                       &Measurement::p95, &Measurement::p99, &Measurement::variation}) {
    merged.*figure =
        *median_over(rows, [&](const Row& row) { return std::optional(row.measurement.*figure); });
  }
  for (std::size_t rank = 0; rank < merged.ranks.size(); ++rank) {
    const auto over_launches = [&](auto RankTimes::* figure) {
      return median_over(rows, [&](const Row& row) -> std::optional<double> {
        const auto& ranks = row.measurement.ranks;
        if (rank >= ranks.size()) return std::nullopt;
        return ranks[rank].*figure;
      });
    };
    RankTimes& times = merged.ranks[rank];
    times.median_seconds = *over_launches(&RankTimes::median_seconds);
    times.p99_seconds = *over_launches(&RankTimes::p99_seconds);
    times.page_faults = over_launches(&RankTimes::page_faults);
    std::vector<double> waits;
    for (const Row* row : rows)
      if (rank < row->measurement.ranks.size() && row->measurement.ranks[rank].core_wait_share)
        waits.push_back(*row->measurement.ranks[rank].core_wait_share);
    times.core_wait_share = waits.empty() ? std::nullopt : std::optional(mean(waits));
  }
}

void merge_checks(Measurement& merged, const Rows& rows) {
  merged.wrong_elements.reset();
  merged.wrong.clear();
  for (const Row* row : rows) {
    const Measurement& launch = row->measurement;
    if (launch.wrong_elements) {
      merged.wrong_elements = merged.wrong_elements.value_or(0) + *launch.wrong_elements;
    }
    merged.wrong.insert(merged.wrong.end(), launch.wrong.begin(), launch.wrong.end());
  }
}

/// On a host every launch calibrates again.
void merge_expectations(Expectation& merged, const Rows& rows) {
  for (std::optional<double> Expectation::* figure :
       {&Expectation::ring_seconds, &Expectation::tree_seconds, &Expectation::expected_seconds,
        &Expectation::fastest_seconds, &Expectation::slowest_seconds, &Expectation::nvls_seconds}) {
    merged.*figure = median_over(rows, [&](const Row& row) { return row.expectation.*figure; });
  }
}

/// What a page fault takes: of what calibration found, the one figure that a report of all launches uses.
void merge_page_fault(Run& merged, const std::vector<Run>& launches) {
  std::vector<double> seconds;
  for (const Run& launch : launches)
    if (const CalibrationPoint* const point = page_fault_point(launch)) seconds.push_back(point->seconds);
  if (!merged.calibration || seconds.empty()) return;
  for (CalibrationPoint& point : merged.calibration->points) {
    if (point.kind == CalibrationKind::page_fault) point.seconds = median(seconds);
  }
}

/// Expectations are medians over all calibrations, so their state is that of all.
void merge_calibration_probes(Run& merged, const std::vector<Run>& launches) {
  if (!merged.calibration) return;
  merged.calibration->probes.clear();
  for (const Run& launch : launches) {
    if (!launch.calibration) continue;
    for (const MachineProbe& each : launch.calibration->probes) merged.calibration->probes.push_back(each);
  }
}

/// The host of a note, and its words without figures: what launches that met the same have in common.
std::string without_figures(const std::string& note) {
  const auto words = note.begin() + static_cast<std::ptrdiff_t>(std::min(note.find(": "), note.size()));
  std::string kind(note.begin(), words);
  std::copy_if(words, note.end(), std::back_inserter(kind),
               [](char c) { return std::isdigit(static_cast<unsigned char>(c)) == 0 && c != '.'; });
  return kind;
}

/// Each kind of note as the first launch has it that has one, and how many do.
std::vector<std::string> merged_notes(const std::vector<Run>& launches,
                                      std::vector<std::string> Run::* of_launch) {
  std::vector<std::string> notes;
  std::map<std::string, std::pair<std::size_t, int>> kinds;  // the place in notes, and how many launches
  for (const Run& launch : launches) {
    for (const std::string& note : launch.*of_launch) {
      const auto [kind, is_new] = kinds.try_emplace(without_figures(note), notes.size(), 0);
      if (is_new) notes.push_back(note);
      ++kind->second.second;
    }
  }
  for (const auto& [_, kind] : kinds) {
    notes[kind.first] += fmt::format(" (in {} of {} launches)", kind.second, launches.size());
  }
  return notes;
}

constexpr std::size_t kMaxNamedRows = 3;
constexpr double kChanceOfFalseDrift = 0.01;  // over all rows

/// "A; B; C and 2 more rows"
std::string first_rows(std::vector<std::string> rows) {
  const std::size_t more = rows.size() - std::min(rows.size(), kMaxNamedRows);
  rows.resize(rows.size() - more);
  return fmt::format("{}{}", fmt::join(rows, "; "),
                     more == 0 ? "" : fmt::format(" and {}", counted(more, "more row")));
}

void add_resumed_rows(const Run& run, ReportLines& facts) {
  std::vector<std::string> spanning;
  for (const Row& row : run.rows) {
    if (row.measurement.launch_passes.size() > 1) spanning.push_back(format_row(row.measurement.key));
  }
  if (spanning.empty()) return;
  add(facts, "resumed: the passes and the interval of {} span several launches",
      first_rows(std::move(spanning)));
}

void add_variation(const Run& run, ReportLines& facts) {
  std::vector<double> within;
  std::vector<double> between;
  for (const Row& row : run.rows) {
    if (!row.measurement.launch_variation) continue;
    within.push_back(row.measurement.launch_variation->within);
    between.push_back(row.measurement.launch_variation->between);
  }
  if (between.empty()) return;
  const auto percent = [](double share) { return format_significant(share * 100, 2, 7); };
  add(facts,
      "times vary by {} % between launches and by {} % between passes of one (standard deviations of the "
      "median row; at most {} % and {} %)",
      percent(median(between)), percent(median(within)), percent(*std::ranges::max_element(between)),
      percent(*std::ranges::max_element(within)));
}

/// The interval is wider where launches near each other are alike, but knows nothing of minutes in which no
/// launch ran.
void add_drift(const Run& run, ReportLines& facts) {
  std::vector<std::string> drifted;
  for (const Row& row : run.rows) {
    const auto probability = probability_of_smooth_order(launch_medians(row.measurement));
    if (!probability || *probability * static_cast<double>(run.rows.size()) > kChanceOfFalseDrift) continue;
    drifted.push_back(format_row(row.measurement.key));
  }
  if (drifted.empty()) return;
  warn(facts,
       "the machine drifted: consecutive launches are correlated in {}, so the interval holds only for the "
       "time measured; repeat --every SECONDS spaces the launches out",
       first_rows(std::move(drifted)));
}

/// "110 to 118 ns"
std::string round_trip_span(double low_seconds, double high_seconds) {
  return format_span(format_round_trip(low_seconds), format_round_trip(high_seconds));
}

/// What a row takes in a state over what it takes in the commonest one.
std::string state_ratio(double seconds, double commonest) {
  const double ratio = seconds / commonest;
  return std::isfinite(ratio) ? fmt::format("{:.2f}", ratio) : "–";
}

/// "AllReduce: 8 B 3.10 (0.456 µs), 64 KiB 1.60 (14.9 µs)", an operation each: what rows of the state that
/// began at `min_round_trip` take, over what they take in the commonest one.
std::vector<std::string> state_ratios(const Run& run, double min_round_trip) {
  std::vector<std::string> operations;
  for (const OperationId id : operations_in(run)) {
    std::vector<std::string> rows;
    for (const Row& row : run.rows) {
      const Measurement& measured = row.measurement;
      if (measured.key.operation != id) continue;
      const auto state =
          std::ranges::find(measured.states, min_round_trip, &RowState::min_round_trip_seconds);
      if (state == measured.states.begin() || state == measured.states.end()) continue;
      rows.push_back(fmt::format("{} {} ({})", format_bytes(measured.key.size_bytes),
                                 state_ratio(state->seconds, measured.seconds),
                                 format_seconds(state->seconds)));
    }
    if (!rows.empty()) operations.push_back(fmt::format("{}: {}", operation(id).name, fmt::join(rows, ", ")));
  }
  return operations;
}

/// Which states the machine was in for how long, and what the rows take in those that the tables do not show.
void add_states(const Run& run, ReportLines& facts) {
  const std::vector<StateShare> shares = state_shares(run);
  if (shares.empty()) return;
  const auto stay = [&run](const StateShare& share) {
    const std::string launches =
        run.repeated ? fmt::format(", most of {}", counted(share.launches, "launch")) : "";
    return fmt::format("{} in {:.0f} % of the passes (about {}{})",
                       round_trip_span(share.min_round_trip_seconds, share.max_round_trip_seconds),
                       share.passes * 100, format_seconds(share.passes * run.wall_seconds), launches);
  };
  std::vector<std::string> stays;
  std::transform(shares.begin(), shares.end(), std::back_inserter(stays), stay);
  double in_states = 0;
  for (const StateShare& share : shares) in_states += share.passes;
  if (!are_all_passes(in_states))
    stays.push_back(fmt::format("not known in {:.0f} %", (1 - in_states) * 100));
  warn(facts,
       "the machine was in {} states, told apart by the round trip of a cache line between neighboring "
       "ranks: {}. Times and intervals of the tables are those of the first",
       shares.size(), fmt::join(stays, "; "));
  for (std::size_t i = 1; i < shares.size(); ++i) {
    for (const std::string& rows : state_ratios(run, shares[i].min_round_trip_seconds)) {
      add(facts, "at {}, times as long as in the first state: {}",
          round_trip_span(shares[i].min_round_trip_seconds, shares[i].max_round_trip_seconds), rows);
    }
  }
}

/// That expectations are of another state of the machine than the times.
void add_calibration_state(const Run& run, ReportLines& facts) {
  const auto other = other_calibration_state(run);
  if (!other) return;
  warn(facts,
       "calibrated while the round trip of a cache line took {}, and {} passes ran at {}: expectations are "
       "of another state of the machine than the times, so meas/exp is off; run again, or with --calibration "
       "and the record of a run that was calibrated in this state",
       format_round_trip(other->calibration_round_trip_seconds), state_shares(run).empty() ? "the" : "most",
       format_round_trip(other->run_round_trip_seconds));
}

/// That launches saw one state only: the rows' intervals speak of it and of no other.
void add_single_state(const Run& run, ReportLines& facts) {
  std::vector<double> round_trips;
  for (const Row& row : run.rows) {
    for (const MachineProbe& probe : row.measurement.pass_probes) {
      if (probe.round_trip_seconds > 0) round_trips.push_back(probe.round_trip_seconds);
    }
  }
  if (round_trips.empty() || !state_shares(run).empty()) return;
  add(facts,
      "the machine was in one state: the round trip of a cache line between neighboring ranks took {} ({} "
      "for the middle 80 % of the passes)",
      format_round_trip(median(round_trips)),
      round_trip_span(quantile(round_trips, 0.1), quantile(round_trips, 0.9)));
}

}  // namespace

Run merged_launches(const std::vector<Run>& launches) {
  Run merged = launches.front();
  merged.launches = static_cast<int>(launches.size());
  merged.repeated = true;
  merged.complete = true;
  merged.finished = launches.back().finished;
  for (double Run::* const cost : {&Run::wall_seconds, &Run::validation_seconds, &Run::calibration_seconds}) {
    merged.*cost = 0;
    for (const Run& launch : launches) merged.*cost += launch.*cost;
  }
  for (const Run& launch : launches) merged.passes = std::max(merged.passes, launch.passes);
  for (std::vector<std::string> Run::* const notes : {&Run::load_notes, &Run::network_notes})
    merged.*notes = merged_notes(launches, notes);
  merge_page_fault(merged, launches);
  merge_calibration_probes(merged, launches);
  for (std::size_t i = 0; i < merged.rows.size(); ++i) {
    Rows rows;
    for (const Run& launch : launches) {
      if (launch.rows[i].measurement.seconds > 0) rows.push_back(&launch.rows[i]);
    }
    if (rows.empty()) continue;
    const Rows timed = rows_with_time(rows);
    Row row = *timed.front();
    merge_times(row.measurement, timed);
    merge_samples(row.measurement, timed);
    merge_checks(row.measurement, rows);
    merge_expectations(row.expectation, rows);
    merged.rows[i] = std::move(row);
  }
  tell_states(merged);
  merge_steps(merged, launches);
  return merged;
}

std::optional<WidestInterval> widest_interval(const Run& run) {
  std::optional<WidestInterval> widest;
  for (std::size_t i = 0; i < run.rows.size(); ++i) {
    const Measurement& measured = run.rows[i].measurement;
    if (measured.seconds <= 0) continue;
    const double half = interval_half_width(measured).value_or(std::numeric_limits<double>::infinity());
    if (!widest || half > widest->relative_half_width) widest = {.relative_half_width = half, .row = i};
  }
  return widest;
}

ReportLines launch_lines(const Run& run) {
  ReportLines facts;
  add_states(run, facts);
  add_calibration_state(run, facts);
  if (run.repeated) {
    add_single_state(run, facts);
    if (const std::string words = short_launches(run); !words.empty()) warn(facts, "{}", words);
    add_variation(run, facts);
    add_drift(run, facts);
  } else {
    add_resumed_rows(run, facts);
  }
  return facts;
}

}  // namespace collbench::analysis
