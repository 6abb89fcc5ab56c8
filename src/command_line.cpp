#include "src/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/text_sinks.hpp"
#include "src/cli/command_line_errors.hpp"
#include "src/cli/completion.hpp"
#include "src/cli/config_file.hpp"
#include "src/cli/help.hpp"
#include "src/cli/old_names.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/cli/tools.hpp"
#include "src/cli/version.hpp"

namespace collbench::program {
namespace {

bool is_tool(const std::string& name) {
  return std::ranges::any_of(tools(), [&name](const Tool& tool) { return tool.name == name; });
}

constexpr const char* kTitle =
    "Measures collective operations and compares them with what this machine should give.";
constexpr const char* kExample =
    "  mpirun -np 16 collbench           the five usual operations; --ops all: all eleven";

constexpr std::size_t kHelpColumn = 26;  // where a help says what an option is for

/// Of an app's own help and man page: what it is for, and lines of examples.
std::string description(const char* help, const char* example) {
  return *example == '\0' ? help : fmt::format("{}\n  {}", help, example);
}

std::string help_of(const CLI::App& app, bool whole = false) {
  const bool is_short = app.get_help_all_ptr() != nullptr && !whole;
  const std::string text = app.get_parent() == nullptr ? main_help(app)
                           : is_short                  ? first_page(app, full_name(*app.get_parent()))
                                                       : app.help(full_name(*app.get_parent()));
  return wrapped_help(text, text_options(When::never, false).columns);
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
  const auto command = std::ranges::find(commands, word, &CLI::App::get_name);
  if (command == commands.end()) throw unknown_command(app, word);
  return *command;
}

/// Throws Error (usage) where another program's options would be taken for those of `repeat`.
void require_separator(const CLI::App& app, const std::vector<std::string>& command) {
  const auto separator = std::ranges::find(command, "--");
  if (std::any_of(command.begin(), separator, is_option)) throw missing_separator(app, command.front());
}

bool takes_positional(const CLI::App& app) {
  const auto options = app.get_options();
  return std::ranges::any_of(options, &CLI::Option::get_positional);
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
         std::ranges::none_of(commands, [&word](const CLI::App* each) { return each->get_name() == word; });
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

/// Of "collbench help TOPIC", which is the name of no command; none for another command line.
std::optional<std::string> topic_help(const CLI::App& app, const std::vector<std::string>& words) {
  if (words.size() != 2 || words.front() != "help") return std::nullopt;
  if (words.back() == "run") return wrapped_help(run_help(app), text_options(When::never, false).columns);
  const HelpTopic* topic = help_topic(words.back());
  return topic == nullptr ? std::nullopt : std::optional<std::string>(topic->text);
}

/// Where the command's name stands: the first word that is no option, none's value, and not "help".
std::size_t command_position(const CLI::App& root, const std::vector<std::string>& words) {
  std::size_t at = 0;
  for (; at < words.size() && (is_option(words[at]) || words[at] == "help"); ++at) {
    if (words[at] == "--") return words.size();
    if (is_option(words[at]) && value_follows(root, root, words[at])) ++at;
  }
  return at;
}

/// The command, which says `note` on stderr first where there is one.
CommandFunction with_note(CommandFunction command, const std::string& note) {
  if (note.empty()) return command;
  return [command = std::move(command), note] {
    print_message(note);
    return command();
  };
}

CommandFunction printing_command(std::string text, const std::string& note = "") {
  return with_note([text = std::move(text)] { return CommandResult{text}; }, note);
}

/// Lets `app` take the words. A command where they ask for help, which says `note` first.
std::optional<CommandFunction> parse(CLI::App& app, const std::vector<std::string>& words,
                                     const std::string& note) {
  if (const CLI::App* helped = check_names(app, words)) return printing_command(help_of(*helped), note);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::CallForHelp&) {
    return printing_command(help_of(chosen_command(app)), note);
  } catch (const CLI::CallForAllHelp&) {
    return printing_command(help_of(chosen_command(app), true), note);
  } catch (const CLI::ParseError& error) {
    throw command_line_error(app, error);
  }
  return std::nullopt;
}

/// Makes `app` collbench with the one subcommand that a tool is, and with the options of a run, so that it
/// says what it would say below collbench.
void add_tool(CLI::App& app, const Subcommand& tool, RunOptions& run, CommandFunction& chosen) {
  app.name("collbench");
  app.get_formatter()->column_width(kHelpColumn);
  app.set_help_flag("-h,--help", "this text")->group("Help");
  app.add_flag("-V,--version")->description("as of collbench itself")->group("Help");
  add_run_options(app, run);
  add_config_option(app, run.config);
  tool.add(*app.add_subcommand(tool.name, description(tool.help, tool.example)), chosen);
}

}  // namespace

Command parse_command_line(int argc, const char* const* argv) {
  RunOptions run;
  CommandFunction chosen;
  bool version = false;
  run.command_line.assign(argv, argv + argc);

  const std::vector<Subcommand> all = subcommands();
  CLI::App app{fmt::format("{}\n{}", kTitle, kExample), "collbench"};
  app.get_formatter()->column_width(kHelpColumn);
  app.set_help_flag("-h,--help", "this text")->group("Help");
  add_flag(app, "Help", "-V,--version", version,
           "versions of collbench and its libraries, and which are missing");
  add_run_options(app, run);
  add_config_option(app, run.config);
  for (const Subcommand& each : all)
    each.add(*app.add_subcommand(each.name, description(each.help, each.example)), chosen);
  for (const Tool& each : tools())
    app.add_subcommand(each.name, description(each.help, each.example))->set_help_flag();
  app.footer(kExitStatusHelp);

  std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && words.front() == kOffers) {
    words.erase(words.begin());
    return [text = offers(with_tools(describe_command(app), words), words)] {
      return CommandResult{text, ExitStatus::ok, false};
    };
  }
  if (const auto topic = topic_help(app, words)) return printing_command(*topic);
  const std::string note = take_current_names(words, command_position(app, words));
  try {
    if (auto help = parse(app, words, note)) return *std::move(help);
  } catch (const Error& error) {
    throw with_config_line(app, run.config, run.command_line, error);
  }
  if (version) return printing_command(version_text());
  complete_run_options(app, run);
  if (chosen) return with_note(std::move(chosen), note);
  return run;
}

CommandFunction parse_tool_line(const Subcommand& tool, std::vector<std::string> words) {
  RunOptions run;
  CommandFunction chosen;
  CLI::App app;
  add_tool(app, tool, run, chosen);
  words.insert(words.begin(), tool.name);
  const auto help = parse(app, words, "");
  return help ? *help : chosen;
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
