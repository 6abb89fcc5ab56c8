#include "analysis/report/launch_facts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analysis/report/fact.hpp"
#include "base/autocorrelation.hpp"
#include "base/statistics.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

constexpr std::size_t kNamed = 3;
constexpr double kChanceOfFalseDrift = 0.01;  // over all rows

/// "A; B; C and 2 more rows"
std::string first_rows(std::vector<std::string> rows) {
  const std::size_t more = rows.size() - std::min(rows.size(), kNamed);
  rows.resize(rows.size() - more);
  return fmt::format("{}{}", fmt::join(rows, "; "),
                     more == 0 ? "" : fmt::format(" and {}", counted(more, "more row")));
}

/// Of each launch the median of its passes.
std::vector<double> launch_medians(const Measurement& measured) {
  std::vector<double> medians;
  auto first = measured.pass_seconds.begin();
  for (const int passes : measured.launch_passes) {
    if (passes <= 0 || passes > measured.pass_seconds.end() - first) return {};
    medians.push_back(median({first, first + passes}));
    first += passes;
  }
  return medians;
}

void add_resumed_rows(const Run& run, ReportFacts& facts) {
  std::vector<std::string> spanning;
  for (const Row& row : run.rows) {
    if (row.measurement.launch_passes.size() > 1) spanning.push_back(format_row(row.measurement.key));
  }
  if (spanning.empty()) return;
  facts.push_back({fmt::format("resumed: the passes and the interval of {} span several launches",
                               first_rows(std::move(spanning)))});
}

void add_variation(const Run& run, ReportFacts& facts) {
  std::vector<double> within;
  std::vector<double> between;
  for (const Row& row : run.rows) {
    if (!row.measurement.launch_variation) continue;
    within.push_back(row.measurement.launch_variation->within);
    between.push_back(row.measurement.launch_variation->between);
  }
  if (between.empty()) return;
  const auto percent = [](double share) { return format_significant(share * 100, 2, 7); };
  facts.push_back(
      {fmt::format("times vary by {} % between launches and by {} % between passes of one (standard "
                   "deviations of the median row; at most {} % and {} %)",
                   percent(median(between)), percent(median(within)),
                   percent(*std::max_element(between.begin(), between.end())),
                   percent(*std::max_element(within.begin(), within.end())))});
}

/// The interval is wider where launches near each other are alike, but knows nothing of minutes in which no
/// launch ran.
void add_drift(const Run& run, ReportFacts& facts) {
  std::vector<std::string> drifted;
  for (const Row& row : run.rows) {
    const auto probability = probability_of_smooth_order(launch_medians(row.measurement));
    if (!probability || *probability * static_cast<double>(run.rows.size()) > kChanceOfFalseDrift) continue;
    drifted.push_back(format_row(row.measurement.key));
  }
  if (drifted.empty()) return;
  facts.push_back(
      {fmt::format("warning: the machine drifted: consecutive launches are correlated in {}, so the "
                   "interval holds for these minutes only; repeat --every SECONDS spreads the launches",
                   first_rows(std::move(drifted))),
       Tone::warning});
}

}  // namespace

ReportFacts launch_facts(const Run& run) {
  ReportFacts facts;
  if (run.repeated) {
    add_variation(run, facts);
    add_drift(run, facts);
  } else {
    add_resumed_rows(run, facts);
  }
  return facts;
}

}  // namespace collbench::analysis
