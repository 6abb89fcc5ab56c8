#include "src/command_line.hpp"

#include <CLI/CLI.hpp>

#include "base/error.hpp"
#include "src/cli/config_file.hpp"
#include "src/cli/version.hpp"
#include "src/commands/import.hpp"
#include "src/commands/judge.hpp"
#include "src/commands/predict.hpp"
#include "src/commands/repeat.hpp"
#include "src/commands/report.hpp"
#include "src/commands/run_options.hpp"
#include "src/commands/topology.hpp"

namespace collbench::program {
namespace {

/// CLI11's message as one of ours.
Error as_error(const CLI::App& app, const CLI::ParseError& error) {
  std::string what = error.what();
  if (const std::size_t newline = what.find('\n'); newline != std::string::npos) what.resize(newline);
  const CLI::App* at = &app;
  std::string command = app.get_name();
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
    command += " " + at->get_name();
  }
  return usage_error("command line", what, "see " + command + " --help");
}

}  // namespace

Command parse_command_line(int argc, const char* const* argv) {
  RunOptions run;
  ReportOptions report;
  RepeatOptions repeat;
  TopologyOptions topology;
  ImportCommand import;
  PredictOptions predict;
  JudgeOptions judge;
  bool version = false;
  run.command_line.assign(argv, argv + argc);

  CLI::App app{
      "Measures collective operations and compares them with what this machine should give.\n"
      "  mpirun -np 16 collbench           the five usual operations; --ops all: all eleven\n"
      "  collbench repeat -- mpirun -np 16 collbench   launches until the median over launches is certain\n"
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
  add_measure_options(app, run);
  add_config_option(app, run);
  app.footer(
      "Exit status: 0 good; 1 LOW or a FAULT; 2 the command line, or a file; 3 wrong data; 4 a rank lost;\n"
      "5 what was asked for is not here.");
  add_repeat_command(app, repeat);
  add_report_command(app, report);
  add_topology_command(app, topology);
  add_import_command(app, import);
  add_predict_command(app, predict);
  add_judge_command(app, judge);

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return TextAnswer{app.help()};  // of the subcommand, where one was given
  } catch (const Error& error) {
    throw with_config_line(app, run, error);
  } catch (const CLI::ParseError& error) {
    throw as_error(app, error);
  }
  if (version) return TextAnswer{version_text()};
  complete_measure_options(app, run);
  if (app.got_subcommand("repeat")) return repeat;
  if (app.got_subcommand("report")) return report;
  if (app.got_subcommand("topo")) return topology;
  if (app.got_subcommand("import")) return import;
  if (app.got_subcommand("predict")) return predict;
  if (app.got_subcommand("judge")) return judge;
  return run;
}

}  // namespace collbench::program
