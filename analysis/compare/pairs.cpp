#include "analysis/compare/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "analysis/compare/side_of_row.hpp"
#include "analysis/report/sections.hpp"
#include "analysis/states/machine_states.hpp"
#include "base/state_boundaries.hpp"
#include "base/statistics.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

constexpr int kFirstLook = 6;
constexpr std::size_t kMinPairs = 3;  // of a row, for a test of it

/// The passes of a launch in each state, without those of which it is not known; all in one where nobody
/// looked.
std::vector<std::vector<double>> passes_by_state(const Measurement& measured,
                                                 const std::vector<double>& boundaries) {
  std::vector<std::vector<double>> states(boundaries.size() + 1);
  const bool has_probes = measured.pass_probes.size() == measured.pass_seconds.size();
  for (std::size_t i = 0; i < measured.pass_seconds.size(); ++i) {
    const double round_trip = has_probes ? measured.pass_probes[i].round_trip_seconds : 0;
    if (!is_time(measured.pass_seconds[i])) continue;
    if (const auto state = state_of(round_trip, boundaries))
      states[*state].push_back(measured.pass_seconds[i]);
  }
  return states;
}

/// What the two launches of a round took for a row.
struct RoundTimes {
  double a_seconds;
  double b_seconds;
};

/// Of one round, in the state in which the launch with fewer passes has most; none when they share none.
std::optional<RoundTimes> round_times(const Measurement& a, const Measurement& b,
                                      const std::vector<double>& boundaries) {
  const auto of_a = passes_by_state(a, boundaries);
  const auto of_b = passes_by_state(b, boundaries);
  std::optional<RoundTimes> times;
  std::size_t most = 0;
  for (std::size_t state = 0; state < of_a.size(); ++state) {
    const std::size_t fewer = std::min(of_a[state].size(), of_b[state].size());
    if (fewer <= most) continue;
    most = fewer;
    times = RoundTimes{.a_seconds = median(of_a[state]), .b_seconds = median(of_b[state])};
  }
  return times;
}

/// Of the rounds that are compared, of which there are some: the geometric mean.
double mean_of_rounds(const std::vector<RoundTimes>& rounds, double RoundTimes::* side) {
  double logs = 0;
  for (const RoundTimes& round : rounds) logs += std::log(round.*side);
  return std::exp(logs / static_cast<double>(rounds.size()));
}

RowPasses passes_of_row(const std::vector<MeasuredRows>& runs, const RowKey& key) {
  RowPasses passes;
  for (const MeasuredRows& run : runs) {
    if (const Measurement* const measured = measured_row(run, key)) add_passes(passes, *measured);
  }
  return passes;
}

/// By Student's t of the pairs' log ratios. `p` is not adjusted for the rows yet.
void test_pairs(ComparedRow& row, const std::vector<double>& log_ratios, const CompareOptions& options,
                int looks) {
  const auto pairs = static_cast<double>(log_ratios.size());
  const double effect = mean(log_ratios);
  double squares = 0;
  for (const double each : log_ratios) squares += (each - effect) * (each - effect);
  const double deviation = std::sqrt(squares / (pairs - 1));
  const double error = deviation / std::sqrt(pairs);
  const boost::math::students_t distribution(pairs - 1);
  const double reach = error * boost::math::quantile(distribution, 1 - options.significance / looks / 2);
  row.ratio = std::exp(effect);
  const double low = std::exp(effect - reach);
  const double high = std::exp(effect + reach);
  if (!is_time(low) || !is_time(high)) return;
  row.ratio_low = low;
  row.ratio_high = high;
  const double p = error > 0
                       ? 2 * boost::math::cdf(boost::math::complement(distribution, std::abs(effect) / error))
                       : (effect == 0 ? 1.0 : 0.0);
  row.p = std::min(1.0, p * looks);
}

RowKey without_algorithm(RowKey key) {
  key.algorithm = kLibraryChoice;
  return key;
}

/// The keys of a side's rows by all but their algorithm; none where it measured several.
std::map<RowKey, std::optional<RowKey>> keys_by_rest(const std::vector<Run>& runs) {
  std::map<RowKey, std::optional<RowKey>> keys;
  for (const Row& row : runs.front().rows) {
    const auto [known, is_new] =
        keys.try_emplace(without_algorithm(row.measurement.key), row.measurement.key);
    if (!is_new) known->second.reset();
  }
  return keys;
}

/// Two algorithms can be what is compared: where a row of one side and a row of the other differ in nothing
/// else, both lose the name of theirs.
void match_algorithms(std::vector<Run>& a, std::vector<Run>& b) {
  const auto of_a = keys_by_rest(a);
  const auto of_b = keys_by_rest(b);
  for (std::vector<Run>* const side : {&a, &b}) {
    for (Run& run : *side) {
      for (Row& row : run.rows) {
        const RowKey rest = without_algorithm(row.measurement.key);
        const auto in_a = of_a.find(rest);
        const auto in_b = of_b.find(rest);
        if (in_a == of_a.end() || in_b == of_b.end() || !in_a->second || !in_b->second) continue;
        if (*in_a->second != *in_b->second) row.measurement.key = rest;
      }
    }
  }
}

/// What differs, said of A and B.
void name_sides(std::vector<std::string>& differences) {
  for (std::string& line : differences) {
    for (const auto& [side, letter] : {std::pair("base: ", "A: "), std::pair("new run: ", "B: ")}) {
      if (line.starts_with(side)) line.replace(0, std::string_view(side).size(), letter);
    }
  }
}

}  // namespace

std::vector<int> looks_of(int rounds) {
  std::vector<int> looks;
  for (int look = kFirstLook; look < rounds; look = (look * 4 + 2) / 3) looks.push_back(look);
  looks.push_back(rounds);
  return looks;
}

Comparison compare_pairs(std::vector<Run> a, std::vector<Run> b, int max_rounds,
                         const CompareOptions& options) {
  match_algorithms(a, b);
  Comparison comparison = compare(a, b, options);
  name_sides(comparison.differences);
  const int looks = static_cast<int>(looks_of(max_rounds).size());
  comparison.paired = PairedRounds{.rounds = static_cast<int>(std::min(a.size(), b.size())), .looks = looks};
  const std::vector<MeasuredRows> rows_of_a = measured_rows(a);
  const std::vector<MeasuredRows> rows_of_b = measured_rows(b);
  std::vector<RowPasses> of_a;
  std::vector<RowPasses> of_b;
  for (const ComparedRow& row : comparison.rows) {
    of_a.push_back(passes_of_row(rows_of_a, row.key));
    of_b.push_back(passes_of_row(rows_of_b, row.key));
  }
  const std::vector<double> boundaries =
      comparison.knows_states ? state_boundaries_of_two(of_a, of_b) : std::vector<double>{};
  const std::uint64_t cold_bytes = cold_below(a, b);
  for (ComparedRow& row : comparison.rows) {
    if (row.change == RowChange::missing || row.change == RowChange::added) continue;
    std::vector<RoundTimes> times;
    std::size_t measured_rounds = 0;
    for (std::size_t round = 0; round < std::min(a.size(), b.size()); ++round) {
      const Measurement* const in_a = measured_row(rows_of_a[round], row.key);
      const Measurement* const in_b = measured_row(rows_of_b[round], row.key);
      if (in_a == nullptr || in_b == nullptr || had_no_time(*in_a) || had_no_time(*in_b)) continue;
      ++measured_rounds;
      if (const auto both = round_times(*in_a, *in_b, boundaries)) times.push_back(*both);
    }
    std::vector<double> log_ratios;
    for (const RoundTimes& round : times) log_ratios.push_back(std::log(round.b_seconds / round.a_seconds));
    row.change = RowChange::unclear;
    row.is_other_state = measured_rounds > 0 && times.empty();
    row.base.launches = row.current.launches = static_cast<int>(times.size());
    row.ratio = row.base.seconds = row.current.seconds = 0;  // compare() had them of all rounds
    if (!times.empty()) {
      row.base.seconds = mean_of_rounds(times, &RoundTimes::a_seconds);
      row.current.seconds = mean_of_rounds(times, &RoundTimes::b_seconds);
      row.ratio = std::exp(mean(log_ratios));
    }
    row.launches_to_decide = 0;
    row.ratio_low = row.ratio_high = 0;
    row.p.reset();
    if (log_ratios.size() >= kMinPairs) test_pairs(row, log_ratios, options, looks);
    if (row.key.size_bytes < cold_bytes) leave_unclear(row);
  }
  decide_rows(comparison);
  return comparison;
}

bool is_decided(const Comparison& comparison) { return comparison.count(RowChange::unclear) == 0; }

std::vector<std::string> pair_sentences(const Comparison& comparison) {
  std::vector<std::string> sentences;
  for (const ComparedRow& row : comparison.rows) {
    const std::string pairs = counted(row.base.launches, "pair");
    // Of a time that is r times A's, B takes 1 - r less.
    const auto percent = [](double ratio) { return std::abs(1 - ratio) * 100; };
    if (row.change == RowChange::faster || row.change == RowChange::slower) {
      const bool faster = row.change == RowChange::faster;
      const std::string_view word = faster ? "faster" : "slower";
      const std::string how = row.is_too_wide()
                                  ? fmt::format("{} (the interval is too wide to say by how much)", word)
                                  : fmt::format("{:.1f} % {} ({:.1f} to {:.1f} %)", percent(row.ratio), word,
                                                percent(faster ? row.ratio_high : row.ratio_low),
                                                percent(faster ? row.ratio_low : row.ratio_high));
      sentences.push_back(fmt::format("{}: B is {}, {}", format_row(row.key), how, pairs));
    } else if (row.change == RowChange::same) {
      sentences.push_back(fmt::format(
          "{}: B takes {:.3f} to {:.3f} times as long as A: a difference of {:.3g} % is ruled out, {}",
          format_row(row.key), row.ratio_low, row.ratio_high, comparison.options.same_within * 100, pairs));
    }
  }
  return sentences;
}

}  // namespace collbench::analysis
