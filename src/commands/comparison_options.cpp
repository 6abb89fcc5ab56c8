#include "src/commands/comparison_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "analysis/report/sections.hpp"
#include "base/units.hpp"
#include "src/cli/options.hpp"

namespace collbench::program {

bool fails_on(const ComparisonOptions& options, analysis::RowChange change) {
  return std::find(options.fail_on.begin(), options.fail_on.end(), change) != options.fail_on.end();
}

namespace {

using analysis::RowChange;

/// Two launches of one thing may be so far apart, where nobody measured it. On host memory the same program
/// has two paces on one machine (docs/statistics.md); on GPUs it is an assumption.
constexpr double kAllowanceOnHostMemory = 2;
constexpr double kAllowanceOnGpus = 0.1;

/// Two sittings in one state of a machine. On 2 cores of a virtual machine the medians of a row were at most
/// a factor of 1.28 apart within one build (85 records in three series of some minutes,
/// docs/notes/benchmarks.md "How far two sittings are apart"). On GPUs nobody measured it.
constexpr double kDriftOnHostMemory = 0.3;
constexpr double kMaxPercent = 1e6;

/// The changes of rows, and what the new run may fail by itself.
void parse_fail_on(const std::string& text, ComparisonOptions& options) {
  constexpr std::array<std::pair<std::string_view, RowChange>, 4> kChanges{{{"slower", RowChange::slower},
                                                                            {"faster", RowChange::faster},
                                                                            {"unclear", RowChange::unclear},
                                                                            {"missing", RowChange::missing}}};
  std::vector<std::string> names;
  for (const auto& each : kChanges) names.emplace_back(each.first);
  const std::vector<std::string> of_a_run = failure_kind_names();
  names.insert(names.end(), of_a_run.begin(), of_a_run.end());
  options.criteria.asked = options.criteria.kinds_asked = true;
  options.fail_on.clear();
  std::string kinds;
  for (const std::string& word : split_list(text)) {
    const std::string known = parse_name(word, "--fail-on", names);
    const auto* const change =
        std::find_if(kChanges.begin(), kChanges.end(), [&](const auto& each) { return each.first == known; });
    if (change != kChanges.end()) {
      options.fail_on.push_back(change->second);
    } else {
      kinds += (kinds.empty() ? "" : ",") + known;
    }
  }
  if (!kinds.empty()) options.criteria.criteria.fail_on = parse_failure_kinds(kinds);
}

bool fails(const analysis::ComparedRow& row, const ComparisonOptions& options) {
  if (!fails_on(options, row.change)) return false;
  return row.change != RowChange::slower || row.ratio > 1 + options.max_slowdown;
}

/// "failed: AllReduce 1 MiB float sum, out of place: SLOWER, 1.24 times as long (1.20 to 1.29)".
std::string failed_row(const analysis::ComparedRow& row) {
  std::string text = fmt::format("failed: {}: {}", analysis::format_row(row.key), analysis::name(row.change));
  if (row.ratio > 0) text += fmt::format(", {:.3g} times as long", row.ratio);
  if (row.ratio_low > 0) text += fmt::format(" ({:.3g} to {:.3g})", row.ratio_low, row.ratio_high);
  return text;
}

}  // namespace

void add_comparison_options(CLI::App& command, const std::string& theme, ComparisonOptions& options) {
  add_option(
      command, theme, "--fail-on", "LIST",
      "what makes the exit status 1: rows that are slower, faster, unclear or missing; the new run low, "
      "late, degraded or throttled; or none (slower)",
      [&options](const std::string& text) { parse_fail_on(text, options); });
  add_criteria_options(command, theme, options.criteria, false);
  add_option(command, theme, "--max-slowdown", "PERCENT", "a row that is SLOWER by less does not fail (0)",
             [&options](const std::string& text) {
               options.max_slowdown =
                   parse_number<double>(text, "--max-slowdown", 0, kMaxPercent, "percent") / 100;
             });
  add_option(command, theme, "--allowance", "PERCENT",
             "how far apart two launches of the same thing may be, for rows of one launch each (200 on host "
             "memory, 10 on GPUs)",
             [&options](const std::string& text) {
               options.allowance = parse_number<double>(text, "--allowance", 0, kMaxPercent, "percent") / 100;
             });
  add_option(command, theme, "--drift", "PERCENT",
             "how far apart two sittings of the same thing may be, where each side is one record of several "
             "launches (30 on host memory, as --allowance where records have no probes; 0 on GPUs)",
             [&options](const std::string& text) {
               options.drift = parse_number<double>(text, "--drift", 0, kMaxPercent, "percent") / 100;
             });
}

analysis::CompareOptions compare_options(const Run& current, const ComparisonOptions& options) {
  // Of tests of other programs it is not known: what is assumed for GPUs is assumed for them too.
  const bool on_gpus = !measures_host_memory(current.backend);
  const double allowance = options.allowance.value_or(on_gpus ? kAllowanceOnGpus : kAllowanceOnHostMemory);
  return {.launch_allowance = allowance,
          .sitting_allowance = options.drift.value_or(on_gpus ? 0 : kDriftOnHostMemory),
          // A record without probes may be of any state, as a single launch may.
          .unknown_state_allowance = options.drift.value_or(on_gpus ? 0 : allowance)};
}

CriteriaOutcome comparison_outcome(const analysis::Comparison& found, const Run& current,
                                   const ComparisonOptions& options) {
  CriteriaOutcome outcome = criteria_outcome(current, options.criteria);
  const std::size_t missing = found.count(RowChange::missing);
  if (!current.complete && missing > 0) {
    outcome.status = worse(outcome.status, ExitStatus::low);
    outcome.notes.push_back(fmt::format("failed: the new run was cut short, or is still going, and lacks {}",
                                        counted(missing, "row")));
  }
  for (const analysis::ComparedRow& row : found.rows) {
    if (!fails(row, options)) continue;
    outcome.status = worse(outcome.status, ExitStatus::low);
    if (options.criteria.asked) outcome.notes.push_back(failed_row(row));
  }
  return outcome;
}

}  // namespace collbench::program
