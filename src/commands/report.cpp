#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "analysis/charts/run_charts.hpp"
#include "analysis/report/report.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/record/run_stream.hpp"
#include "src/cli/criteria_options.hpp"
#include "src/cli/options.hpp"
#include "src/cli/output.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/commands/evidence.hpp"
#include "src/commands/registry.hpp"
#include "src/run/output_files.hpp"

namespace collbench::program {
namespace {

/// `collbench report RECORD`.
struct ReportOptions {
  std::string record;  ///< "-": stdin
  OutputOptions output;
  When color = When::automatic;
  Lab01Request lab01;
  bool percentiles = false;
  CriteriaOptions criteria{.criteria = {.min_busbw = {}, .fail_on = {}}, .asked = false};
  EvidenceRequest evidence;
};

/// Throws Error (usage) where the archive cannot be written, or nobody asked for one.
void require_writable_archive(const ReportOptions& options, const std::vector<OutputDocument>& documents) {
  const EvidenceRequest& evidence = options.evidence;
  if (evidence.path.empty()) {
    if (evidence.others.empty()) return;
    throw usage_error("--with", "it says what else an archive holds, and none is asked for",
                      "add --evidence FILE.tar.gz");
  }
  if (evidence.path == "-")
    throw usage_error("--evidence", "an archive is not written to stdout", "name a file");
  for (const OutputDocument& each : documents)
    if (!each.path.empty() && same_file(each.path, evidence.path))
      throw usage_error("--evidence", "it is the same file as " + each.option, "give each its own file");
  require_writable(evidence.path, options.output.overwrite, "--evidence");
}

std::string archive_note(const EvidenceRequest& evidence, std::size_t files) {
  return fmt::format(
      "wrote {}, {} files: it may name {}users, folders, addresses and serial numbers{}; look through it "
      "first",
      evidence.path, files, evidence.is_anonymous ? "" : "hosts, ",
      evidence.others.empty() ? "" : ", and secrets in the files of --with stay");
}

/// A saved record as tables; status low where it fails what was asked of it. Throws Error (usage) for a file
/// that is none.
CommandResult report(const ReportOptions& options) {
  const auto documents = writable_documents(options.output, options.lab01.asked ? kLab01Page : "");
  require_writable_archive(options, documents);
  Run run = run_from_text(input_text(options.record), input_name(options.record));
  std::size_t archived = 0;
  if (!options.evidence.path.empty()) archived = write_evidence(run, options.evidence);
  if (options.evidence.is_anonymous) run = HostAliases(run).run(run);
  const analysis::TextOptions wanted{.percentiles = options.percentiles,
                                     .criteria = options.criteria.criteria};
  const auto write = [&](const OutputDocument& document) {
    return run_document(run, document, options.lab01, options.color, wanted);
  };
  CriteriaOutcome outcome = criteria_outcome(run, options.criteria);
  if (archived > 0) outcome.notes.push_back(archive_note(options.evidence, archived));
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
  EvidenceRequest& evidence = options->evidence;
  add_option(command, theme, "--evidence", "FILE.tar.gz",
             "an archive for a provider's support: ticket, report, record, topology and SHA-256 sums",
             into(evidence.path));
  command.add_option("--with", evidence.others, "what else it holds: logs, folders of doctor save")
      ->group(theme)
      ->option_text("FILE...");
  command
      .add_flag("--anonymous", evidence.is_anonymous,
                "host0, host1, … in place of hosts' names in all that is written")
      ->group(theme);
  command.callback([options, &chosen] { chosen = [options] { return report(*options); }; });
}

}  // namespace

Subcommand report_subcommand() {
  return {"report", "writes a saved run record as text, md, csv, json, html, prom or junit",
          "collbench report run.json         the tables of a saved run", add_report};
}

}  // namespace collbench::program
