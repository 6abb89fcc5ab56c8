#include "src/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <functional>

#include "base/error.hpp"
#include "base/units.hpp"
#include "collectives/registry.hpp"
#include "src/import_options.hpp"
#include "src/lab01_options.hpp"
#include "src/topology_options.hpp"
#include "src/version.hpp"

namespace collbench {
namespace {

std::vector<std::string> split_list(const std::string& text) { return CLI::detail::split(text, ','); }

/// Every word of a comma-separated list looked up by `find`, or all of `all` for the word "all".
template <typename Value, typename Find>
std::vector<Value> parse_list(const std::string& text, const std::string& option,
                              const std::vector<Value>& all,
                              const std::function<std::string(const Value&)>& name, Find find) {
  if (text == "all") return all;
  std::vector<Value> values;
  for (const std::string& word : split_list(text)) {
    const auto value = find(word);
    if (!value) {
      std::vector<std::string> names;
      for (const Value& each : all) names.push_back(name(each));
      throw usage_error(option, fmt::format("'{}' is unknown", word),
                        fmt::format("choose among {}, or all", fmt::join(names, ", ")));
    }
    values.push_back(*value);
  }
  return values;
}

std::vector<OperationId> parse_operations(const std::string& text) {
  std::vector<OperationId> all;
  for (const Collective* each : collectives()) all.push_back(each->id);
  const std::function name = [](const OperationId& id) { return std::string(operation(id).option); };
  return parse_list(text, "--ops", all, name, [](const std::string& word) -> std::optional<OperationId> {
    const Operation* found = find_operation(word);
    if (found == nullptr) return std::nullopt;
    return collective(found->id).id;  // an operation that is only imported has its own message
  });
}

std::vector<DataType> parse_types(const std::string& text) {
  std::vector<DataType> all;
  for (const DataTypeTraits& each : data_types()) all.push_back(each.id);
  const std::function name = [](const DataType& type) { return std::string(traits(type).name); };
  return parse_list(text, "-d", all, name, [](const std::string& word) -> std::optional<DataType> {
    const DataTypeTraits* found = find_data_type(word);
    if (found == nullptr) return std::nullopt;
    return found->id;
  });
}

std::vector<Reduction> parse_reductions(const std::string& text) {
  const std::vector<Reduction> all(reductions().begin(), reductions().end());
  const std::function name = [](const Reduction& each) { return std::string(collbench::name(each)); };
  return parse_list(text, "-o", all, name, [](const std::string& word) -> std::optional<Reduction> {
    const Reduction* found = find_reduction(word);
    if (found == nullptr) return std::nullopt;
    return *found;
  });
}

/// A number of at least `least`; the whole text must be one.
template <typename Number>
Number parse_number(const std::string& text, const std::string& option, Number least, Number most) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stopped, failure] = std::from_chars(text.data(), end, value);
  // Written so that a NaN fails too.
  if (failure != std::errc() || stopped != end || !(value >= least && value <= most)) {
    throw usage_error(option, fmt::format("'{}' is not a number it takes", text),
                      fmt::format("give one from {} to {}", least, most));
  }
  return value;
}

When parse_when(const std::string& text, const std::string& option) {
  if (text == "auto") return When::automatic;
  if (text == "always") return When::always;
  if (text == "never") return When::never;
  throw usage_error(option, fmt::format("'{}' is unknown", text), "choose auto, always or never");
}

void require_one_of(const std::string& text, const std::string& option,
                    const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), text) != known.end()) return;
  throw usage_error(option, fmt::format("'{}' is unknown", text),
                    fmt::format("choose {}", fmt::join(known, ", ")));
}

/// Adds an option whose text goes to `take`, which throws our own Error.
CLI::Option* add(CLI::App& app, const std::string& theme, const std::string& names, const std::string& value,
                 const std::string& help, const std::function<void(const std::string&)>& take) {
  return app.add_option_function<std::string>(names, take, help)->group(theme)->option_text(value);
}

constexpr std::uint64_t kMostIterations = 1'000'000'000;

void add_what(CLI::App& app, RunOptions& run) {
  const std::string theme = "What to measure, such as --ops all_reduce,send_recv --sizes 1MB,100MB,1GB";
  add(app, theme, "--ops", "LIST", "operations (all five)",
      [&run](const std::string& text) { run.request.operations = parse_operations(text); });
  add(app, theme, "-b,--minbytes", "SIZE", "smallest size (8)",
      [&run](const std::string& text) { run.sizes.first = parse_size(text, "-b"); });
  add(app, theme, "-e,--maxbytes", "SIZE",
      "largest size, the last row (64M, at most a quarter of memory); sizes are cut to whole elements",
      [&run](const std::string& text) { run.sizes.last = parse_size(text, "-e"); });
  auto* factor =
      add(app, theme, "-f,--stepfactor", "X", "next size = X times the last (4; nccl-tests: off)",
          [&run](const std::string& text) { run.sizes.factor = parse_number(text, "-f", 1.01, 1e6); });
  auto* step =
      add(app, theme, "-i,--stepbytes", "SIZE", "next size = last + SIZE", [&run](const std::string& text) {
        run.sizes.step = parse_size(text, "-i");
        if (*run.sizes.step == 0) throw usage_error("-i", "a step of 0 never ends", "give at least 1");
      });
  auto* list = add(app, theme, "--sizes", "LIST", "exactly these sizes; K M G are binary, KB MB GB decimal",
                   [&run](const std::string& text) { run.sizes.list = parse_size_list(text, "--sizes"); });
  step->excludes(factor);
  for (const char* other : {"-b", "-e", "-f", "-i"}) list->excludes(app.get_option(other));
  add(app, theme, "-d,--datatype", "LIST", "element types, or all (float)",
      [&run](const std::string& text) { run.request.types = parse_types(text); });
  add(app, theme, "-o,--op", "LIST", "reductions: sum, prod, min, max, avg, or all (sum)",
      [&run](const std::string& text) { run.request.reductions = parse_reductions(text); });
  add(app, theme, "--place", "WHERE", "out, in or both: buffers out of or in place (out)",
      [&run](const std::string& text) {
        require_one_of(text, "--place", {"out", "in", "both"});
        run.request.out_of_place = text != "in";
        run.request.in_place = text != "out";
      });
  add(app, theme, "--algo", "LIST", "algorithms, each in rows of its own: auto, ring, ... (auto)",
      [&run](const std::string& text) { run.request.algorithms = split_list(text); });
}

void add_how_long(CLI::App& app, RunOptions& run) {
  const std::string theme = "How long and how exactly, such as --time 30 --precision 2";
  add(app, theme, "--time", "SECONDS", "the whole run takes at most about this long (120)",
      [&run](const std::string& text) { run.seconds = parse_number(text, "--time", 0.1, 1e7); });
  add(app, theme, "--precision", "PERCENT", "a row is done when its 95 % interval is within +- this (5)",
      [&run](const std::string& text) {
        run.sweep.stopping.precision = parse_number(text, "--precision", 0.01, 1000.0) / 100;
      });
  auto* passes = add(app, theme, "-N,--passes", "N",
                     "exactly N passes over all rows (8 to 64, by precision; nccl-tests: 1)",
                     [&run](const std::string& text) {
                       const int passes_asked = parse_number(text, "--passes", 1, 10'000);
                       run.sweep.stopping.fewest_passes = passes_asked + 1;  // precision ends nothing
                       run.sweep.stopping.most_passes = passes_asked;
                     });
  add(app, theme, "-n,--iters", "N",
      "exactly N timed iterations in each of 8 passes (by time; nccl-tests: 20 in all)",
      [&run, passes](const std::string& text) {
        run.sweep.fixed.iterations = parse_number<std::uint64_t>(text, "-n", 1, kMostIterations);
        if (passes->count() == 0) {
          run.sweep.stopping.fewest_passes = 9;
          run.sweep.stopping.most_passes = 8;
        }
      });
  add(app, theme, "-w,--warmup_iters", "N",
      "untimed iterations before each block (a tenth of the timed ones)", [&run](const std::string& text) {
        run.sweep.fixed.warmup = parse_number<std::uint64_t>(text, "-w", 0, kMostIterations);
      });
  add(app, theme, "-c,--check", "N", "iterations checked per row, at every element; 0: none (1)",
      [&run](const std::string& text) { run.sweep.checks = parse_number(text, "-c", 0, 1000); });
  add(app, theme, "-a,--average", "N",
      "time over ranks: 0 rank 0, 1 average, 2 min, 3 max (3; nccl-tests: 1)",
      [&run](const std::string& text) {
        run.sweep.across_ranks = static_cast<AcrossRanks>(parse_number(text, "-a", 0, 3));
      });
}

void add_where(CLI::App& app, RunOptions& run) {
  const std::string theme = "Where, such as --backend mpi --node-map 0-7,8-15";
  add(app, theme, "--backend", "NAME", "auto, mpi (host memory) or nccl (auto)",
      [&run](const std::string& text) {
        require_one_of(text, "--backend", {"auto", "mpi", "nccl"});
        run.backend = text;
      });
  add(app, theme, "--node-map", "MAP",
      "which ranks share a node, instead of what MPI says: 0-7,8-15 or 0+2,1+3",
      [&run](const std::string& text) { run.node_map = text; });
  add(app, theme, "-g,--ngpus", "N", "without mpirun: start N ranks here (nccl-tests: GPUs of one process)",
      [&run](const std::string& text) { run.local_ranks = parse_number(text, "-g", 1, 4096); });
  app.add_flag("--dry-run", run.dry_run, "say what would be measured and how long at most, and stop")
      ->group(theme);
}

void add_output(CLI::App& app, RunOptions& run) {
  const std::string theme = "Output, such as -J run.json --format md";
  add(app, theme, "--format", "NAME", "on stdout: text, md, csv or json (text)",
      [&run](const std::string& text) {
        require_one_of(text, "--format", {"text", "md", "csv", "json"});
        run.format = text;
      });
  add(app, theme, "-J,--output", "FILE", "the run record (JSON), written anew after every pass",
      [&run](const std::string& text) { run.record_path = text; });
  add(app, theme, "--csv", "FILE", "one line per row, likewise",
      [&run](const std::string& text) { run.csv_path = text; });
  add_lab01_options(app, theme, run.lab01);
  app.add_flag("--overwrite", run.overwrite, "replace files that exist")->group(theme);
  add(app, theme, "--color", "WHEN", "auto, always or never (auto; NO_COLOR is honoured)",
      [&run](const std::string& text) { run.colour = parse_when(text, "--color"); });
  add(app, theme, "--progress", "WHEN", "auto, always or never, on stderr (auto: on a terminal)",
      [&run](const std::string& text) { run.progress = parse_when(text, "--progress"); });
}

void add_predict(CLI::App& app, PredictOptions& predict) {
  CLI::App* command = app.add_subcommand(
      "predict", "what a machine should give, nothing measured: predict --topology hgx-h100 --nodes 2");
  const std::string theme = "Options";
  add(*command, theme, "--topology", "NAME|FILE", "a reference machine, or a file that describes a node",
      [&predict](const std::string& text) { predict.topology = text; })
      ->required();
  add(*command, theme, "--nodes", "N", "nodes like it (1)",
      [&predict](const std::string& text) { predict.nodes = parse_number(text, "--nodes", 1, 1'000'000); });
  add(*command, theme, "--ranks-per-node", "N", "GPUs used of each node (all)",
      [&predict](const std::string& text) {
        predict.ranks_per_node = parse_number(text, "--ranks-per-node", 1, 4096);
      });
  add(*command, theme, "--transport", "NAME",
      "ib, roce, efa, tcpx, tcpxo or sockets, instead of what the NICs are made for",
      [&predict](const std::string& text) { predict.transport = text; });
  add(*command, theme, "--ops", "LIST", "operations (all five)",
      [&predict](const std::string& text) { predict.operations = parse_operations(text); });
  add(*command, theme, "--sizes", "LIST", "sizes (8 B to 8 GiB)",
      [&predict](const std::string& text) { predict.sizes = parse_size_list(text, "--sizes"); });
  add(*command, theme, "--format", "NAME", "text, md, csv or json (text)",
      [&predict](const std::string& text) {
        require_one_of(text, "--format", {"text", "md", "csv", "json"});
        predict.format = text;
      });
}

void add_judge(CLI::App& app, JudgeOptions& judge) {
  CLI::App* command =
      app.add_subcommand("judge", "a run on GPUs against a topology: judge run.json --topology hgx-h100");
  command->add_option("record", judge.record, "the record that -J or import wrote")->required();
  const std::string theme = "Options";
  add(*command, theme, "--topology", "NAME|FILE",
      "a reference machine, or a file that describes a node (as given to import)",
      [&judge](const std::string& text) { judge.topology = text; });
  add(*command, theme, "--transport", "NAME", "ib, roce, efa, tcpx, tcpxo, plugin, staged or sockets",
      [&judge](const std::string& text) { judge.transport = text; });
  command->add_flag("--own-floor", judge.own_floor, "take the latency from the record's own smallest row")
      ->group(theme);
  add(*command, theme, "--format", "NAME", "text, md, csv or json (text)", [&judge](const std::string& text) {
    require_one_of(text, "--format", {"text", "md", "csv", "json"});
    judge.format = text;
  });
}

/// The rows of Lab 01, where no others were asked for.
void take_lab01_rows(const CLI::App& app, RunOptions& run) {
  const auto given = [&app](const char* option) { return app.count(option) > 0; };
  if (!given("--ops")) run.request.operations = {OperationId::all_reduce};
  if (given("-b") || given("-e") || given("-f") || given("-i") || given("--sizes")) return;
  run.sizes.list = {1'000'000, 100'000'000, 1'000'000'000};
}

/// CLI11's message as one of ours.
Error as_error(const CLI::ParseError& error, const std::string& help) {
  std::string what = error.what();
  if (const std::size_t newline = what.find('\n'); newline != std::string::npos) what.resize(newline);
  return usage_error("command line", what, "see " + help);
}

}  // namespace

Command parse_command_line(int argc, const char* const* argv) {
  RunOptions run;
  ReportOptions report;
  TopologyOptions topology;
  ImportCommand import;
  PredictOptions predict;
  JudgeOptions judge;
  bool version = false;
  for (const Collective* each : collectives()) run.request.operations.push_back(each->id);
  run.command_line.assign(argv, argv + argc);

  CLI::App app{
      "Measures collective operations and compares them with what this machine should give.\n"
      "  mpirun -np 16 collbench           all five operations\n"
      "  collbench report run.json         the tables of a saved run\n"
      "  collbench topo show               what this machine is\n"
      "  collbench import LOG              the tables of somebody's nccl-tests output\n"
      "  collbench predict --topology hgx-h100 --nodes 2   what a machine should give\n"
      "  collbench judge run.json --topology hgx-h100      a run on GPUs, against that",
      "collbench"};
  app.set_help_flag("-h,--help", "this text; options come before or after a subcommand's name as shown")
      ->group("Help");
  app.add_flag("--version", version, "versions of collbench and of its libraries, and what is switched off")
      ->group("Help");
  add_what(app, run);
  add_how_long(app, run);
  add_where(app, run);
  add_output(app, run);
  app.footer(
      "Exit status: 0 good; 1 LOW or a regression; 2 usage, or a file; 3 wrong data; 4 a rank lost;\n"
      "5 what was asked for is not here.");
  CLI::App* report_command =
      app.add_subcommand("report", "writes a saved run record as text, md, csv or json");
  report_command->add_option("record", report.record, "the record that -J wrote")->required();
  add(*report_command, "Options", "--format", "NAME", "text, md, csv or json (text)",
      [&report](const std::string& text) {
        require_one_of(text, "--format", {"text", "md", "csv", "json"});
        report.format = text;
      });
  add(*report_command, "Options", "--color", "WHEN", "auto, always or never (auto; NO_COLOR is honoured)",
      [&report](const std::string& text) { report.colour = parse_when(text, "--color"); });

  add_topology_command(app, topology);

  add(*report_command, "Options", "--topology", "NAME|FILE", "the machine of the run, for lab01",
      [&report](const std::string& text) { report.lab01.topology = text; });
  add_lab01_options(*report_command, "Options", report.lab01);
  add_import_command(app, import);
  add_predict(app, predict);
  add_judge(app, judge);

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return TextAnswer{app.help()};  // of the subcommand, where one was given
  } catch (const CLI::ParseError& error) {
    throw as_error(error, report_command->parsed() ? "collbench report --help" : "collbench --help");
  }
  if (version) return TextAnswer{version_text()};
  if (run.lab01.asked) take_lab01_rows(app, run);
  if (report_command->parsed()) return report;
  if (app.got_subcommand("topo")) return topology;
  if (app.got_subcommand("import")) return import;
  if (app.got_subcommand("predict")) return predict;
  if (app.got_subcommand("judge")) return judge;
  return run;
}

}  // namespace collbench
