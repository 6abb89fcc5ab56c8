#include "src/commands/judge.hpp"

#include "analysis/models/nccl/cluster_of_run.hpp"
#include "analysis/report/cluster_findings.hpp"
#include "analysis/report/report.hpp"
#include "analysis/verdict/verdict.hpp"
#include "base/error.hpp"
#include "base/record/run_stream.hpp"
#include "src/cli/add_option.hpp"
#include "src/cli/output.hpp"
#include "topology/machines/resolve.hpp"

namespace collbench::program {

Answer judge_command(const JudgeOptions& options) {
  const Run run = run_from_text(input_text(options.record), input_name(options.record));
  const bool told = options.topology.empty() && run.log && run.log->topology;
  const std::string topology = told ? run.log->topology->value : options.topology;
  if (topology.empty()) {
    throw usage_error("--topology", "nothing says what the run should be judged by",
                      "give a reference machine's name or a file that describes a node");
  }
  const topology::ResolvedMachine machine = topology::resolve_machine(topology);
  analysis::GpuCluster cluster = analysis::cluster_of_run(run, machine, options.record, options.own_floor);
  if (!options.transport.empty())
    cluster.transport = analysis::transport_option(options.transport, cluster.sm);
  Run judged = analysis::judged_on_gpus(run, cluster);
  if (analysis::is_low(judged)) {
    analysis::explain_low(judged, analysis::findings_on_the_path(run, {machine.first_host(), {topology}},
                                                                 machine.reference != nullptr));
  }
  return {analysis::report(judged, options.format, text_options(options.colour, false)),
          analysis::is_low(judged) ? ExitStatus::low : ExitStatus::ok};
}

void add_judge_command(CLI::App& app, JudgeOptions& judge) {
  CLI::App* command =
      app.add_subcommand("judge", "a run on GPUs against a topology: judge run.json --topology hgx-h100");
  command->add_option("record", judge.record, "the record that -J or import wrote")->required();
  const std::string theme = "Options";
  add_option(*command, theme, "--topology", "NAME|FILE",
             "a reference machine, or a file that describes a node (as given to import)",
             [&judge](const std::string& text) { judge.topology = text; });
  add_option(*command, theme, "--transport", "NAME",
             "what carried the bytes, where the log does not say: ib, roce, efa, tcpx, tcpxo, plugin, staged "
             "or sockets",
             [&judge](const std::string& text) { judge.transport = text; });
  command->add_flag("--own-floor", judge.own_floor, "take the latency from the record's own smallest row")
      ->group(theme);
  add_format_option(*command, theme, judge.format, analysis::format_names(&analysis::ReportFormat::run));
  add_color_option(*command, theme, judge.colour);
}

}  // namespace collbench::program
