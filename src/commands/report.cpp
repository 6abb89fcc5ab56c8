
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "analysis/report/report.hpp"
#include "analysis/report/run_charts.hpp"
#include "base/error.hpp"
#include "base/record/run_stream.hpp"
#include "src/cli/criteria_options.hpp"
#include "src/cli/options.hpp"
#include "src/cli/output.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/commands/registry.hpp"
#include "src/run/evidence.hpp"
#include "src/run/output_files.hpp"

namespace collbench::program {
namespace {

struct ReportOptions {
  std::string record;  ///< "-": stdin
  OutputOptions output;
  When color = When::automatic;
  Lab01Request lab01;
  bool percentiles = false;
  CriteriaOptions criteria{.criteria = {.min_busbw = {}, .fail_on = {}}, .asked = false};
};

/// A saved record as tables; status low where it fails what was asked of it. Throws Error (usage) for a file
/// that is none.
CommandResult report(const ReportOptions& options) {
  const auto documents = writable_documents(options.output, options.lab01.asked ? kLab01Page : "");
  const Run run = run_from_text(input_text(options.record), input_name(options.record));
  const HostAliases aliases(run, options.output.is_anonymous);
  const Run shown = options.output.is_anonymous ? aliases.run(run) : run;
  const analysis::TextOptions wanted{.percentiles = options.percentiles,
                                     .criteria = options.criteria.criteria};
  // Before anything is written: it reads other files.
  std::string archive =
      options.output.evidence_path.empty()
          ? ""
          : evidence_archive(run, options.output.evidence_path, options.output.with, aliases);
  const auto write = [&](const OutputDocument& document) {
    if (document.format == kEvidence) return archive;
    return run_document(shown, document, options.lab01, options.color, wanted);
  };
  CriteriaOutcome outcome = criteria_outcome(shown, options.criteria);
  for (const OutputDocument& each : documents)
    if (each.format == kEvidence) outcome.notes.push_back(evidence_note(each));
  return {write_documents(documents, write), outcome.status, prints_text(documents), outcome.notes};
}

void add_report(CLI::App& command, CommandFunction& chosen) {
  const auto options = std::make_shared<ReportOptions>();
  command.add_option("record", options->record, "the record that -J wrote; - for stdin")->required();
  const std::string theme = "Options";
  add_output_options(command, theme, options->output, analysis::format_names(&analysis::ReportFormat::run),
                     "the run record (JSON), of a stream too");
  add_plot_options(command, theme, options->output, analysis::run_chart_kinds());
  add_color_option(command, theme, options->color);
  add_option(command, theme, "--topology", "NAME|FILE", "the machine of the run, for lab01",
             into(options->lab01.topology));
  add_lab01_options(command, theme, options->lab01);
  add_percentiles_option(command, theme, options->percentiles);
  add_criteria_options(command, theme, options->criteria);
  add_evidence_options(command, theme, options->output,
                       "host0, host1, … in place of hosts' names in all that is written");
  command.callback([options, &chosen] { chosen = [options] { return report(*options); }; });
}

}  // namespace

Subcommand report_subcommand() {
  return {"report", "writes a saved run record as text, md, csv, json, html, prom or junit",
          "collbench report run.json         the tables of a saved run", add_report};
}

}  // namespace collbench::program
