#pragma once
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/compare/comparison.hpp"
#include "src/cli/criteria_options.hpp"
#include "src/cli/output.hpp"
#include "src/commands/registry.hpp"

// What the forms of collbench compare share: two records, and a folder of records over time.

namespace collbench::program {

struct ComparisonOptions {
  std::optional<double> allowance;  ///< none: by the backend
  std::optional<double> drift;      ///< likewise
  double max_slowdown = 0;
  std::vector<analysis::RowChange> fail_on{analysis::RowChange::slower};
  CriteriaOptions criteria{.criteria = {.min_busbw = {}, .fail_on = {}}, .asked = false};  ///< of the new run
};

struct CompareCommand {
  std::vector<std::string> files;  ///< BASE… NEW, or a folder and new records
  std::string baseline;            ///< a folder whose records are all the base; or none
  std::size_t last = 10;
  bool any_host = false;
  std::vector<std::string> hosts;  ///< of the new records, where they say localhost; empty: as they say
  bool add = false;
  ComparisonOptions comparison;
  OutputOptions output;
};

/// How far apart two launches, and two sittings, of the same thing may be: as given, else what is known or
/// assumed of the backend.
[[nodiscard]] analysis::CompareOptions compare_options(const Run& current, const ComparisonOptions& options);

/// Whether rows that changed like this are a failure; `missing` also where there is nothing to compare with.
[[nodiscard]] bool fails_on(const ComparisonOptions& options, analysis::RowChange change);

/// What of the comparison, and of the new run by itself, is a failure; wrong data of the new run, and rows
/// that it lacks since it was cut short, always are. Throws Error (usage) as check_run.
[[nodiscard]] CriteriaOutcome comparison_outcome(const analysis::Comparison& found, const Run& current,
                                                 const ComparisonOptions& options);

/// The record in a file, or on stdin. Throws Error (usage).
[[nodiscard]] Run read_run(const std::string& file);

/// The .json files in `folder`, but for those that somebody is writing, whose names begin with a dot; in
/// alphabetical order. Nothing where there is no folder.
[[nodiscard]] std::vector<std::filesystem::path> record_files(const std::filesystem::path& folder);

[[nodiscard]] std::string comparison_document(const analysis::Comparison& found,
                                              const OutputDocument& document);

// The forms with a folder (baseline_folder.cpp). Each throws Error (usage) for files.

/// Adds the records, and says where they lie. Refused are runs that were cut short, measured no row, have
/// wrong data or do not say when they were.
[[nodiscard]] CommandResult add_records(const CompareCommand& options);

/// All of the folder by kind of machine and hosts.
[[nodiscard]] CommandResult show_history(const CompareCommand& options);

/// The new records against the last ones of the same kind of machine.
[[nodiscard]] CommandResult check_records(const CompareCommand& options);

}  // namespace collbench::program
