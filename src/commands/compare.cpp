#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/charts/chosen_charts.hpp"
#include "analysis/compare/comparison.hpp"
#include "analysis/compare/comparison_charts.hpp"
#include "analysis/compare/comparison_report.hpp"
#include "base/error.hpp"
#include "base/record/run_stream.hpp"
#include "src/cli/options.hpp"
#include "src/cli/output.hpp"
#include "src/cli/plot.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/commands/comparison_options.hpp"
#include "src/commands/registry.hpp"

namespace collbench::program {
namespace {

/// `collbench compare BASE… NEW`.
struct CompareCommand {
  std::vector<std::string> records;  ///< the last one is the new run
  std::string baseline;              ///< a folder of records, or none
  ComparisonOptions comparison;
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
  const Run& now = current_runs.front();
  analysis::Comparison found =
      analysis::compare(base_runs, current_runs, compare_options(now, options.comparison));
  if (base_runs.size() == 1 && base_runs.front() == now) analysis::compare_with_itself(found);
  found.base_name = !options.baseline.empty() ? fmt::format("{} runs of {}", base.size(), options.baseline)
                    : base.size() == 1        ? input_name(base.front())
                                              : fmt::format("{}", fmt::join(base, ", "));
  found.current_name = input_name(current);
  const CriteriaOutcome outcome = comparison_outcome(found, now, options.comparison);
  const auto write = [&](const OutputDocument& document) {
    if (is_picture(document)) return chart_picture(analysis::comparison_charts(found), document);
    const analysis::TextOptions text = page_options(document);
    return analysis::report(found, document.format, text) +
           text_plots(analysis::comparison_charts(found), document, text.columns);
  };
  CommandResult result{write_documents(documents, write), outcome.status, prints_text(documents),
                       written_notes(documents, analysis::comparison_summary(found))};
  result.notes.insert(result.notes.end(), outcome.notes.begin(), outcome.notes.end());
  return result;
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
  add_comparison_options(command, theme, options->comparison);
  add_output_options(command, theme, options->output, analysis::comparison_formats(),
                     "the comparison (JSON)");
  add_plot_options(command, theme, options->output, analysis::comparison_chart_kinds());
  command.callback([options, &chosen] { chosen = [options] { return compare(*options); }; });
}

}  // namespace

Subcommand compare_subcommand() {
  return {"compare", "two runs row by row: which are slower, and which cannot be told",
          "collbench compare base.json new.json   SAME, FASTER, SLOWER or UNCLEAR, row by row", add_compare};
}

}  // namespace collbench::program
