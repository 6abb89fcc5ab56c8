#pragma once
#include <optional>
#include <string>
#include <vector>

#include "analysis/compare/comparison.hpp"
#include "src/cli/criteria_options.hpp"

namespace CLI {
class App;
}

// What compare and baseline check share: when a row that differs is a failure.

namespace collbench::program {

struct ComparisonOptions {
  std::optional<double> allowance;  ///< none: by the backend
  std::optional<double> drift;      ///< likewise
  double max_slowdown = 0;
  std::vector<analysis::RowChange> fail_on{analysis::RowChange::slower};
  CriteriaOptions criteria{.criteria = {.min_busbw = {}, .fail_on = {}}, .asked = false};  ///< of the new run
};

/// --fail-on, --max-slowdown, --allowance, --drift and --min-busbw.
void add_comparison_options(CLI::App& command, const std::string& theme, ComparisonOptions& options);

/// How far apart two launches, and two sittings, of the same thing may be: as given, else what is known or
/// assumed of the backend.
[[nodiscard]] analysis::CompareOptions compare_options(const Run& current, const ComparisonOptions& options);

/// Whether rows that changed like this are a failure; `missing` also where there is nothing to compare with.
[[nodiscard]] bool fails_on(const ComparisonOptions& options, analysis::RowChange change);

/// What of the comparison, and of the new run by itself, is a failure; wrong data of the new run, and rows
/// that it lacks since it was cut short, always are. Throws Error (usage) as check_run.
[[nodiscard]] CriteriaOutcome comparison_outcome(const analysis::Comparison& found, const Run& current,
                                                 const ComparisonOptions& options);

}  // namespace collbench::program
