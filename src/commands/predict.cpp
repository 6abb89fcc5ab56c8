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
#include "base/error.hpp"
#include "base/record/operation.hpp"
#include "base/units.hpp"
#include "src/cli/options.hpp"
#include "src/cli/output.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/commands/nccl_plan.hpp"
#include "src/commands/registry.hpp"
#include "src/run/lab01.hpp"
#include "topology/machines/resolve.hpp"

namespace collbench::program {
namespace {

/// `collbench predict`.
struct PredictOptions {
  std::string topology;
  int nodes = 0;            ///< 0: not given
  int ranks_per_node = 0;   ///< 0: one for each GPU
  std::string transport;    ///< empty: what the NICs are made for
  analysis::Fabric fabric;  ///< Fabric{}: nothing is told
  std::string algorithm;    ///< empty: the fastest, or what NCCL chooses
  int nccl_version = 0;     ///< NCCL_VERSION_CODE; 0: not told
  std::vector<OperationId> operations{OperationId::all_reduce, OperationId::all_gather,
                                      OperationId::reduce_scatter, OperationId::all_to_all,
                                      OperationId::send_recv};
  std::vector<std::uint64_t> sizes;  ///< empty: 8 B to 8 GiB by × 4
  bool by_nccl = false;              ///< with NCCL's own host code
  std::string library;               ///< of --by-nccl
  std::string versus;
  std::string odd_node;
  bool advice = false;
  OutputOptions output;
  Lab01Request lab01;
};

std::vector<std::uint64_t> usual_sizes() {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t size = 8; size < 8 * kGiB; size *= 4) sizes.push_back(size);
  sizes.push_back(8 * kGiB);
  return sizes;
}

/// The formats of any prediction: those of --by-nccl are not all those of a prediction by formulas.
std::vector<std::string> all_formats() {
  std::vector<std::string> formats = analysis::format_names(&analysis::ReportFormat::prediction);
  for (const std::string& name : analysis::format_names(&analysis::ReportFormat::nccl_plan)) {
    if (std::find(formats.begin(), formats.end(), name) == formats.end()) formats.push_back(name);
  }
  return formats;
}

/// Before a simulation. Throws Error (usage) for a format that cannot hold what was asked for.
void require_formats(const PredictOptions& options, const std::vector<OutputDocument>& documents) {
  const auto formats = options.by_nccl ? analysis::format_names(&analysis::ReportFormat::nccl_plan)
                                       : analysis::format_names(&analysis::ReportFormat::prediction);
  for (const OutputDocument& each : documents) {
    if (each.format == kLab01Page) continue;
    if (std::find(formats.begin(), formats.end(), each.format) == formats.end()) {
      const std::string what = options.by_nccl ? "what NCCL decides" : "a prediction without --by-nccl";
      throw usage_error(each.option, "'" + each.format + "' is not a format of " + what,
                        "choose " + analysis::format_list(formats));
    }
    if (each.format == "svg" && (options.advice || !options.versus.empty())) {
      throw usage_error(each.option, "a picture shows one plan, and a comparison has several",
                        std::string("leave ") + (options.advice ? "--advice" : "--versus") +
                            " out, and draw each plan by itself");
    }
  }
}

/// What NCCL itself says, over a simulated CUDA. Throws as nccl_plan_report.
CommandResult predict_by_nccl(const PredictOptions& options) {
  const auto documents = output_documents(options.output);
  require_formats(options, documents);
  require_writable_documents(documents, options.output.overwrite);
  const analysis::NcclPlanReport report =
      nccl_plan_report({.topology = options.topology,
                        .nodes = options.nodes,
                        .odd_node = options.odd_node,
                        .ranks_per_node = options.ranks_per_node,
                        .library = options.library,
                        .versus = options.versus,
                        .advice = options.advice,
                        .operations = options.operations,
                        .sizes = options.sizes.empty() ? usual_sizes() : options.sizes});
  const auto write = [&](const OutputDocument& document) {
    return analysis::report(report, document.format, page_options(document));
  };
  return {write_documents(documents, write), ExitStatus::ok, prints_text(documents),
          written_notes(documents, "")};
}

/// Throws Error (usage) where no operation that was asked for has the algorithm on this machine.
void force_algorithm(analysis::GpuCluster& cluster, const PredictOptions& options) {
  std::vector<std::string> known;
  for (const OperationId id : options.operations) {
    for (const analysis::AlgorithmRate& rate : analysis::gpu_algorithms(id, cluster)) {
      const std::string name(rate.name);
      if (std::find(known.begin(), known.end(), name) == known.end()) known.push_back(name);
    }
  }
  if (std::find(known.begin(), known.end(), options.algorithm) == known.end()) {
    throw usage_error("--algo",
                      fmt::format("there is no '{}' for these operations on this machine", options.algorithm),
                      fmt::format("choose among {}{}", fmt::join(known, ", "),
                                  cluster.fabric.sharp ? ""
                                                       : "; collnet_direct and collnet_chain need "
                                                         "--fabric …,sharp"));
  }
  cluster.run.algorithm = options.algorithm;
}

/// The expected table. Throws Error (usage) for a topology that cannot carry it.
CommandResult predict(const PredictOptions& options) {
  if (options.by_nccl) return predict_by_nccl(options);
  const topology::ResolvedMachine machine = topology::resolve_machine(options.topology);
  analysis::GpuCluster cluster =
      analysis::gpu_cluster(machine, std::max(1, options.nodes), options.ranks_per_node);
  if (cluster.ranks() < 2) {
    throw usage_error("--ranks-per-node", "a collective needs at least two ranks", "give two or more");
  }
  if (!options.transport.empty())
    cluster.transport = cluster.nic_transport = analysis::transport_option(options.transport, cluster.sm);
  analysis::join_domains(cluster, options.fabric, "--fabric");
  cluster.run.nccl_version = options.nccl_version;
  if (!options.algorithm.empty()) force_algorithm(cluster, options);
  const auto sizes = options.sizes.empty() ? usual_sizes() : options.sizes;
  const auto documents = output_documents(options.output, options.lab01.asked ? kLab01Page : "");
  require_formats(options, documents);
  require_writable_documents(documents, options.output.overwrite);
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

/// --by-nccl, and what it alone takes.
void add_by_nccl_options(CLI::App& command, PredictOptions& options) {
  const std::string theme = "What NCCL itself decides (docs/nccl.md)";
  CLI::Option* const by_nccl =
      command
          .add_flag("--by-nccl", options.by_nccl,
                    "run a libnccl's own host code over a simulated CUDA: graphs, channels, choices")
          ->group(theme);
  const auto add = [&](const char* name, const char* value, const char* help, std::string& target) {
    add_option(command, theme, name, value, help, [&target](const std::string& text) {
      target = text;
    })->needs(by_nccl);
  };
  add("--library", "FILE", "the libnccl (default: as for a run)", options.library);
  add("--versus", "FILE|NAME=VALUE", "what another libnccl, or a setting, would do differently",
      options.versus);
  add("--odd-node", "NAME|FILE", "the machine of the last node, where it differs from the others",
      options.odd_node);
  command
      .add_flag("--advice", options.advice,
                "try without each slow NIC, and NCCL_CROSS_NIC, and say what loses least")
      ->group(theme)
      ->needs(by_nccl)
      ->excludes(command.get_option("--versus"));
  for (const char* formula : {"--transport", "--fabric", "--algo", "--nccl-version"})
    by_nccl->excludes(command.get_option(formula));
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
  add_option(
      command, theme, "--fabric", "WORDS",
      "what joins the nodes, as fat-tree,leaf=32,oversubscription=2,routing=ecmp,flows=4,sharp",
      [options](const std::string& text) { options->fabric = analysis::parse_fabric(text, "--fabric"); });
  add_option(command, theme, "--algo", "NAME", "the algorithm that runs, as NCCL_ALGO would force it",
             [options](const std::string& text) { options->algorithm = text; });
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
  add_by_nccl_options(command, *options);
  add_output_options(command, theme, options->output, all_formats(), "the prediction as JSON");
  add_lab01_options(command, theme, options->lab01);
  command.get_option("--preset")
      ->description("lab01: AllReduce at 1 MB, 100 MB and 1 GB as expected, as Markdown to hand in");
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
