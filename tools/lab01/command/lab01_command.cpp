#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/import/import_log.hpp"
#include "base/error.hpp"
#include "collectives/operations.hpp"
#include "src/cli/cluster_options.hpp"
#include "src/cli/options.hpp"
#include "src/cli/output.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/cli/version.hpp"
#include "src/tool_main.hpp"
#include "tools/lab01/command/lab01_pages.hpp"
#include "topology/machines/resolve.hpp"

namespace collbench::program {
namespace {

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

std::string page(const Run& run, const Lab01Request& request, const OutputDocument& document) {
  return document.format == "html" ? lab01_html(run, request) : lab01(run, request);
}

std::string expected_page(const Lab01Command& options) {
  const topology::ResolvedMachine machine = topology::resolve_machine(options.cluster.topology);
  const auto all = collectives::default_operations();
  return lab01_expected(
      machine, cluster_of(options.cluster, machine, only_nodes(options.cluster), {all.begin(), all.end()}),
      options.lab01);
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
    return options.files.empty() ? expected_page(options) : page(run, options.lab01, document);
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
