#include "src/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/suggest_names.hpp"
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

std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : full_name(*app.get_parent()) + " " + app.get_name();
}

/// As `COMMAND --help` prints it.
std::string help_of(const CLI::App& app) {
  return app.help(app.get_parent() == nullptr ? "" : full_name(*app.get_parent()));
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

/// Of the names that may have been meant the nearest: one, unless others are as near.
std::vector<std::string> nearest_names(const std::string& word, const std::vector<std::string>& names) {
  auto near = suggest_names(word, names);
  const std::size_t nearest = near.empty() ? 0 : edit_distance(word, near.front());
  std::erase_if(near, [&](const std::string& name) { return edit_distance(word, name) > nearest; });
  return near;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// Of the program and all its subcommands, those that have the option.
void collect_with(const CLI::App& app, const std::string& option, std::vector<std::string>& found) {
  if (app.get_option_no_throw(option) != nullptr) found.push_back(full_name(app));
  for (const CLI::App* each : commands_of(app)) {
    collect_with(*each, option, found);
  }
}

Error unknown_option(const CLI::App& root, const CLI::App& app, const std::string& option) {
  const std::string help = "see " + full_name(app) + " --help";
  const auto near = nearest_names(option, option_names(app));
  std::vector<std::string> others;
  collect_with(root, option, others);
  std::string next = help;
  if (!near.empty()) {
    next = fmt::format("did you mean {}? ({})", fmt::join(near, ", "), help);
  } else if (!others.empty()) {
    next = fmt::format("it is one of {}; {}", fmt::join(others, ", "), help);
  }
  return usage_error(
      "", fmt::format("unknown option {}{}", option, &app == &root ? "" : " of " + full_name(app)), next);
}

Error unknown_command(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* each : commands_of(app)) {
    names.push_back(each->get_name());
  }
  std::vector<std::string> near;
  for (const std::string& name : nearest_names(word, names)) near.push_back(full_name(app) + " " + name);
  return usage_error("", fmt::format("unknown command {} {}", full_name(app), word),
                     near.empty() ? "see " + full_name(app) + " --help"
                                  : fmt::format("did you mean {}?", fmt::join(near, ", ")));
}

bool is_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && word.find_first_of("0123456789.", 1) != 1;
}

/// Whether the word after the option `word` is its value. Throws Error (usage) when there is no such option.
bool value_follows(const CLI::App& root, const CLI::App& app, const std::string& word) {
  const bool is_long = word[1] == '-';
  const std::string name = is_long ? word.substr(0, word.find('=')) : word.substr(0, 2);
  const CLI::Option* option = app.get_option_no_throw(name);
  if (option == nullptr) throw unknown_option(root, app, name);
  const bool has_value = is_long ? word.size() > name.size() : word.size() > 2;
  return takes_value(*option) && !has_value;
}

/// Throws Error (usage) when there is none.
const CLI::App* command_named(const CLI::App& app, const std::string& word) {
  const auto commands = commands_of(app);
  const auto command = std::find_if(commands.begin(), commands.end(),
                                    [&](const CLI::App* each) { return each->get_name() == word; });
  if (command == commands.end()) throw unknown_command(app, word);
  return *command;
}

/// The names on the command line, before CLI11 looks at it, which reports what is missing before what is
/// unknown. Throws Error (usage) for the first option or command that does not exist. The command of "help
/// COMMAND" (null: no help is asked for).
const CLI::App* check_names(const CLI::App& root, const std::vector<std::string>& words) {
  const CLI::App* app = &root;
  const CLI::App* helped = nullptr;
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (word == "--") break;
    if (is_option(word)) {
      if (value_follows(root, *app, word)) ++at;
      continue;
    }
    if (commands_of(*app).empty()) {
      if (app->get_name() == "repeat") break;  // what follows is another program's
      continue;
    }
    if (word != "help") app = command_named(*app, word);
    if (word == "help" || helped != nullptr) helped = app;
  }
  return helped;
}

/// A command that prints `text`.
CommandFunction printing_command(std::string text) {
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

  if (const CLI::App* helped = check_names(app, {argv + 1, argv + argc}))
    return printing_command(help_of(*helped));
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return printing_command(app.help());  // of the subcommand, where one was given
  } catch (const Error& error) {
    throw with_config_line(app, run.config, run.command_line, error);
  } catch (const CLI::ParseError& error) {
    throw as_error(app, error);
  }
  if (version) return printing_command(version_text());
  complete_run_options(app, run);
  if (chosen) return chosen;
  return run;
}

}  // namespace collbench::program
