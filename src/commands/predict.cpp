#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "analysis/models/nccl/gpu_expectation.hpp"
#include "analysis/models/nccl/links.hpp"
#include "analysis/models/nccl/nccl_choices.hpp"
#include "analysis/report/prediction.hpp"
#include "analysis/report/report.hpp"
#include "analysis/verdict/verdict.hpp"
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

struct PredictOptions {
  std::string topology;
  std::vector<int> nodes{1};  ///< several only with --floors
  bool floors = false;        ///< --floors
  int ranks_per_node = 0;     ///< 0: one for each GPU
  std::string transport;      ///< empty: what the NICs are made for
  analysis::Fabric fabric;    ///< Fabric{}: nothing is told
  std::string algorithm;      ///< empty: the fastest, or what NCCL chooses
  int nccl_version = 0;       ///< NCCL_VERSION_CODE; 0: not told
  std::vector<OperationId> operations{OperationId::all_reduce, OperationId::all_gather,
                                      OperationId::reduce_scatter, OperationId::all_to_all,
                                      OperationId::send_recv};
  std::vector<std::uint64_t> sizes;  ///< empty: 8 B to 8 GiB by × 4
  OutputOptions output;
  Lab01Request lab01;
};

/// Throws Error (usage) where no operation that was asked for has the algorithm on this machine.
void force_algorithm(analysis::GpuCluster& cluster, const PredictOptions& options) {
  std::vector<std::string> known;
  for (const OperationId id : options.operations) {
    for (const analysis::AlgorithmRate& rate : analysis::gpu_algorithms(id, cluster)) {
      const std::string name(analysis::name(rate.algorithm));
      if (std::ranges::find(known, name) == known.end()) known.push_back(name);
    }
  }
  if (std::ranges::find(known, options.algorithm) == known.end()) {
    throw usage_error(
        "--algo", fmt::format("there is no '{}' for these operations on this machine", options.algorithm),
        fmt::format("choose among {}{}", fmt::join(known, ", "),
                    cluster.fabric.sharp ? "" : "; collnet_direct and collnet_chain need --fabric …,sharp"));
  }
  cluster.run.algorithm = options.algorithm;
}

/// Throws Error (usage) for a topology that cannot carry the options.
analysis::GpuCluster cluster_of(const PredictOptions& options, const topology::ResolvedMachine& machine,
                                int nodes) {
  analysis::GpuCluster cluster = analysis::gpu_cluster(machine, nodes, options.ranks_per_node);
  if (cluster.ranks() < 2) {
    throw usage_error("--ranks-per-node", "a collective needs at least two ranks", "give two or more");
  }
  if (!options.transport.empty())
    cluster.transport = cluster.nic_transport = analysis::transport_option(options.transport, cluster.sm);
  analysis::join_domains(cluster, options.fabric, "--fabric");
  cluster.run.nccl_version = options.nccl_version;
  if (!options.algorithm.empty()) force_algorithm(cluster, options);
  return cluster;
}

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
  const topology::ResolvedMachine machine = topology::resolve_machine(options.topology);
  const auto documents = writable_documents(options.output);
  analysis::AcceptanceFloors floors{options.topology, {}, {}};
  const std::vector<OperationId> operations = each_once(options.operations);
  for (const int nodes : each_once(options.nodes)) {
    const analysis::GpuCluster cluster = cluster_of(options, machine, nodes);
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
  if (options.nodes.size() > 1)
    throw usage_error("--nodes", "several counts are for --floors", "give one, or add --floors");
  const topology::ResolvedMachine machine = topology::resolve_machine(options.topology);
  const analysis::GpuCluster cluster = cluster_of(options, machine, options.nodes.front());
  const auto sizes = options.sizes.empty() ? analysis::predicted_sizes() : options.sizes;
  const auto documents = writable_documents(options.output, options.lab01.asked ? kLab01Page : "");
  const analysis::Prediction prediction =
      analysis::predict(options.topology, cluster, options.operations, sizes);
  const auto write = [&](const OutputDocument& document) {
    return document.format == kLab01Page
               ? lab01_expected(machine, cluster, options.lab01)
               : analysis::report(prediction, document.format, page_options(document));
  };
  return {write_documents(documents, write), ExitStatus::ok, prints_text(documents),
          written_notes(documents, "")};
}

void add_predict(CLI::App& command, CommandFunction& chosen) {
  const auto options = std::make_shared<PredictOptions>();
  const std::string theme = "Options";
  add_option(command, theme, "--topology", "NAME|FILE",
             "a reference machine, or a file that describes a node", into(options->topology))
      ->required();
  add_option(command, theme, "--nodes", "N", "number of such nodes (1); with --floors a list, as 1,2,4,8",
             [options](const std::string& text) {
               options->nodes.clear();
               for (const std::string& each : split_list(text))
                 options->nodes.push_back(parse_number(each, "--nodes", 1, 1'000'000));
             });
  add_option(command, theme, "--ranks-per-node", "N", "GPUs used per node (all)",
             number_into(options->ranks_per_node, "--ranks-per-node", 1, 4096));
  add_option(command, theme, "--transport", "NAME",
             "ib, roce, efa, tcpx, tcpxo, plugin, staged (RDMA without GPUDirect) or sockets",
             into(options->transport));
  add_option(
      command, theme, "--fabric", "WORDS",
      "what joins the nodes, as fat-tree,leaf=32,oversubscription=2,routing=ecmp,flows=4,sharp",
      [options](const std::string& text) { options->fabric = analysis::parse_fabric(text, "--fabric"); });
  add_option(command, theme, "--algo", "NAME", "the algorithm that runs, as NCCL_ALGO would force it",
             into(options->algorithm));
  add_option(command, theme, "--nccl-version", "VERSION", "that runs, as 2.28.9 (not told)",
             [options](const std::string& text) {
               options->nccl_version = analysis::nccl_version_code(text);
               if (options->nccl_version == 0) {
                 throw usage_error("--nccl-version", "'" + text + "' is no version from 2.9 on",
                                   "give it as NCCL prints it, such as 2.28.9");
               }
             });
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
