#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "analysis/models/nccl/gpu_expectation.hpp"
#include "analysis/report/prediction.hpp"
#include "analysis/report/report.hpp"
#include "analysis/verdict/verdict.hpp"
#include "base/error.hpp"
#include "base/record/operation.hpp"
#include "base/units.hpp"
#include "src/cli/cluster_options.hpp"
#include "src/cli/options.hpp"
#include "src/cli/output.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/commands/registry.hpp"
#include "src/run/lab01_tool.hpp"
#include "topology/machines/resolve.hpp"

namespace collbench::program {
namespace {

struct PredictOptions {
  ClusterOptions cluster;  ///< several counts of nodes only with --floors
  bool floors = false;     ///< --floors
  std::vector<OperationId> operations{OperationId::all_reduce, OperationId::all_gather,
                                      OperationId::reduce_scatter, OperationId::all_to_all,
                                      OperationId::send_recv};
  std::vector<std::uint64_t> sizes;  ///< empty: 8 B to 8 GiB by × 4
  OutputOptions output;
  Lab01Request lab01;
};

/// In their order.
template <class Value>
std::vector<Value> each_once(const std::vector<Value>& values) {
  std::vector<Value> once;
  for (const Value& value : values)
    if (std::ranges::find(once, value) == once.end()) once.push_back(value);
  return once;
}

/// --floors: what each of the node counts must reach.
CommandResult predict_floors(const PredictOptions& options) {
  for (const std::uint64_t size : options.sizes) {
    if (size < analysis::kLargeSize)
      throw usage_error("--sizes", fmt::format("{} has no floor", format_bytes(size)),
                        "verdicts go by 64 MiB and more");
  }
  const topology::ResolvedMachine machine = topology::resolve_machine(options.cluster.topology);
  const auto documents = writable_documents(options.output);
  analysis::AcceptanceFloors floors{options.cluster.topology, {}, {}};
  const std::vector<OperationId> operations = each_once(options.operations);
  for (const int nodes : each_once(options.cluster.nodes)) {
    const analysis::GpuCluster cluster = cluster_of(options.cluster, machine, nodes, options.operations);
    analysis::add_floors(
        floors, cluster, operations,
        options.sizes.empty() ? analysis::floor_sizes(cluster.machine) : each_once(options.sizes));
  }
  const auto write = [&](const OutputDocument& document) {
    return analysis::report(floors, document.format, page_options(document).columns);
  };
  return {write_documents(documents, write), ExitStatus::ok, prints_text(documents),
          written_notes(documents, "")};
}

CommandResult predict(const PredictOptions& options) {
  if (options.floors) return predict_floors(options);
  const int nodes = only_nodes(options.cluster);
  if (options.lab01.asked && options.cluster.topology == "-") rewind_stdin();  // the tool reads it, too
  const topology::ResolvedMachine machine = topology::resolve_machine(options.cluster.topology);
  const analysis::GpuCluster cluster = cluster_of(options.cluster, machine, nodes, options.operations);
  const auto sizes = options.sizes.empty() ? analysis::predicted_sizes() : options.sizes;
  const auto documents = writable_documents(options.output, options.lab01.asked ? kLab01Page : "");
  const analysis::Prediction prediction =
      analysis::predict(options.cluster.topology, cluster, options.operations, sizes);
  const auto write = [&](const OutputDocument& document) {
    return document.format == kLab01Page
               ? expected_page_of_lab01(options.cluster.words, options.lab01)
               : analysis::report(prediction, document.format, page_options(document));
  };
  return {write_documents(documents, write), ExitStatus::ok, prints_text(documents),
          written_notes(documents, "")};
}

void add_predict(CLI::App& command, CommandFunction& chosen) {
  const auto options = std::make_shared<PredictOptions>();
  const std::string theme = "Options";
  add_cluster_options(command, theme, options->cluster);
  command.get_option("--topology")->required();
  add_option(command, theme, "--ops", "LIST", "operations, or all (the five that a run measures)",
             [options](const std::string& text) { options->operations = parse_operations(text, "--ops"); });
  add_option(command, theme, "--sizes", "LIST", "sizes (8 B to 8 GiB)",
             [options](const std::string& text) { options->sizes = parse_size_list(text, "--sizes"); });
  add_flag(command, theme, "--floors", options->floors,
           "instead: what to accept a machine by, from 64 MiB on, at each count of --nodes, with its "
           "derivation; as --min-busbw and a node health check take it");
  add_output_options(command, theme, options->output,
                     analysis::format_names(&analysis::ReportFormat::prediction), "the prediction as JSON");
  add_lab01_options(command, theme, options->lab01);
  command.get_option("--floors")->excludes(command.get_option("--preset"));
  command.get_option("--floors")->excludes(command.get_option("--algo"));
  command.get_option("--preset")
      ->description("lab01: AllReduce at 1 MB, 100 MB and 1 GB as expected, as Markdown to hand in");
  for (const char* other : {"--ops", "--sizes"}) {
    command.get_option("--preset")->excludes(command.get_option(other));
  }
  command.callback([options, &chosen] { chosen = [options] { return predict(*options); }; });
}

}  // namespace

Subcommand predict_subcommand() {
  return {"predict", "expected results of a machine, without measuring",
          "collbench predict --topology hgx-h100 --nodes 2   what a machine should give", add_predict};
}

}  // namespace collbench::program
