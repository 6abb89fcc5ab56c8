#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "analysis/report/prediction.hpp"
#include "analysis/report/report.hpp"
#include "base/error.hpp"
#include "base/record/operation.hpp"
#include "base/units.hpp"
#include "src/cli/options.hpp"
#include "src/cli/output.hpp"
#include "src/commands/registry.hpp"
#include "src/run/lab01.hpp"
#include "topology/machines/resolve.hpp"

namespace collbench::program {
namespace {

/// `collbench predict`.
struct PredictOptions {
  std::string topology;
  int nodes = 1;
  int ranks_per_node = 0;  ///< 0: one for each GPU
  std::string transport;   ///< empty: what the NICs are made for
  std::vector<OperationId> operations{OperationId::all_reduce, OperationId::all_gather,
                                      OperationId::reduce_scatter, OperationId::all_to_all,
                                      OperationId::send_recv};
  std::vector<std::uint64_t> sizes;  ///< empty: 8 B to 8 GiB by × 4
  OutputOptions output;
  Lab01Request lab01;
};

std::vector<std::uint64_t> usual_sizes() {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t size = 8; size < 8 * kGiB; size *= 4) sizes.push_back(size);
  sizes.push_back(8 * kGiB);
  return sizes;
}

/// The expected table. Throws Error (usage) for a topology that cannot carry it.
CommandResult predict(const PredictOptions& options) {
  const topology::ResolvedMachine machine = topology::resolve_machine(options.topology);
  analysis::GpuCluster cluster = analysis::gpu_cluster(machine, options.nodes, options.ranks_per_node);
  if (cluster.ranks() < 2) {
    throw usage_error("--ranks-per-node", "a collective needs at least two ranks", "give two or more");
  }
  if (!options.transport.empty())
    cluster.transport = cluster.nic_transport = analysis::transport_option(options.transport, cluster.sm);
  const auto sizes = options.sizes.empty() ? usual_sizes() : options.sizes;
  const auto documents = output_documents(options.output, options.lab01.asked ? kLab01Page : "");
  require_writable_documents(documents, options.output.overwrite);
  const analysis::Prediction prediction =
      analysis::predict(options.topology, cluster, options.operations, sizes);
  const auto write = [&](const OutputDocument& document) {
    return document.format == kLab01Page ? lab01_expected(machine, cluster, options.lab01)
                                         : analysis::report(prediction, document.format);
  };
  return {write_documents(documents, write), ExitStatus::ok, prints_text(documents)};
}

void add_predict(CLI::App& command, CommandFunction& chosen) {
  const auto options = std::make_shared<PredictOptions>();
  const std::string theme = "Options";
  add_option(command, theme, "--topology", "NAME|FILE",
             "a reference machine, or a file that describes a node",
             [options](const std::string& text) { options->topology = text; })
      ->required();
  add_option(command, theme, "--nodes", "N", "number of such nodes (1)", [options](const std::string& text) {
    options->nodes = parse_number(text, "--nodes", 1, 1'000'000);
  });
  add_option(command, theme, "--ranks-per-node", "N", "GPUs used per node (all)",
             [options](const std::string& text) {
               options->ranks_per_node = parse_number(text, "--ranks-per-node", 1, 4096);
             });
  add_option(command, theme, "--transport", "NAME",
             "ib, roce, efa, tcpx, tcpxo, plugin, staged (RDMA without GPUDirect) or sockets",
             [options](const std::string& text) { options->transport = text; });
  add_option(command, theme, "--ops", "LIST", "operations, or all (the five that a run measures)",
             [options](const std::string& text) { options->operations = parse_operations(text, "--ops"); });
  add_option(command, theme, "--sizes", "LIST", "sizes (8 B to 8 GiB)",
             [options](const std::string& text) { options->sizes = parse_size_list(text, "--sizes"); });
  add_output_options(command, theme, options->output,
                     analysis::format_names(&analysis::ReportFormat::prediction), "the prediction as JSON");
  add_lab01_options(command, theme, options->lab01);
  for (const char* other : {"--ops", "--sizes"}) {
    command.get_option("--preset")->excludes(command.get_option(other));
  }
  command.callback([options, &chosen] { chosen = [options] { return predict(*options); }; });
}

}  // namespace

Subcommand predict_subcommand() {
  return {"predict",
          "expected results of a machine, without measuring: predict --topology hgx-h100 --nodes 2",
          "collbench predict --topology hgx-h100 --nodes 2   what a machine should give", add_predict};
}

}  // namespace collbench::program
