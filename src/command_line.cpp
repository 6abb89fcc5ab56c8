#include "src/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/report/text_layout.hpp"
#include "base/error.hpp"
#include "base/text_sinks.hpp"
#include "src/cli/command_line_errors.hpp"
#include "src/cli/config_file.hpp"
#include "src/cli/help_topics.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/cli/tools.hpp"
#include "src/cli/version.hpp"

namespace collbench::program {
namespace {

/// Where the line's text goes on: below an option's description, which follows two blanks or more, else a
/// little behind the line's own beginning.
std::size_t continuation_column(std::string_view line) {
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  if (begin == 0) return 0;
  const std::size_t gap = line.find("  ", begin);
  const std::size_t description = gap == std::string_view::npos ? gap : line.find_first_not_of(' ', gap);
  constexpr std::size_t kMaxColumn = 50;
  return description > kMaxColumn ? begin : description;
}

bool is_tool(const std::string& name) {
  return std::any_of(tools().begin(), tools().end(), [&name](const Tool& tool) { return tool.name == name; });
}

std::string description(const std::vector<Subcommand>& subcommands) {
  std::string text =
      "Measures collective operations and compares them with what this machine should give.\n"
      "  mpirun -np 16 collbench           the five usual operations; --ops all: all eleven";
  for (const Subcommand& each : subcommands)
    if (*each.example != '\0') text += std::string("\n  ") + each.example;
  for (const Tool& each : tools()) text += std::string("\n  ") + each.example;
  std::string topics;
  for (const HelpTopic& each : help_topics())
    topics += std::string(topics.empty() ? "" : ", ") + std::string(each.name);
  return text + "\n  collbench help columns            and " + topics.substr(topics.find(' ') + 1);
}

/// As `COMMAND --help` prints it.
std::string help_of(const CLI::App& app) {
  return wrapped_help(app.help(app.get_parent() == nullptr ? "" : full_name(*app.get_parent())),
                      text_options(When::never, false).columns);
}

constexpr const char* kExitStatusHelp =
    "Exit status: 0 success; 1 LOW or FAULT, or a degraded or broken finding (topo diff, --expect,\n"
    "doctor), a slower row (compare, baseline), a suspect or bad host or core (burnin, probe), what\n"
    "--fail-on names; 2 bad command line or file; 3 wrong data; 4 rank lost; 5 not available on\n"
    "this machine; 70 bug in collbench.";

/// The exit statuses at the end of every command's help.
void add_exit_status_help(CLI::App& app) {
  app.footer(app.get_footer().empty() ? kExitStatusHelp : app.get_footer() + "\n" + kExitStatusHelp);
  for (CLI::App* each : app.get_subcommands([](CLI::App*) { return true; })) add_exit_status_help(*each);
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

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

/// Throws Error (usage) where another program's options would be taken for those of `repeat`.
void require_separator(const CLI::App& app, const std::vector<std::string>& command) {
  const auto separator = std::find(command.begin(), command.end(), "--");
  if (std::any_of(command.begin(), separator, is_option)) throw missing_separator(app, command.front());
}

bool takes_positional(const CLI::App& app) {
  const auto options = app.get_options();
  return std::any_of(options.begin(), options.end(),
                     [](const CLI::Option* option) { return option->get_positional(); });
}

/// Throws Error (usage) for a word that is no option's value where the command takes none.
void require_positional(const CLI::App& app, const std::string& word) {
  if (!takes_positional(app)) throw unexpected_argument(app, word);
}

/// Whether a word is a command's argument though the command has others below it: `doctor FOLDER` beside
/// `doctor save`.
bool is_argument(const CLI::App& app, const std::string& word) {
  const auto commands = commands_of(app);
  return takes_positional(app) &&
         std::none_of(commands.begin(), commands.end(),
                      [&word](const CLI::App* each) { return each->get_name() == word; });
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
      if (app->get_name() == "repeat") {  // what follows is another program's
        require_separator(*app, {words.begin() + static_cast<std::ptrdiff_t>(at), words.end()});
        break;
      }
      require_positional(*app, word);
      continue;
    }
    if (word != "help" && is_argument(*app, word)) continue;
    if (word != "help") app = command_named(*app, word);
    if (app->get_parent() == &root && is_tool(app->get_name()) && at > 0 && words[at - 1] != "help")
      throw usage_error("", fmt::format("{} has to come first", full_name(*app)),
                        fmt::format("write {} ..., with its options behind it", full_name(*app)));
    if (word == "help" || helped != nullptr) helped = app;
  }
  return helped;
}

/// Of "collbench help TOPIC"; null for another command line.
const HelpTopic* asked_topic(const std::vector<std::string>& words) {
  return words.size() == 2 && words.front() == "help" ? help_topic(words.back()) : nullptr;
}

/// A command that prints `text`.
CommandFunction printing_command(std::string text) {
  return [text = std::move(text)] { return CommandResult{text}; };
}

/// Makes `app` collbench with the one subcommand that a tool is, and with the options of a run, so that it
/// says what it would say below collbench.
void add_tool(CLI::App& app, const Subcommand& tool, RunOptions& run, CommandFunction& chosen) {
  app.name("collbench");
  app.set_help_flag("-h,--help", "this text")->group("Help");
  app.add_flag("-V,--version")->description("as of collbench itself")->group("Help");
  add_run_options(app, run);
  add_config_option(app, run.config);
  tool.add(*app.add_subcommand(tool.name, tool.help), chosen);
  add_exit_status_help(app);
}

}  // namespace

std::string wrapped_help(const std::string& text, int columns) {
  const int width = std::clamp(columns, 60, 100);
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    if (analysis::display_width(line) <= width) {
      result += line + "\n";
      continue;
    }
    const std::size_t column = continuation_column(line);
    const std::string indent(column, ' ');
    result += analysis::wrap(std::string_view(line).substr(column), width, line.substr(0, column), indent);
  }
  return result;
}

Command parse_command_line(int argc, const char* const* argv) {
  RunOptions run;
  CommandFunction chosen;
  bool version = false;
  run.command_line.assign(argv, argv + argc);

  const std::vector<Subcommand> all = subcommands();
  CLI::App app{description(all), "collbench"};
  app.set_help_flag("-h,--help", "this text; options come before or after a subcommand's name as shown")
      ->group("Help");
  app.add_flag("-V,--version", version, "versions of collbench and its libraries, and which are missing")
      ->group("Help");
  add_run_options(app, run);
  add_config_option(app, run.config);
  for (const Subcommand& each : all) each.add(*app.add_subcommand(each.name, each.help), chosen);
  for (const Tool& each : tools()) {
    app.add_subcommand(each.name, each.help)->set_help_flag();
  }
  add_exit_status_help(app);

  const std::vector<std::string> words(argv + 1, argv + argc);
  if (const HelpTopic* topic = asked_topic(words)) return printing_command(std::string(topic->text));
  if (const CLI::App* helped = check_names(app, words)) return printing_command(help_of(*helped));
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return printing_command(help_of(chosen_command(app)));
  } catch (const Error& error) {
    throw with_config_line(app, run.config, run.command_line, error);
  } catch (const CLI::ParseError& error) {
    throw command_line_error(app, error);
  }
  if (version) return printing_command(version_text());
  complete_run_options(app, run);
  if (chosen) return chosen;
  return run;
}

CommandFunction parse_tool_line(const Subcommand& tool, std::vector<std::string> words) {
  RunOptions run;
  CommandFunction chosen;
  CLI::App app;
  add_tool(app, tool, run, chosen);
  words.insert(words.begin(), tool.name);
  if (const CLI::App* helped = check_names(app, words)) return printing_command(help_of(*helped));
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 takes them from the back
  } catch (const CLI::CallForHelp&) {
    return printing_command(help_of(chosen_command(app)));
  } catch (const CLI::ParseError& error) {
    throw command_line_error(app, error);
  }
  return chosen;
}

CommandDescription describe_tool(const Subcommand& tool) {
  RunOptions run;
  CommandFunction chosen;
  CLI::App app;
  add_tool(app, tool, run, chosen);
  return describe_command(*commands_of(app).front());
}

int finish_command(const CommandFunction& command) {
  const CommandResult result = command();
  result.is_for_a_person ? print_text(result.text) : print_all(result.text);
  for (const std::string& note : result.notes) print_message("collbench: " + one_line(note));
  return static_cast<int>(result.status);
}

}  // namespace collbench::program
