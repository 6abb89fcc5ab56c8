#include "src/commands/import.hpp"

#include <fmt/format.h>

#include <functional>

#include "analysis/models/nccl/cluster_of_run.hpp"
#include "analysis/report/report.hpp"
#include "analysis/verdict/verdict.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/record/run.hpp"
#include "src/cli/add_option.hpp"
#include "src/cli/option_values.hpp"
#include "src/cli/output.hpp"
#include "src/cli/version.hpp"
#include "topology/machines/resolve.hpp"

namespace collbench::program {
namespace {

void require_fitting_topology(const Run& run, const topology::ResolvedMachine& machine) {
  const std::size_t gpus = machine.first_host().gpus.size();
  if (gpus == 0) {
    throw usage_error("--topology", fmt::format("{} has no GPUs", machine.argument),
                      "name the machine of the log");
  }
  const auto& ranks = run.log->ranks_per_node;
  if (ranks && std::cmp_greater(ranks->value, gpus)) {
    throw usage_error("--topology",
                      fmt::format("{} has {} GPUs per node, and the log has {} ranks per node",
                                  machine.argument, gpus, ranks->value),
                      "name the machine of the log");
  }
}

Run import_file(const std::string& log, const analysis::ImportOptions& options) {
  Run run = analysis::import_log(input_text(log), input_name(log), options);
  run.versions.collbench = versions().collbench;
  if (options.topology.empty()) return run;
  const topology::ResolvedMachine machine = topology::resolve_machine(options.topology);
  require_fitting_topology(run, machine);
  return analysis::judged_on_gpus(run, analysis::cluster_of_run(run, machine, log, false));
}

}  // namespace

Answer import_command(const ImportCommand& command) {
  if (command.record_path.empty()) {
    Answer tables;
    for (const std::string& log : command.logs) {
      const Run run = import_file(log, command.options);
      if (analysis::is_low(run)) tables.status = ExitStatus::low;
      tables.text += command.lab01.asked
                         ? lab01(run, command.lab01)
                         : analysis::report(run, command.format, text_options(command.colour, false));
    }
    return tables;
  }
  if (command.logs.size() > 1) {
    throw usage_error("-o", "one record holds one log, and several are given", "run import once for each");
  }
  require_writable(command.record_path, command.overwrite, "-o");
  const Run run = import_file(command.logs.front(), command.options);
  write_file_by_rename(command.record_path, to_json_text(run));
  return {"", analysis::is_low(run) ? ExitStatus::low : ExitStatus::ok};
}

void add_import_command(CLI::App& app, ImportCommand& command) {
  CLI::App* import = app.add_subcommand(
      "import",
      "somebody's nccl-tests output, text or JSON: import all_reduce.log --topology hgx-h100 -o run.json");
  import->add_option("logs", command.logs, "what nccl-tests printed, or wrote with -J")
      ->required()
      ->option_text("LOG...");
  const std::string theme = "Options";
  const auto add = [&](const std::string& names, const std::string& value, const std::string& help,
                       const std::function<void(const std::string&)>& take) {
    add_option(*import, theme, names, value, help, take);
  };
  const auto count = [](const std::string& text, const std::string& option) {
    return parse_number(text, option, 1, 1'000'000);
  };
  add("-o,--output", "FILE", "write the run record there, instead of the tables to stdout",
      [&command](const std::string& text) { command.record_path = text; });
  import->add_flag("--overwrite", command.overwrite, "replace a file that exists")->group(theme);
  add("--topology", "NAME|FILE", "the machine of the log, kept in the record for the verdict",
      [&command](const std::string& text) { command.options.topology = text; });
  add("--nodes", "N", "nodes of the job, where the log does not say",
      [&command, count](const std::string& text) { command.options.job.nodes = count(text, "--nodes"); });
  add("--ranks-per-node", "N", "likewise", [&command, count](const std::string& text) {
    command.options.job.ranks_per_node = count(text, "--ranks-per-node");
  });
  add("--operation", "NAME", "what was measured, where the log does not say",
      [&command](const std::string& text) {
        command.options.operation = parse_operation(text, "--operation");
      });
  add("--run", "N", "which run of a log that holds several",
      [&command, count](const std::string& text) { command.options.run = count(text, "--run"); });
  add_format_option(*import, theme, command.format, analysis::format_names(&analysis::ReportFormat::run));
  add_color_option(*import, theme, command.colour);
  add_lab01_options(*import, theme, command.lab01);
}

}  // namespace collbench::program
