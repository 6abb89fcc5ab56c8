#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "analysis/models/nccl/cluster_of_run.hpp"
#include "analysis/models/nccl/gpu_cluster.hpp"
#include "analysis/verdict/verdict.hpp"
#include "base/error.hpp"
#include "base/record/run.hpp"
#include "base/record/run_stream.hpp"
#include "base/text_input.hpp"
#include "src/cli/options.hpp"
#include "src/cli/output.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/tool_main.hpp"
#include "tools/plan/command/plan_options.hpp"
#include "tools/plan/job/model_catalog.hpp"
#include "tools/plan/report/plan_report.hpp"
#include "tools/plan/step/fault_cost.hpp"
#include "tools/plan/step/planned_machine.hpp"
#include "tools/plan/step/scaling.hpp"
#include "tools/plan/step/search.hpp"
#include "topology/machines/resolve.hpp"

namespace collbench::program {
namespace {

constexpr std::int64_t kMaxGpus = 10'000'000;

struct PlanCommand {
  PlanInput input;
  std::string table;  ///< --table
  bool lists_assumptions = false;
  bool lists_models = false;
  bool best = false;       ///< --best
  std::vector<int> scale;  ///< --scale; empty: not asked for
  std::string measured;    ///< --measured: a record; empty: none
  std::string faulty;      ///< --faulty: a MACHINE; empty: not asked for
  std::string fault;       ///< --fault: words; empty: not asked for
  std::string timeline;    ///< --timeline: FILE.svg or FILE.json; empty: not asked for
  OutputOptions output;
};

/// What is asked for, whole, and one node of its machine.
struct Question {
  analysis::PlanRequest request;
  analysis::GpuCluster node;
  topology::ResolvedMachine machine;
};

Question question_of(PlanInput input) {
  complete_model(input);
  if (input.topology.empty()) {
    throw usage_error("--topology", "the machine is not given",
                      "give a reference machine, such as hgx-h100, or a file");
  }
  topology::ResolvedMachine machine = topology::resolve_machine(input.topology);
  analysis::GpuCluster node = analysis::gpu_cluster(machine, 1, input.gpus_per_node.value_or(0));
  Question question{std::move(input.request), std::move(node), std::move(machine)};
  analysis::PlanRequest& request = question.request;
  request.topology = input.topology;
  if (input.nodes && request.n_gpus) {
    throw usage_error("--n-gpus", "--nodes says it already", "give one of them");
  }
  if (input.nodes) {
    const std::int64_t gpus = std::int64_t{*input.nodes} * question.node.ranks_per_node;
    if (gpus > kMaxGpus) {
      throw usage_error(
          "--nodes",
          fmt::format("{} nodes × {} GPUs are too many", *input.nodes, question.node.ranks_per_node),
          fmt::format("give at most {} GPUs", kMaxGpus));
    }
    request.n_gpus = static_cast<int>(gpus);
  }
  return question;
}

constexpr std::size_t kBestPlans = 10;

/// The fastest splits, at least one.
analysis::SplitSearch found_splits(const Question& question, std::size_t count) {
  analysis::PlanRequest request = question.request;
  if (!request.global_batch) request.global_batch = analysis::usual_global_batch(request);
  analysis::SplitSearch found = analysis::fastest_splits(request, question.node, count);
  if (!found.best.empty()) return found;
  throw usage_error("--best",
                    found.tried == 0 ? "no split of the step is possible with what is given"
                                     : fmt::format("none of {} splits fits into memory", found.tried),
                    "give fewer of --tp, --pp, --cp, --mbs, or another --gbs, or more GPUs");
}

/// "t.tsv: 1 of 3 plans can be made, 2 refused; most tokens/s per GPU: 11034 (b)", the last of one model.
std::string table_answer(const std::string& file, const std::vector<analysis::PlannedRow>& rows) {
  std::set<std::string> models;
  std::size_t refused = 0;
  const analysis::PlannedRow* best = nullptr;
  for (const analysis::PlannedRow& row : rows) {
    if (!row.plan) {
      ++refused;
      continue;
    }
    models.insert(row.plan->job.model.name);
    if (best == nullptr || row.plan->tokens_per_second_per_gpu > best->plan->tokens_per_second_per_gpu)
      best = &row;
  }
  std::string text = refused == 0 ? fmt::format("{}: {} made", file, counted(rows.size(), "plan"))
                                  : fmt::format("{}: {} of {} can be made, {} refused", file,
                                                rows.size() - refused, counted(rows.size(), "plan"), refused);
  if (models.size() == 1 && rows.size() - refused > 1)
    text += fmt::format("; most tokens/s per GPU: {:.0f} ({})", best->plan->tokens_per_second_per_gpu,
                        excerpt(best->label));
  return text;
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
      throw usage_error(fmt::format("{}:1", file), fmt::format("unknown column '{}'", excerpt(column)),
                        "columns are id and the names of options, such as tp or n_gpus, between tabs");
    }
  }
  analysis::PlanReport report{.title = {}, .first_column = "id", .rows = {}};
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
    std::string column;  // of the cell in hand
    try {
      for (std::size_t i = 0; i < cells.size(); ++i) {
        if (head[i] == "id") {
          row.label = cells[i];
        } else if (!is_empty_cell(cells[i])) {
          const PlanOption& option = *find_plan_option(head[i]);
          column = head[i] + ": ";
          option.take(input, cells[i], std::string("--") + option.name);
        }
      }
      column.clear();
      const Question question = question_of(std::move(input));
      row.plan = command.best ? std::move(found_splits(question, 1).best.front())
                              : analysis::training_plan(question.request, question.node);
    } catch (const Error& error) {
      row.refused = column + error.what();
    }
    report.rows.push_back(std::move(row));
  }
  if (report.rows.empty())
    throw usage_error(file, "has no line below its head",
                      "give a line for each plan, its cells between tabs");
  report.title = table_answer(file, report.rows);
  return report;
}

/// Why there is no plan at all, which a person should know who looks at no table.
std::string all_refused(const std::string& table, const std::vector<analysis::PlannedRow>& rows) {
  return fmt::format("{}: no plan can be made from its {}; the first, {}: {}", input_name(table),
                     counted(rows.size(), "line"), excerpt(rows.front().label), rows.front().refused);
}

/// --assumptions: the constants, as "NAME VALUE MEANING" in columns.
CommandResult assumption_table(const analysis::Assumptions& assumed) {
  std::string text = fmt::format("{:<22}{:>8}  {}\n", "constant", "value", "what it is");
  for (const analysis::Assumption& each : analysis::assumption_list())
    text += fmt::format("{:<22}{:>8}  {}\n", each.name, assumed.*(each.value), each.meaning);
  return {std::move(text)};
}

/// --models: the catalog, a model a line; parameters as counted from the numbers.
CommandResult model_table() {
  const auto line = [](const auto& name, const auto& all, const auto& active, const auto& layers,
                       const auto& hidden, const auto& heads, const auto& sequence, const auto& source) {
    return fmt::format("{:<17}{:>7}{:>8}{:>7}{:>7}{:>9}{:>6}  {}\n", name, all, active, layers, hidden, heads,
                       sequence, source);
  };
  std::string text = line("--model", "B all", "active", "layers", "hidden", "heads/KV", "seq", "source");
  for (const analysis::CatalogModel& model : analysis::model_catalog()) {
    const analysis::ModelShape& shape = model.shape;
    const analysis::ParameterCount count = analysis::count_parameters(shape);
    const bool mixture = shape.experts.count > 0;
    text += line(
        shape.name, fmt::format("{:.1f}", count.total / 1e9),
        mixture ? fmt::format("{:.1f}", count.active / 1e9) : "", shape.layers, shape.hidden,
        fmt::format("{}/{}", shape.heads, shape.latent.kv_rank > 0 ? "MLA" : fmt::to_string(shape.kv_heads)),
        model.sequence, shape.source);
  }
  return {
      text +
      "\nOf a model of your own: a TOML file with its numbers, or --layers, --hidden, … (docs/plan.md).\n"};
}

/// "8,64,512": numbers of GPUs, each larger than the one before.
std::vector<int> parse_scale(const std::string& text, const std::string& option) {
  std::vector<int> numbers;
  for (const std::string& each : split_list(text)) {
    const int number = parse_number(each, option, 1, static_cast<int>(kMaxGpus));
    if (!numbers.empty() && number <= numbers.back()) {
      throw usage_error(option, fmt::format("{} follows {}", number, numbers.back()),
                        "give numbers of GPUs that ascend: 8,64,512");
    }
    numbers.push_back(number);
  }
  return numbers;
}

/// --measured: the record, judged by the machine of the plan.
std::shared_ptr<const analysis::MeasuredCollectives> read_measured(const std::string& record,
                                                                   const Question& question) {
  const std::string name = input_name(record);
  const Run run = run_from_text(input_text(record), name);
  const analysis::GpuCluster cluster = analysis::cluster_of_run(run, question.machine, name, false);
  return std::make_shared<const analysis::MeasuredCollectives>(
      analysis::measured_collectives(analysis::judged_on_gpus(run, cluster), cluster, name));
}

/// --faulty, or --fault; none: not asked for. Read before the plan, so that its words are checked also where
/// the plan is refused.
std::optional<topology::Host> faulty_host(const PlanCommand& command, const Question& question) {
  if (!command.faulty.empty()) return topology::resolve_machine(command.faulty).only_host();
  if (command.fault.empty()) return std::nullopt;
  const analysis::SlowNic slow = analysis::parse_slow_nic(command.fault, "--fault");
  const int nodes = analysis::planned_machine(question.request, question.node).nodes();
  return analysis::with_slow_nic(question.machine.first_host(), slow, nodes, "--fault");
}

analysis::PlanReport one_plan(const PlanCommand& command) {
  Question question = question_of(command.input);
  question.request.names_a_fit = command.measured.empty();
  if (!command.measured.empty()) question.request.measured = read_measured(command.measured, question);
  const std::optional<topology::Host> faulty = faulty_host(command, question);
  question.request.prices_a_day = faulty || !command.measured.empty();
  analysis::TrainingPlan plan = analysis::training_plan(question.request, question.node);
  if (plan.measured) plan.measured_cost = analysis::measured_cost(question.request, plan, question.node);
  if (faulty) {
    const bool in_words = command.faulty.empty();
    const bool is_down = in_words && analysis::parse_slow_nic(command.fault, "--fault").down;
    plan.fault = is_down ? analysis::cost_of_nic_down(question.request, plan, question.node, command.fault)
                         : analysis::fault_cost(
                               question.request, plan, question.node, question.machine.first_host(), *faulty,
                               in_words ? command.fault : command.faulty, in_words ? "--fault" : "--faulty");
    plan.fault->in_words = in_words;
  }
  analysis::PlanReport report;
  report.rows.push_back({.label = {}, .plan = std::move(plan), .refused = {}});
  return report;
}

/// Throws Error (usage) with the reason at the most GPUs, where nothing can be planned.
void require_any_plan(const std::vector<analysis::ScaleSeries>& scaling) {
  for (const analysis::ScaleSeries& series : scaling)
    if (std::ranges::any_of(series.points, [](const auto& point) { return point.plan.has_value(); })) return;
  const analysis::ScalePoint& last = scaling.front().points.back();
  throw usage_error("--scale", fmt::format("{} GPUs: {}", last.gpus, last.refused),
                    "nothing could be planned: give other numbers of GPUs, or less of the split");
}

analysis::PlanReport report_of(const PlanCommand& command) {
  if (!command.table.empty()) return plans_of_table(command);
  if (command.scale.empty() && !command.best) return one_plan(command);
  const Question question = question_of(command.input);
  if (command.scale.empty())
    return analysis::search_report(found_splits(question, kBestPlans), question.request);
  const std::vector<analysis::ScaleSeries> series =
      analysis::scaling(question.request, question.node, command.scale);
  require_any_plan(series);
  return analysis::scaling_report(series, question.request);
}

/// What asks for contradicting tables.
void require_one_kind(const PlanCommand& command) {
  const bool one = command.table.empty() && command.scale.empty() && !command.best;
  const auto needs_one = [one](const char* option, const std::string& given, const char* what) {
    if (!one && !given.empty())
      throw usage_error(option, fmt::format("{} one plan", what), "leave --table, --scale and --best out");
  };
  needs_one("--faulty", command.faulty, "a fault is priced for");
  needs_one("--fault", command.fault, "a fault is priced for");
  needs_one("--measured", command.measured, "a record is for");
  needs_one("--timeline", command.timeline, "a timeline is of");
  if (!command.fault.empty() && !command.faulty.empty())
    throw usage_error("--fault", "--faulty says another one", "give one of them");
  if (command.scale.empty()) {
    if (!command.output.plots && command.output.plot_path.empty()) return;
    throw usage_error(command.output.plots ? "--plot" : "--plot-file", "only --scale has a chart",
                      "add --scale 8,64,512, or leave it out");
  }
  if (!command.table.empty())
    throw usage_error("--scale", "a table has its own numbers of GPUs", "give --scale or --table");
  if (command.input.nodes || command.input.request.n_gpus)
    throw usage_error("--scale", "it says the numbers of GPUs", "leave --nodes and --n-gpus out");
}

constexpr const char* kTimeline = "--timeline";

/// Its file, before the document of stdout, which stays the last.
void add_timeline(const PlanCommand& command, std::vector<OutputDocument>& documents) {
  const std::string& path = command.timeline;
  if (path.empty()) return;
  if (!path.ends_with(".svg") && !path.ends_with(".json")) {
    throw usage_error(kTimeline, fmt::format("a timeline cannot be written as {}, by its ending", path),
                      "name FILE.svg, or FILE.json for ui.perfetto.dev");
  }
  for (const OutputDocument& each : documents) {
    if (!each.path.empty() && same_file(each.path, path))
      throw usage_error(kTimeline, "it is the same file as " + each.option, "give each its own file");
  }
  documents.insert(documents.begin(), {kTimeline, path.ends_with(".svg") ? "svg" : "trace", path});
}

/// "plan.pdf" would hold text that no viewer opens.
void require_known_ending(const OutputOptions& output) {
  const std::string ending = std::filesystem::path(output.path).extension().string();
  if (!output.format.empty() || ending.empty() || names_format(output.path)) return;
  throw usage_error("-o", fmt::format("a plan cannot be written as {}, by its ending", output.path),
                    "name FILE.txt, .md, .html, .csv or .json, or give --format");
}

CommandResult plan(const PlanCommand& command) {
  if (command.lists_models) return model_table();
  if (command.lists_assumptions) return assumption_table(command.input.request.assumed);
  require_one_kind(command);
  std::vector<OutputDocument> documents = output_documents(command.output);
  require_known_ending(command.output);
  add_timeline(command, documents);
  require_writable_documents(documents, command.output.overwrite);
  const analysis::PlanReport report = report_of(command);
  const auto write = [&](const OutputDocument& document) {
    if (document.option == kTimeline) {
      const analysis::TrainingPlan& shown = *report.rows.front().plan;
      return document.format == "svg" ? analysis::timeline_svg(shown) : analysis::timeline_trace(shown);
    }
    if (is_picture(document)) return chart_picture(report.charts, document);
    const int columns = page_options(document).columns;
    return analysis::written_plan(report, document.format, columns) +
           text_plots(report.charts, document, columns);
  };
  const bool any =
      std::ranges::any_of(report.rows, [](const analysis::PlannedRow& row) { return row.plan.has_value(); });
  CommandResult result{write_documents(documents, write), any ? ExitStatus::ok : ExitStatus::usage,
                       prints_text(documents), written_notes(documents, "")};
  if (!any) result.notes.push_back(all_refused(command.table, report.rows));
  return result;
}

}  // namespace

void add_tool(CLI::App& command, CommandFunction& chosen) {
  const auto options = std::make_shared<PlanCommand>();
  for (const PlanOption& each : plan_options()) {
    const std::string name = std::string("--") + each.name;
    add_option(command, each.theme, name == "--n-gpus" ? name + ",--gpus" : name, each.value, each.help,
               [options, &each, name](const std::string& text) { each.take(options->input, text, name); });
  }
  command.get_option("--zero")->excludes(command.get_option("--fsdp"));
  command.get_option("--nodes")->excludes(command.get_option("--n-gpus"));
  const std::string theme = "Options";
  command.set_help_all_flag("--help-all", "all options with their descriptions");
  add_option(command, theme, "--table", "FILE",
             "a plan for each line of a table between tabs, whose columns are options", into(options->table));
  add_flag(command, theme, "--assumptions", options->lists_assumptions,
           "the constants of the model, and nothing else");
  add_flag(command, theme, "--models", options->lists_models, "the catalog of models, and nothing else");
  add_flag(command, theme, "--best", options->best,
           "search what is not given of the split: the ten fastest that fit; of a table each line's fastest");
  add_option(command, theme, "--scale", "N,N,…",
             "strong and weak scaling: the fastest split at each of these numbers of GPUs",
             [options](const std::string& text) { options->scale = parse_scale(text, "--scale"); });
  add_flag(command, theme, "--plot", options->output.plots, "the chart of --scale, in letters");
  add_option(command, theme, "--plot-file", "FILE", "the chart of --scale: FILE.svg",
             into(options->output.plot_path));
  add_option(command, theme, "--measured", "FILE",
             "collectives as this record measured them (-J, or judge -o), on such nodes",
             into(options->measured));
  add_option(command, theme, "--faulty", "MACHINE",
             "what one node like this costs the job: a file that describes it, as topo diff takes it",
             into(options->faulty));
  add_option(command, theme, "--fault", "WORDS",
             "what a NIC costs the job: 'nic 3 of node 17 at half', at 25 %, at 200 Gb/s, or 'nic 3 down'",
             into(options->fault));
  add_option(command, theme, kTimeline, "FILE",
             "one step, stage by stage: FILE.svg, or FILE.json for ui.perfetto.dev", into(options->timeline));
  add_output_options(command, theme, options->output, analysis::plan_formats(), "the plan as JSON");
  command.callback([options, &chosen] { chosen = [options] { return plan(*options); }; });
}

}  // namespace collbench::program
