#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "analysis/report/prediction.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "src/cli/options.hpp"
#include "src/cli/output.hpp"
#include "src/tool_main.hpp"
#include "tools/nccl_plan/command/nccl_plan.hpp"

namespace collbench::program {
namespace {

struct NcclPlanOptions {
  NcclPlanRequest request;
  OutputOptions output;
};

/// Throws as nccl_plan_report.
CommandResult nccl_plan(const NcclPlanOptions& options) {
  const auto documents = output_documents(options.output);
  const bool has_picture =
      std::ranges::any_of(documents, [](const OutputDocument& each) { return each.format == "svg"; });
  if (has_picture && (options.request.advice || !options.request.versus.empty())) {
    throw usage_error("--format", "a picture shows one plan, and a comparison has several",
                      std::string("leave ") + (options.request.advice ? "--advice" : "--versus") +
                          " out, and draw each plan by itself");
  }
  require_writable_documents(documents, options.output.overwrite);
  const analysis::NcclPlanReport report = nccl_plan_report(options.request);
  const auto write = [&](const OutputDocument& document) {
    return analysis::nccl_plan_document(report, document.format, page_options(document).columns);
  };
  return {write_documents(documents, write), ExitStatus::ok, prints_text(documents),
          written_notes(documents, "")};
}

CLI::Option* add(CLI::App& command, const char* name, const char* value, const char* help,
                 const std::function<void(const std::string&)>& take) {
  return add_option(command, "Options", name, value, help, take);
}

/// What is simulated, of both commands.
CLI::Option* add_machine(CLI::App& command, NcclPlanRequest& request) {
  CLI::Option* const topology =
      add(command, "--topology", "NAME|FILE", "a reference machine, or a file that describes a node",
          into(request.topology));
  add(command, "--nodes", "N", "number of such nodes (1)",
      number_into(request.nodes, "--nodes", 1, 1'000'000));
  add(command, "--ranks-per-node", "N", "GPUs used per node (all)",
      number_into(request.ranks_per_node, "--ranks-per-node", 1, 4096));
  add(command, "--library", "FILE", "the libnccl (default: as for a run)", into(request.library));
  return topology;
}

/// `collbench nccl-plan run`.
struct JobOptions {
  NcclPlanRequest request;
  std::vector<std::string> program;
};

void add_job(CLI::App& command, CommandFunction& chosen) {
  const auto options = std::make_shared<JobOptions>();
  add_machine(command, options->request)->required();
  command.add_option("program", options->program, "collbench and its options (a short run)")
      ->option_text("-- PROGRAM...");
  command.callback([options, &chosen] {
    chosen = [options]() -> CommandResult { become_simulated_job(options->request, options->program); };
  });
}

}  // namespace

void add_tool(CLI::App& command, CommandFunction& chosen) {
  const auto options = std::make_shared<NcclPlanOptions>();
  NcclPlanRequest& request = options->request;
  request.operations = {OperationId::all_reduce, OperationId::all_gather, OperationId::reduce_scatter,
                        OperationId::all_to_all, OperationId::send_recv};
  request.sizes = analysis::predicted_sizes();
  add_machine(command, request);
  add(command, "--odd-node", "NAME|FILE", "the machine of the last node, where it differs from the others",
      into(request.odd_node));
  add(command, "--ops", "LIST", "operations, or all (the five that a run measures)",
      [&request](const std::string& text) { request.operations = parse_operations(text, "--ops"); });
  add(command, "--sizes", "LIST", "sizes (8 B to 8 GiB)",
      [&request](const std::string& text) { request.sizes = parse_size_list(text, "--sizes"); });
  add(command, "--versus", "FILE|NAME=VALUE", "what another libnccl, or a setting, would do differently",
      into(request.versus));
  add_flag(command, "Options", "--advice", request.advice,
           "try without each slow NIC, and NCCL_CROSS_NIC, and say what loses least")
      ->excludes(command.get_option("--versus"));
  add_output_options(command, "Options", options->output, analysis::nccl_plan_formats(), "the plan as JSON");
  add_job(
      *command.add_subcommand("run", "collbench over the simulated GPUs: nccl-plan run --topology hgx-h100"),
      chosen);
  command.callback([&command, options, &chosen] {
    if (!command.get_subcommands().empty()) return;
    if (options->request.topology.empty())
      throw usage_error("", "--topology is required",
                        "give --topology NAME|FILE; see collbench nccl-plan --help");
    chosen = [options] { return nccl_plan(*options); };
  });
}

}  // namespace collbench::program
