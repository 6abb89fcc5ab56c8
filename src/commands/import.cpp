#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/charts/chosen_charts.hpp"
#include "analysis/import/import_log.hpp"
#include "analysis/import/join_logs.hpp"
#include "analysis/import/time_and_hosts.hpp"
#include "analysis/models/nccl/cluster_of_run.hpp"
#include "analysis/report/report.hpp"
#include "analysis/verdict/verdict.hpp"
#include "base/error.hpp"
#include "base/record/run.hpp"
#include "base/units.hpp"
#include "src/cli/criteria_options.hpp"
#include "src/cli/host_list.hpp"
#include "src/cli/options.hpp"
#include "src/cli/output.hpp"
#include "src/cli/plot.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/cli/version.hpp"
#include "src/commands/registry.hpp"
#include "src/run/output_files.hpp"
#include "topology/machines/resolve.hpp"

namespace collbench::program {
namespace {

/// `collbench import LOG...`.
struct ImportCommandOptions {
  std::vector<std::string> logs;
  analysis::ImportOptions import;
  std::string started;             ///< UTC, as records have it; empty: not given
  std::vector<std::string> hosts;  ///< one for each node; empty: not given
  OutputOptions output;
  When color = When::automatic;
  Lab01Request lab01;
  std::string label;
  bool percentiles = false;
  CriteriaOptions criteria;
};

void require_fitting_topology(const Run& run, const topology::ResolvedMachine& machine) {
  const std::size_t gpus = machine.first_host().gpus.size();
  if (gpus == 0) {
    throw usage_error("--topology", fmt::format("{} has no GPUs", machine.argument),
                      "give the machine that the log is from");
  }
  const auto& ranks = run.log->ranks_per_node;
  if (ranks && std::cmp_greater(ranks->value, gpus)) {
    throw usage_error("--topology",
                      fmt::format("{} has {} per node, and the log has {} per node", machine.argument,
                                  counted(static_cast<std::size_t>(gpus), "GPU"),
                                  counted(static_cast<std::size_t>(ranks->value), "rank")),
                      "give the machine that the log is from");
  }
}

Run import_file(const std::string& log, const ImportCommandOptions& options) {
  analysis::ImportOptions import = options.import;
  if (options.hosts.size() > 1 && !import.job.nodes)
    import.job.nodes = static_cast<int>(options.hosts.size());
  Run run = analysis::import_log(input_parts(log), input_name(log), import);
  analysis::set_time_and_hosts(run, options.started, options.hosts);
  run.versions.collbench = versions().collbench;
  if (import.topology.empty()) return run;
  const topology::ResolvedMachine machine = topology::resolve_machine(import.topology);
  require_fitting_topology(run, machine);
  return analysis::judged_on_gpus(run, analysis::cluster_of_run(run, machine, log, false));
}

/// A record holds one run, and so do a page and a picture: several logs that go into one have to be of one.
bool holds_one_run(const std::vector<OutputDocument>& documents) {
  return std::any_of(documents.begin(), documents.end(), [](const OutputDocument& each) {
    return each.format == "json" || each.format == "html" || is_picture(each);
  });
}

std::vector<Run> imported_runs(const ImportCommandOptions& options, bool as_one) {
  std::vector<Run> runs;
  for (const std::string& log : options.logs) runs.push_back(import_file(log, options));
  if (!as_one || runs.size() == 1) return runs;
  Run joined = analysis::join_logs(std::move(runs));
  if (options.import.topology.empty()) return {joined};
  const topology::ResolvedMachine machine = topology::resolve_machine(options.import.topology);
  return {
      analysis::judged_on_gpus(joined, analysis::cluster_of_run(joined, machine, joined.log->file, false))};
}

/// The verdict in a few words, for where no report is shown.
std::string outcome_of(const Run& run) {
  return fmt::format("{}: {}", run.log->file,
                     run.log->topology ? analysis::verdict_summary(run) : "no --topology, so no verdict");
}

/// Writes what is asked for of all logs; status low when a log is judged LOW or a FAULT. Throws Error (usage)
/// for a log that cannot be read as a run, for a topology that is none or has fewer GPUs than a node has
/// ranks, and for files.
CommandResult import_logs(const ImportCommandOptions& options) {
  const auto documents = output_documents(options.output, options.lab01.asked ? kLab01Page : "");
  require_writable_documents(documents, options.output.overwrite);
  std::vector<Run> runs = imported_runs(options, holds_one_run(documents));
  std::vector<std::string> failures;
  CommandResult result;
  for (Run& run : runs) {
    run.label = options.label;
    const CriteriaOutcome outcome = criteria_outcome(run, options.criteria);
    result.status = worse(result.status, outcome.status);
    failures.insert(failures.end(), outcome.notes.begin(), outcome.notes.end());
  }
  const analysis::TextOptions wanted{.percentiles = options.percentiles,
                                     .criteria = options.criteria.criteria};
  result.text = write_documents(documents, [&](const OutputDocument& document) {
    std::string text;
    for (const Run& run : runs) text += run_document(run, document, options.lab01, options.color, wanted);
    return text;
  });
  result.is_for_a_person = prints_text(documents);
  std::vector<std::string> outcomes;
  for (const Run& run : runs) outcomes.push_back(outcome_of(run));
  result.notes = written_notes(documents, fmt::format("{}", fmt::join(outcomes, "; ")));
  result.notes.insert(result.notes.end(), failures.begin(), failures.end());
  return result;
}

void add_import(CLI::App& command, CommandFunction& chosen) {
  const auto options = std::make_shared<ImportCommandOptions>();
  command
      .add_option(
          "logs", options->logs,
          "what nccl-tests (text, -J), osu_* or IMB-MPI1 wrote; with -J or --format json, one record of all")
      ->required()
      ->option_text("LOG...");
  const std::string theme = "Options";
  const auto add = [&](const std::string& names, const std::string& value, const std::string& help,
                       const std::function<void(const std::string&)>& take) {
    add_option(command, theme, names, value, help, take);
  };
  const auto count = [](const std::string& text, const std::string& option) {
    return parse_number(text, option, 1, 1'000'000);
  };
  add("--topology", "NAME|FILE", "the machine of the log, kept in the record for the verdict",
      [options](const std::string& text) {
        if (text == "-" || text == topology::kLiveMachine) {
          throw usage_error("--topology",
                            fmt::format("'{}' would mean another machine where the record is read", text),
                            "give a name or a file; collbench topo save -o FILE saves this machine");
        }
        options->import.topology = text;
      });
  add("--nodes", "N", "nodes of the job, where the log does not say",
      [options, count](const std::string& text) { options->import.job.nodes = count(text, "--nodes"); });
  add("--ranks-per-node", "N", "ranks per node, where the log does not say",
      [options, count](const std::string& text) {
        options->import.job.ranks_per_node = count(text, "--ranks-per-node");
      });
  add("--date", "UTC", "when the job began, where the log does not say: 2026-11-20 or 2026-11-20T02:00:00Z",
      [options](const std::string& text) {
        const auto time = analysis::utc_time(text);
        if (!time) {
          throw usage_error("--date", fmt::format("'{}' is no time", text),
                            "write 2026-11-20 or 2026-11-20T02:00:00Z, in UTC");
        }
        options->started = *time;
      });
  add("--host", "LIST", "the hosts of the job, one for each node, where the log does not say",
      [options](const std::string& text) { options->hosts = parse_hosts(text, "--host"); });
  add("--operation", "NAME", "what was measured, where the log does not say",
      [options](const std::string& text) {
        options->import.operation = parse_operation(text, "--operation");
      });
  add("--run", "N", "which run of a log that holds several",
      [options, count](const std::string& text) { options->import.run = count(text, "--run"); });
  add_output_options(command, theme, options->output, analysis::format_names(&analysis::ReportFormat::run),
                     "the run record (JSON)");
  add_label_option(command, theme, options->label);
  add_percentiles_option(command, theme, options->percentiles);
  add_criteria_options(command, theme, options->criteria);
  add_plot_options(command, theme, options->output, analysis::run_chart_kinds());
  add_color_option(command, theme, options->color);
  add_lab01_options(command, theme, options->lab01);
  command.callback([options, &chosen] { chosen = [options] { return import_logs(*options); }; });
}

}  // namespace

Subcommand import_subcommand() {
  return {"import", "a log of another benchmark: import all_reduce.log --topology hgx-h100 -o run.json",
          "collbench import LOG              the tables of an nccl-tests log", add_import};
}

}  // namespace collbench::program
