#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/import/import_log.hpp"
#include "analysis/models/nccl/cluster_of_run.hpp"
#include "analysis/models/nccl/gpu_cluster.hpp"
#include "analysis/report/prediction.hpp"
#include "analysis/verdict/verdict.hpp"
#include "base/error.hpp"
#include "base/record/run.hpp"
#include "collectives/operations.hpp"
#include "src/cli/cluster_options.hpp"
#include "src/cli/options.hpp"
#include "src/cli/output.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/cli/version.hpp"
#include "src/run/expectation.hpp"
#include "src/tool_main.hpp"
#include "tools/lab01/report/lab01.hpp"
#include "topology/cluster/cluster_topology.hpp"
#include "topology/machines/resolve.hpp"

namespace collbench::program {
namespace {

bool is_all_reduce(const Row& row) { return row.measurement.key.operation == OperationId::all_reduce; }

analysis::Lab01Price price_of(const Lab01Request& request) {
  return {request.price.per_gpu_hour, request.price.hours, request.price.currency};
}

/// The machine that a run on GPUs recorded; none where it has no GPU, or cannot be modeled.
std::optional<analysis::Lab01Machine> recorded_machine(const Run& run) {
  if (!run.cluster || !measures_gpus(run.backend) || run.ranks.empty()) return std::nullopt;
  const topology::ClusterTopology machines = topology::read_cluster_record(*run.cluster, "the record");
  std::vector<std::string> known;  // the run's own notes say why it has no expectation
  const auto by = judged_by(machines, run.ranks, named_machine(run), known);
  if (!by) return std::nullopt;
  return analysis::Lab01Machine{machines.distinct_hosts.front(),
                                analysis::with_run_facts(by->cluster, run, false)};
}

/// Lab 01 of a run, as HTML with charts or as Markdown. The machine is that of `request.topology`, else that
/// of an imported log's own --topology: a reference machine's name, or a file; else the one that the record
/// holds. Where it is given, the rows are judged by it, so that expectations and ceilings are of one machine.
/// Throws Error (usage) for one that is neither, or does not fit the run.
std::string page_of_run(const Run& run, const Lab01Request& request, std::string_view format) {
  if (std::ranges::none_of(run.rows, is_all_reduce)) {
    throw usage_error("lab01", "the page is about AllReduce, and the run has no AllReduce row",
                      "give a run with AllReduce");
  }
  analysis::require_times_of_gpus(run, "lab01");
  std::string topology = request.topology;
  if (topology.empty() && run.log && run.log->topology) topology = run.log->topology->value;
  Run judged = run;
  analysis::Lab01Options options;
  options.price = price_of(request);
  if (measures_gpus(run.backend)) {
    if (!topology.empty()) {
      const topology::ResolvedMachine found =
          analysis::with_gpus_of_log(topology::resolve_machine(topology), run);
      const analysis::SoundMachine sound = analysis::sound_machine(found, node_count(run.ranks));
      options.machine = {found.first_host(), analysis::cluster_of_run(run, sound.machine, topology, false)};
      // The page names the machine that it is about, also where the record was made with another.
      if (run.log && !request.topology.empty()) judged.log->topology = LogFact<std::string>{topology, 0};
      judged = analysis::judged_on_gpus(std::move(judged), options.machine->cluster);
      judged.yardstick = sound.yardstick;
    } else {
      options.machine = recorded_machine(run);
    }
    if (!options.machine) options.without_machine = analysis::lab01_suggestion(run);
  }
  std::optional<topology::Host> host;
  if (options.machine) host = options.machine->host;
  options.checks = analysis::lab01_checks(judged, host);
  options.ceilings = analysis::lab01_ceilings(judged, options.machine);
  return format == "html" ? analysis::lab01_page(analysis::lab01_document(judged, options), judged)
                          : analysis::report_lab01(judged, options);
}

struct Lab01Command {
  std::vector<std::string> files;  ///< none: the page of a machine alone
  ClusterOptions cluster;          ///< of a run only its topology
  Lab01Request lab01;
  OutputOptions output;
};

/// The run of the files, and several launches as one. Throws Error (usage) where a file has none.
Run run_of(const std::vector<std::string>& files) {
  std::vector<analysis::RunOfFile> runs;
  for (const std::string& each : files) {
    const std::string file = input_name(each);
    Run run = std::move(analysis::runs_of_file(input_parts(each), file, {}, false).front());
    if (run.log && run.versions.collbench.empty()) run.versions.collbench = versions().collbench;
    runs.push_back({file, std::move(run)});
  }
  return runs.size() == 1 ? std::move(runs.front().run) : analysis::join_runs(std::move(runs)).run;
}

/// The same page for ranks on which nothing has been measured: expectations only.
std::string expected_page(const Lab01Command& command) {
  const topology::ResolvedMachine machine = topology::resolve_machine(command.cluster.topology);
  const auto all = collectives::default_operations();
  const analysis::GpuCluster cluster =
      cluster_of(command.cluster, machine, only_nodes(command.cluster), {all.begin(), all.end()});
  analysis::Lab01Options options;
  options.price = price_of(command.lab01);
  options.machine = {machine.first_host(), cluster};
  options.prediction = analysis::prediction_title({machine.argument, cluster, {}});
  const Run run = analysis::lab01_prediction(cluster);
  options.ceilings = analysis::lab01_ceilings(run, options.machine);
  return analysis::report_lab01(run, options);
}

/// Throws Error (usage) where the options are not those of what the page is about.
void require_of_its_kind(const Lab01Command& options, const std::vector<OutputDocument>& documents) {
  if (options.files.empty()) {
    if (options.cluster.topology.empty())
      throw usage_error("", "neither a run nor a machine is given",
                        "name a record or a log, or give --topology and --nodes");
    for (const OutputDocument& each : documents)
      if (each.format == "html")
        throw usage_error(each.option, "the page of a machine alone is Markdown",
                          "name a file that ends in .md");
  } else if (options.cluster.words.size() != (options.cluster.topology.empty() ? 0U : 1U)) {
    throw usage_error(
        "", "the run itself says how many nodes it had and what joined them",
        "leave out all but --topology, or the run; for a log that does not say it see collbench "
        "judge --preset lab01");
  }
}

CommandResult write_lab01(const Lab01Command& options) {
  const auto documents = writable_documents(options.output);
  require_of_its_kind(options, documents);
  Run run;
  if (!options.files.empty()) run = run_of(options.files);
  const auto write = [&](const OutputDocument& document) {
    return options.files.empty() ? expected_page(options) : page_of_run(run, options.lab01, document.format);
  };
  return {write_documents(documents, write), ExitStatus::ok, false, written_notes(documents, "")};
}

}  // namespace

void add_tool(CLI::App& command, CommandFunction& chosen) {
  const auto options = std::make_shared<Lab01Command>();
  const std::string theme = "Options";
  command
      .add_option(
          "files", options->files,
          "of one machine: records, or what nccl-tests, osu_* or IMB-MPI1 wrote; - for stdin; none: what "
          "the machine of --topology should give")
      ->option_text("FILE...");
  add_cluster_options(command, theme, options->cluster);
  command.get_option("--topology")
      ->description("a reference machine, or a file that describes a node (as the record has it)");
  command.get_option("--nodes")->description("number of such nodes, without a FILE (1)");
  add_price_options(command, theme, options->lab01.price);
  add_output_options(command, theme, options->output, {"md", "html"}, "");
  command.callback([options, &chosen] {
    options->lab01.topology = options->cluster.topology;
    chosen = [options] { return write_lab01(*options); };
  });
}

}  // namespace collbench::program
