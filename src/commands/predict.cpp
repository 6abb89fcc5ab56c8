#include "src/commands/predict.hpp"

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "analysis/report/prediction.hpp"
#include "analysis/report/report.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "src/cli/add_option.hpp"
#include "src/cli/option_values.hpp"
#include "topology/machines/resolve.hpp"

namespace collbench::program {
namespace {

std::vector<std::uint64_t> usual_sizes() {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t size = 8; size < 8 * kGiB; size *= 4) sizes.push_back(size);
  sizes.push_back(8 * kGiB);
  return sizes;
}

}  // namespace

std::string predict_command(const PredictOptions& options) {
  analysis::GpuCluster cluster = analysis::gpu_cluster(topology::resolve_machine(options.topology),
                                                       options.nodes, options.ranks_per_node);
  if (cluster.ranks() < 2) {
    throw usage_error("--ranks-per-node", "one rank has nobody to talk to", "give two ranks or more");
  }
  if (!options.transport.empty())
    cluster.transport = analysis::transport_option(options.transport, cluster.sm);
  const auto sizes = options.sizes.empty() ? usual_sizes() : options.sizes;
  return analysis::report(analysis::predict(options.topology, cluster, options.operations, sizes),
                          options.format);
}

void add_predict_command(CLI::App& app, PredictOptions& predict) {
  CLI::App* command = app.add_subcommand(
      "predict", "what a machine should give, nothing measured: predict --topology hgx-h100 --nodes 2");
  const std::string theme = "Options";
  add_option(*command, theme, "--topology", "NAME|FILE",
             "a reference machine, or a file that describes a node",
             [&predict](const std::string& text) { predict.topology = text; })
      ->required();
  add_option(*command, theme, "--nodes", "N", "nodes like it (1)", [&predict](const std::string& text) {
    predict.nodes = parse_number(text, "--nodes", 1, 1'000'000);
  });
  add_option(*command, theme, "--ranks-per-node", "N", "GPUs used of each node (all)",
             [&predict](const std::string& text) {
               predict.ranks_per_node = parse_number(text, "--ranks-per-node", 1, 4096);
             });
  add_option(*command, theme, "--transport", "NAME",
             "ib, roce, efa, tcpx, tcpxo, plugin, staged (RDMA without GPUDirect) or sockets",
             [&predict](const std::string& text) { predict.transport = text; });
  add_option(*command, theme, "--ops", "LIST", "operations, or all (the five that a run measures)",
             [&predict](const std::string& text) { predict.operations = parse_operations(text, "--ops"); });
  add_option(*command, theme, "--sizes", "LIST", "sizes (8 B to 8 GiB)",
             [&predict](const std::string& text) { predict.sizes = parse_size_list(text, "--sizes"); });
  add_format_option(*command, theme, predict.format,
                    analysis::format_names(&analysis::ReportFormat::prediction));
}

}  // namespace collbench::program
