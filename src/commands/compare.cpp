#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/compare/comparison.hpp"
#include "analysis/compare/comparison_report.hpp"
#include "base/error.hpp"
#include "base/record/run_stream.hpp"
#include "src/cli/options.hpp"
#include "src/cli/output.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/commands/registry.hpp"

namespace collbench::program {
namespace {

using analysis::RowChange;

/// Two launches of one thing may be so far apart, where nobody measured it. On host memory the same program
/// has two paces on one machine (docs/statistics.md); on GPUs it is an assumption.
constexpr double kAllowanceOnHostMemory = 2;
constexpr double kAllowanceOnGpus = 0.1;
constexpr double kMaxPercent = 1e6;

/// `collbench compare BASE… NEW`.
struct CompareCommand {
  std::vector<std::string> records;  ///< the last one is the new run
  std::string baseline;              ///< a folder of records, or none
  std::optional<double> allowance;   ///< none: by the backend
  double max_slowdown = 0;
  std::vector<RowChange> fail_on{RowChange::slower};
  OutputOptions output;
};

/// But for the new run, which may lie there as well.
std::vector<std::string> records_in(const std::string& folder, const std::string& current) {
  std::vector<std::string> files;
  std::error_code failure;
  for (std::filesystem::directory_iterator entry(folder, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    if (entry->path().extension() == ".json" && entry->is_regular_file() &&
        !same_file(entry->path().string(), current))
      files.push_back(entry->path().string());
  }
  if (failure)
    throw usage_error("--baseline", fmt::format("{}: {}", folder, failure.message()), "give a folder");
  if (files.empty()) {
    throw usage_error("--baseline", fmt::format("{} holds no other .json file", folder),
                      "give a folder of records that -J wrote");
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<RowChange> parse_changes(const std::string& text) {
  std::vector<RowChange> changes;
  for (const std::string& word : split_list(text)) {
    const std::string known =
        parse_name(word, "--fail-on", {"slower", "faster", "unclear", "missing", "none"});
    if (known == "slower") changes.push_back(RowChange::slower);
    if (known == "faster") changes.push_back(RowChange::faster);
    if (known == "unclear") changes.push_back(RowChange::unclear);
    if (known == "missing") changes.push_back(RowChange::missing);
  }
  return changes;
}

bool fails(const analysis::ComparedRow& row, const CompareCommand& options) {
  if (std::find(options.fail_on.begin(), options.fail_on.end(), row.change) == options.fail_on.end())
    return false;
  return row.change != RowChange::slower || row.ratio > 1 + options.max_slowdown;
}

std::vector<Run> read_runs(const std::vector<std::string>& files) {
  std::vector<Run> runs;
  for (const std::string& file : files) runs.push_back(run_from_text(input_text(file), input_name(file)));
  return runs;
}

/// Throws Error (usage) for files that are no records, and for runs that cannot be compared.
CommandResult compare(const CompareCommand& options) {
  const auto documents = output_documents(options.output);
  require_writable_documents(documents, options.output.overwrite);
  std::vector<std::string> base = options.records;
  const std::string current = base.back();
  base.pop_back();
  if (!options.baseline.empty()) base = records_in(options.baseline, current);
  if (base.empty()) {
    throw usage_error("compare", "there is nothing to compare with",
                      "collbench compare base.json new.json, or --baseline FOLDER new.json");
  }
  const std::vector<Run> base_runs = read_runs(base);
  const std::vector<Run> current_runs = read_runs({current});
  const double usual =
      measures_gpus(current_runs.front().backend) ? kAllowanceOnGpus : kAllowanceOnHostMemory;
  analysis::Comparison found =
      analysis::compare(base_runs, current_runs, {.launch_allowance = options.allowance.value_or(usual)});
  found.base_name = !options.baseline.empty() ? fmt::format("{} runs of {}", base.size(), options.baseline)
                    : base.size() == 1        ? input_name(base.front())
                                              : fmt::format("{}", fmt::join(base, ", "));
  found.current_name = input_name(current);
  const bool failed =
      std::any_of(found.rows.begin(), found.rows.end(), [&](const auto& row) { return fails(row, options); });
  const auto write = [&](const OutputDocument& document) {
    return analysis::report(found, document.format, page_options(document));
  };
  return {write_documents(documents, write), failed ? ExitStatus::low : ExitStatus::ok,
          prints_text(documents), written_notes(documents, analysis::comparison_summary(found))};
}

void add_compare(CLI::App& command, CommandFunction& chosen) {
  const auto options = std::make_shared<CompareCommand>();
  command
      .add_option("records", options->records,
                  "records that -J wrote: those of the base, and the new one last")
      ->required();
  const std::string theme = "Options";
  add_option(command, theme, "--baseline", "FOLDER", "the base is every record (.json) in it",
             [options](const std::string& text) { options->baseline = text; });
  add_option(command, theme, "--fail-on", "LIST",
             "which rows make the exit status 1: slower, faster, unclear, missing or none (slower)",
             [options](const std::string& text) { options->fail_on = parse_changes(text); });
  add_option(command, theme, "--max-slowdown", "PERCENT", "a row that is SLOWER by less does not fail (0)",
             [options](const std::string& text) {
               options->max_slowdown =
                   parse_number<double>(text, "--max-slowdown", 0, kMaxPercent, "percent") / 100;
             });
  add_option(command, theme, "--allowance", "PERCENT",
             "how far apart two launches of the same thing may be, for rows of one launch each (200 on host "
             "memory, 10 on GPUs)",
             [options](const std::string& text) {
               options->allowance =
                   parse_number<double>(text, "--allowance", 0, kMaxPercent, "percent") / 100;
             });
  add_output_options(command, theme, options->output, analysis::comparison_formats(),
                     "the comparison (JSON)");
  command.callback([options, &chosen] { chosen = [options] { return compare(*options); }; });
}

}  // namespace

Subcommand compare_subcommand() {
  return {"compare", "two runs row by row: which are slower, and which cannot be told",
          "collbench compare base.json new.json   SAME, FASTER, SLOWER or UNCLEAR, row by row", add_compare};
}

}  // namespace collbench::program
