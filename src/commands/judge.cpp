#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>

#include "analysis/models/nccl/cluster_of_run.hpp"
#include "analysis/models/nccl/links.hpp"
#include "analysis/report/cluster_findings.hpp"
#include "analysis/report/report.hpp"
#include "analysis/verdict/verdict.hpp"
#include "base/error.hpp"
#include "base/record/run_stream.hpp"
#include "src/cli/criteria_options.hpp"
#include "src/cli/options.hpp"
#include "src/cli/output.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/commands/registry.hpp"
#include "src/run/expectation.hpp"
#include "src/run/output_files.hpp"
#include "topology/machines/resolve.hpp"

namespace collbench::program {
namespace {

/// `collbench judge RECORD`.
struct JudgeOptions {
  std::string record;
  std::string topology;
  std::string transport;    ///< empty: what the log names, else what the NICs are made for
  analysis::Fabric fabric;  ///< Fabric{}: nothing is told
  bool own_floor = false;   ///< the record's own time at 1 KiB or less takes the place of the modelled floor
  OutputOptions output;
  When color = When::automatic;
  bool percentiles = false;
  CriteriaOptions criteria;
};

/// The run with the machine that --topology names, which a record without one does not say: reports name what
/// a verdict is against. That the run had no expectation, as its record says, is no longer so.
Run with_judged_machine(Run run, const std::string& topology) {
  if (topology.empty()) return run;
  if (!run.log) {
    std::erase_if(run.environment_notes,
                  [](const std::string& note) { return note.starts_with(kNothingExpected); });
    run.environment_notes.push_back(fmt::format("judged against --topology {}", topology));
    return run;
  }
  MaybeLogFact<std::string>& machine = run.log->topology;
  if (machine && machine->value != topology) {
    run.log->notes.push_back(
        fmt::format("imported with --topology {}, judged against {}", machine->value, topology));
  }
  machine = LogFact<std::string>{topology, 0};
  return run;
}

/// A saved or imported run on GPUs, judged by a topology; status low when a size series is LOW or a FAULT.
/// Throws Error (usage) for a record or topology that does not fit.
CommandResult judge(const JudgeOptions& options) {
  const auto documents = output_documents(options.output);
  require_writable_documents(documents, options.output.overwrite);
  const Run run = run_from_text(input_text(options.record), input_name(options.record));
  const bool from_log = options.topology.empty() && run.log && run.log->topology;
  const std::string topology = from_log ? run.log->topology->value : options.topology;
  if (topology.empty()) {
    throw usage_error("--topology", "there is no machine to judge the run by",
                      "give the name of a reference machine or a file that describes a node");
  }
  const topology::ResolvedMachine machine = topology::resolve_machine(topology);
  analysis::GpuCluster cluster = analysis::cluster_of_run(run, machine, options.record, options.own_floor);
  analysis::join_domains(cluster, options.fabric, "--fabric");
  if (!options.transport.empty()) {
    cluster.transport = cluster.nic_transport = analysis::transport_option(options.transport, cluster.sm);
  }
  Run judged = analysis::judged_on_gpus(with_judged_machine(run, options.topology), cluster);
  if (analysis::is_low(judged)) {
    analysis::explain_low(judged, analysis::findings_on_the_path(run, {machine.first_host(), {topology}},
                                                                 machine.reference != nullptr));
  }
  const analysis::TextOptions wanted{.percentiles = options.percentiles,
                                     .criteria = options.criteria.criteria};
  const auto write = [&](const OutputDocument& document) {
    return run_document(judged, document, {}, options.color, wanted);
  };
  const CriteriaOutcome outcome = criteria_outcome(judged, options.criteria);
  CommandResult result{write_documents(documents, write), outcome.status, prints_text(documents),
                       written_notes(documents, analysis::verdict_summary(judged))};
  result.notes.insert(result.notes.end(), outcome.notes.begin(), outcome.notes.end());
  return result;
}

void add_judge(CLI::App& command, CommandFunction& chosen) {
  const auto options = std::make_shared<JudgeOptions>();
  command.add_option("record", options->record, "the record that -J or import wrote")->required();
  const std::string theme = "Options";
  add_option(command, theme, "--topology", "NAME|FILE",
             "a reference machine, or a file that describes a node (as given to import)",
             [options](const std::string& text) { options->topology = text; });
  add_option(
      command, theme, "--fabric", "WORDS",
      "what joins the nodes, as fat-tree,leaf=32,oversubscription=2 (docs/model.md)",
      [options](const std::string& text) { options->fabric = analysis::parse_fabric(text, "--fabric"); });
  add_option(command, theme, "--transport", "NAME",
             "what carried the bytes, where the log does not say: ib, roce, efa, tcpx, tcpxo, plugin, staged "
             "or sockets",
             [options](const std::string& text) { options->transport = text; });
  command
      .add_flag("--own-floor", options->own_floor,
                "take the latency from the record's own quickest row of at most 1 KiB")
      ->group(theme);
  add_output_options(command, theme, options->output, analysis::format_names(&analysis::ReportFormat::run),
                     "the judged record (JSON)");
  add_percentiles_option(command, theme, options->percentiles);
  add_criteria_options(command, theme, options->criteria);
  add_color_option(command, theme, options->color);
  command.callback([options, &chosen] { chosen = [options] { return judge(*options); }; });
}

}  // namespace

Subcommand judge_subcommand() {
  return {"judge", "a run on GPUs against a topology: judge run.json --topology hgx-h100",
          "collbench judge run.json --topology hgx-h100      a run on GPUs, against what it should give",
          add_judge};
}

}  // namespace collbench::program
