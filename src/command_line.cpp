#include "src/command_line.hpp"

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "src/cli/config_file.hpp"
#include "src/cli/version.hpp"

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

std::string description(const std::vector<Subcommand>& subcommands) {
  std::string text =
      "Measures collective operations and compares them with what this machine should give.\n"
      "  mpirun -np 16 collbench           the five usual operations; --ops all: all eleven";
  for (const Subcommand& each : subcommands) text += std::string("\n  ") + each.example;
  return text;
}

/// A command that prints `text`.
CommandFunction print_text(std::string text) {
  return [text = std::move(text)] { return CommandResult{text}; };
}

}  // namespace

Command parse_command_line(int argc, const char* const* argv) {
  RunOptions run;
  CommandFunction chosen;
  bool version = false;
  run.command_line.assign(argv, argv + argc);

  const std::vector<Subcommand> all = subcommands();
  CLI::App app{description(all), "collbench"};
  app.set_help_flag("-h,--help", "this text; options come before or after a subcommand's name as shown")
      ->group("Help");
  app.add_flag("--version", version, "versions of collbench and its libraries, and which are missing")
      ->group("Help");
  add_run_options(app, run);
  add_config_option(app, run.config);
  app.footer(
      "Exit status: 0 success; 1 LOW or FAULT; 2 bad command line or file; 3 wrong data; 4 rank lost;\n"
      "5 not available on this machine; 70 bug in collbench.");
  for (const Subcommand& each : all) each.add(*app.add_subcommand(each.name, each.help), chosen);

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return print_text(app.help());  // of the subcommand, where one was given
  } catch (const Error& error) {
    throw with_config_line(app, run.config, run.command_line, error);
  } catch (const CLI::ParseError& error) {
    throw as_error(app, error);
  }
  if (version) return print_text(version_text());
  complete_run_options(app, run);
  if (chosen) return chosen;
  return run;
}

}  // namespace collbench::program
