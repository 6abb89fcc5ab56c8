#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "analysis/report/plan/plan_report.hpp"
#include "base/error.hpp"
#include "base/text_input.hpp"
#include "src/cli/options.hpp"
#include "src/cli/output.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/commands/plan_options.hpp"
#include "src/commands/registry.hpp"
#include "topology/machines/resolve.hpp"

namespace collbench::program {
namespace {

constexpr std::int64_t kMaxGpus = 10'000'000;

/// `collbench plan`.
struct PlanCommand {
  PlanInput input;
  std::string table;  ///< --table
  bool lists_assumptions = false;
  OutputOptions output;
};

analysis::TrainingPlan plan_of(PlanInput input) {
  if (input.topology.empty()) {
    throw usage_error("--topology", "the machine is not given",
                      "give a reference machine, such as hgx-h100, or a file");
  }
  complete_model(input);
  const topology::ResolvedMachine machine = topology::resolve_machine(input.topology);
  const analysis::GpuCluster node = analysis::gpu_cluster(machine, 1, input.gpus_per_node.value_or(0));
  analysis::PlanRequest& request = input.request;
  request.topology = input.topology;
  if (input.nodes && request.n_gpus) {
    throw usage_error("--n-gpus", "--nodes says it already", "give one of them");
  }
  if (input.nodes) {
    const std::int64_t gpus = std::int64_t{*input.nodes} * node.ranks_per_node;
    if (gpus > kMaxGpus) {
      throw usage_error("--nodes",
                        fmt::format("{} nodes × {} GPUs are too many", *input.nodes, node.ranks_per_node),
                        fmt::format("give at most {} GPUs", kMaxGpus));
    }
    request.n_gpus = static_cast<int>(gpus);
  }
  return analysis::training_plan(request, node);
}

/// A plan for each line; the head line has names of options, and "id" for what the line is called. What is
/// empty is not given, and what the command line gives holds for all lines that do not give it.
analysis::PlanReport plans_of_table(const PlanCommand& command) {
  std::istringstream text(input_text(command.table));
  const std::string file = input_name(command.table);
  std::string line;
  std::getline(text, line);
  const std::vector<std::string> head = split_cells(line, '\t');
  for (const std::string& column : head) {
    if (column != "id" && find_plan_option(column) == nullptr) {
      throw usage_error(fmt::format("{}:1", file), fmt::format("unknown column '{}'", column),
                        "columns are id and the names of options, such as tp or n_gpus, between tabs");
    }
  }
  analysis::PlanReport report{.title = fmt::format("Plans of {}", file), .first_column = "id", .rows = {}};
  for (int number = 2; std::getline(text, line); ++number) {
    if (line.empty() || line == "\r") continue;
    const std::vector<std::string> cells = split_cells(line, '\t');
    if (cells.size() > head.size()) {
      throw usage_error(fmt::format("{}:{}", file, number),
                        fmt::format("{} cells, and the head line has {}", cells.size(), head.size()),
                        "give a cell, empty where nothing is given, for each column");
    }
    PlanInput input = command.input;
    analysis::PlannedRow row{.label = fmt::to_string(number), .plan = std::nullopt, .refused = {}};
    try {
      for (std::size_t i = 0; i < cells.size(); ++i) {
        if (head[i] == "id") {
          row.label = cells[i];
        } else if (!cells[i].empty()) {
          const PlanOption& option = *find_plan_option(head[i]);
          option.take(input, cells[i], std::string("--") + option.name);
        }
      }
      row.plan = plan_of(std::move(input));
    } catch (const Error& error) {
      row.refused = error.what();
    }
    report.rows.push_back(std::move(row));
  }
  return report;
}

/// --assumptions: the constants, as "NAME VALUE MEANING" in columns.
CommandResult assumption_table(const analysis::Assumptions& assumed) {
  std::string text = fmt::format("{:<22}{:>8}  {}\n", "constant", "value", "what it is");
  for (const analysis::Assumption& each : analysis::assumption_list())
    text += fmt::format("{:<22}{:>8}  {}\n", each.name, assumed.*(each.value), each.meaning);
  return {std::move(text)};
}

CommandResult plan(const PlanCommand& command) {
  if (command.lists_assumptions) return assumption_table(command.input.request.assumed);
  const auto documents = output_documents(command.output);
  require_writable_documents(documents, command.output.overwrite);
  analysis::PlanReport report;
  if (command.table.empty()) {
    report.rows.push_back({.label = {}, .plan = plan_of(command.input), .refused = {}});
  } else {
    report = plans_of_table(command);
  }
  const auto write = [&](const OutputDocument& document) {
    return analysis::written_plan(report, document.format, page_options(document).columns);
  };
  const bool any = std::any_of(report.rows.begin(), report.rows.end(),
                               [](const analysis::PlannedRow& row) { return row.plan.has_value(); });
  return {write_documents(documents, write), any ? ExitStatus::ok : ExitStatus::usage, prints_text(documents),
          written_notes(documents, "")};
}

void add_plan(CLI::App& command, CommandFunction& chosen) {
  const auto options = std::make_shared<PlanCommand>();
  for (const PlanOption& each : plan_options()) {
    const std::string name = std::string("--") + each.name;
    add_option(command, each.theme, name, each.value, each.help,
               [options, &each, name](const std::string& text) { each.take(options->input, text, name); });
  }
  command.get_option("--zero")->excludes(command.get_option("--fsdp"));
  command.get_option("--nodes")->excludes(command.get_option("--n-gpus"));
  const std::string theme = "Options";
  add_option(command, theme, "--table", "FILE",
             "a plan for each line of a table between tabs, whose columns are options",
             [options](const std::string& text) { options->table = text; });
  command
      .add_flag("--assumptions", options->lists_assumptions, "the constants of the model, and nothing else")
      ->group(theme);
  add_output_options(command, theme, options->output, analysis::plan_formats(), "the plan as JSON");
  command.callback([options, &chosen] { chosen = [options] { return plan(*options); }; });
}

}  // namespace

Subcommand plan_subcommand() {
  return {"plan", "what a training step takes on a machine, what bounds it, and what the run costs",
          "collbench plan --model llama-3.1-8b --topology hgx-h100 --nodes 128    a step: time, bottleneck",
          add_plan};
}

}  // namespace collbench::program
