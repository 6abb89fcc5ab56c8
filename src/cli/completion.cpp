#include "src/cli/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <string_view>

namespace collbench::program {
namespace {

/// What may stand in an option's place.
enum class Words { choices, list_of_choices, machines, files, unknown };

bool holds_any(const std::string& value, const std::vector<const char*>& words) {
  return std::ranges::any_of(words,
                             [&value](const char* word) { return value.find(word) != std::string::npos; });
}

Words words_of(const OptionDescription& option) {
  if (!option.choices.empty()) return option.value == "LIST" ? Words::list_of_choices : Words::choices;
  const std::string& value = option.is_argument && option.value.empty() ? option.names.front() : option.value;
  if (holds_any(value, {"MACHINE"}) || option.names.front() == "--topology") return Words::machines;
  if (option.is_argument || holds_any(value, {"FILE", "FOLDER", "DIR"})) return Words::files;
  return Words::unknown;
}

void for_each_command(const CommandDescription& command,
                      const std::function<void(const CommandDescription&)>& visit) {
  visit(command);
  for (const CommandDescription& each : command.commands) for_each_command(each, visit);
}

std::string last_word(const std::string& name) { return name.substr(name.rfind(' ') + 1); }

/// The help's first clause, which is enough in a menu.
std::string short_help(const std::string& help) { return help.substr(0, help.find_first_of(";:\n(")); }

/// In single quotes for bash, zsh and fish, where it holds none.
std::string quoted(std::string text) {
  std::ranges::replace(text, '\'', ' ');
  return "'" + text + "'";
}

std::vector<std::string> option_words(const CommandDescription& command) {
  std::vector<std::string> words;
  for (const OptionDescription& each : command.options) {
    if (!each.is_argument) words.insert(words.end(), each.names.begin(), each.names.end());
  }
  return words;
}

std::vector<std::string> command_words(const CommandDescription& command) {
  std::vector<std::string> words;
  for (const CommandDescription& each : command.commands) words.push_back(last_word(each.name));
  return words;
}

/// The first argument; null where the command takes none.
const OptionDescription* argument_of(const CommandDescription& command) {
  const auto found = std::ranges::find_if(command.options, &OptionDescription::is_argument);
  return found == command.options.end() ? nullptr : &*found;
}

Words argument_words(const CommandDescription& command) {
  const OptionDescription* argument = argument_of(command);
  return argument == nullptr ? Words::unknown : words_of(*argument);
}

/// The patterns "collbench topo diff:--format" of a bash `case` and what it does for them.
std::string bash_values(const CommandDescription& root) {
  std::string text;
  for_each_command(root, [&text](const CommandDescription& command) {
    for (const OptionDescription& option : command.options) {
      if (option.is_argument || option.value.empty()) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : option.names) patterns.push_back(quoted(command.name + ":" + name));
      const Words words = words_of(option);
      const std::string choices = quoted(fmt::format("{}", fmt::join(option.choices, " ")));
      std::string action = "return";
      if (words == Words::choices) action = "_collbench_words " + choices + "; return";
      if (words == Words::list_of_choices) action = "_collbench_list " + choices + "; return";
      if (words == Words::machines) action = "_collbench_words \"$machines\"; compopt -o default; return";
      if (words == Words::files) action = "compopt -o default; return";
      text += fmt::format("    {}) {} ;;\n", fmt::join(patterns, " | "), action);
    }
  });
  return text;
}

std::string bash_commands(const CommandDescription& root) {
  std::string text;
  for_each_command(root, [&text](const CommandDescription& command) {
    const Words argument = argument_words(command);
    std::string also = argument == Words::machines ? " $machines" : "";
    if (argument == Words::choices) also = fmt::format("{}", fmt::join(argument_of(command)->choices, " "));
    const bool has_files = argument == Words::machines || argument == Words::files;
    text += fmt::format("    {}) options={} words=\"{}{}\"{} ;;\n", quoted(command.name),
                        quoted(fmt::format("{}", fmt::join(option_words(command), " "))),
                        fmt::join(command_words(command), " "), also, has_files ? " files=yes" : "");
  });
  return text;
}

std::string bash_steps(const CommandDescription& root) {
  std::vector<std::string> names;
  for_each_command(root,
                   [&names](const CommandDescription& command) { names.push_back(quoted(command.name)); });
  return fmt::format("{}", fmt::join(names, " | "));
}

std::string bash_script(const CommandDescription& root, const std::vector<std::string>& machines) {
  return fmt::format(R"(# Completion of collbench for bash; written by: collbench completion bash
_collbench_words() {{
  local word
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -W "$1" -- "$current")
}}

# The last part of a list that commas divide.
_collbench_list() {{
  local before=""
  [[ $current == *,* ]] && before=${{current%,*}},
  local word
  while IFS= read -r word; do COMPREPLY+=("$before$word"); done < <(compgen -W "$1" -- "${{current##*,}}")
  compopt -o nospace
}}

_collbench() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}}
  local command=collbench options="" words="" files="" word at
  local machines={machines}
  COMPREPLY=()
  for ((at = 1; at < COMP_CWORD; at++)); do
    word=${{COMP_WORDS[at]}}
    # What follows is another program's.
    if [[ $word == -- ]]; then compopt -o default; return; fi
    case "$command $word" in
      {steps}) command="$command $word" ;;
    esac
  done
  case "$command:$previous" in
{values}  esac
  case $command in
{commands}  esac
  if [[ $current == -* ]]; then
    _collbench_words "$options"
    return
  fi
  _collbench_words "$words"
  [[ -n $files ]] && compopt -o default
  return 0
}}

complete -F _collbench collbench
)",
                     fmt::arg("machines", quoted(fmt::format("{}", fmt::join(machines, " ")))),
                     fmt::arg("steps", bash_steps(root)), fmt::arg("values", bash_values(root)),
                     fmt::arg("commands", bash_commands(root)));
}

/// Text in an item of _arguments or _describe.
std::string zsh_text(const std::string& text) {
  std::string safe;
  for (const char letter : short_help(text)) {
    if (std::string_view("[]:\\'`$\"").find(letter) == std::string_view::npos) safe += letter;
  }
  return safe;
}

std::string zsh_action(const OptionDescription& option) {
  switch (words_of(option)) {
    case Words::choices:
      return fmt::format("({})", fmt::join(option.choices, " "));
    case Words::list_of_choices:
      return fmt::format("_values -s , {} {}", zsh_text(option.value), fmt::join(option.choices, " "));
    case Words::machines:
      return "_collbench_machines";
    case Words::files:
      return "_files";
    case Words::unknown:
      break;
  }
  return " ";
}

std::string zsh_function(const CommandDescription& command) {
  std::string items;
  for (const OptionDescription& option : command.options) {
    if (option.is_argument) continue;
    const std::string value =
        option.value.empty() ? "" : fmt::format(":{}:{}", zsh_text(option.value), zsh_action(option));
    for (const std::string& name : option.names)
      items += fmt::format("    '*{}[{}]{}' \\\n", name, zsh_text(option.help), value);
  }
  std::string name = command.name;
  std::ranges::replace(name, ' ', '_');
  if (command.commands.empty()) {
    const OptionDescription* argument = argument_of(command);
    const std::string action = argument == nullptr ? " " : zsh_action(*argument);
    return fmt::format("_{}() {{\n  _arguments \\\n{}    '*:argument:{}'\n}}\n\n", name, items, action);
  }
  std::string described;
  std::string cases;
  for (const CommandDescription& each : command.commands) {
    std::string function = each.name;
    std::ranges::replace(function, ' ', '_');
    described += fmt::format("    '{}:{}'\n", last_word(each.name), zsh_text(each.help));
    cases += fmt::format("      {}) _{} ;;\n", last_word(each.name), function);
  }
  return fmt::format(R"(_{name}() {{
  local line state
  local -a commands
  commands=(
{described}  )
  _arguments -C \
{items}    '1: :->command' '*:: :->rest'
  case $state in
    command) _describe -t commands command commands {files};;
    rest) case $line[1] in
{cases}    esac ;;
  esac
}}

)",
                     fmt::arg("name", name), fmt::arg("described", described), fmt::arg("items", items),
                     fmt::arg("files", argument_words(command) == Words::files ? "|| _files " : ""),
                     fmt::arg("cases", cases));
}

std::string zsh_script(const CommandDescription& root, const std::vector<std::string>& machines) {
  std::string text =
      "#compdef collbench\n# Completion of collbench for zsh; written by: collbench completion zsh\n";
  text += fmt::format("_collbench_machines() {{\n  compadd {}\n  _files\n}}\n\n", fmt::join(machines, " "));
  for_each_command(root, [&text](const CommandDescription& command) { text += zsh_function(command); });
  return text +
         "if [[ $funcstack[1] == _collbench ]]; then _collbench \"$@\"; else compdef _collbench collbench; "
         "fi\n";
}

/// Whether the words so far lead to `command` and to none below it.
std::string fish_condition(const CommandDescription& command) {
  return quoted("__collbench_is \"" + command.name + "\"");
}

std::string fish_option(const CommandDescription& command, const OptionDescription& option,
                        const std::string& machines) {
  std::string line = "complete -c collbench -n " + fish_condition(command);
  if (option.is_argument) {
    const Words words = words_of(option);
    if (words == Words::machines) return line + " -F -a " + machines + "\n";
    if (words == Words::choices)
      return line + " -a " + quoted(fmt::format("{}", fmt::join(option.choices, " "))) + "\n";
    return words == Words::files ? line + " -F\n" : "";
  }
  for (const std::string& name : option.names)
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!option.value.empty()) {
    const Words words = words_of(option);
    const bool has_files = words == Words::machines || words == Words::files;
    line += has_files ? " -r -F" : " -x";
    if (words == Words::machines) line += " -a " + machines;
    if (words == Words::choices) line += " -a " + quoted(fmt::format("{}", fmt::join(option.choices, " ")));
    if (words == Words::list_of_choices)
      line += " -a " + quoted(fmt::format("(__fish_append , {})", fmt::join(option.choices, " ")));
  }
  return line + " -d " + quoted(short_help(option.help)) + "\n";
}

std::string fish_script(const CommandDescription& root, const std::vector<std::string>& machines) {
  const std::string names = quoted(fmt::format("{}", fmt::join(machines, " ")));
  std::string known;
  std::string lines;
  for_each_command(root, [&](const CommandDescription& command) {
    known += " " + quoted(command.name);
    for (const OptionDescription& option : command.options) lines += fish_option(command, option, names);
    for (const CommandDescription& each : command.commands)
      lines += fmt::format("complete -c collbench -n {} -a {} -d {}\n", fish_condition(command),
                           last_word(each.name), quoted(short_help(each.help)));
  });
  return fmt::format(R"(# Completion of collbench for fish; written by: collbench completion fish
function __collbench_is --description 'Whether the words so far name this command'
  set -l command collbench
  set -l known{known}
  for word in (commandline -opc)[2..-1]
    contains -- "$command $word" $known; and set command "$command $word"
  end
  test "$command" = "$argv[1]"
end

complete -c collbench -f
{lines})",
                     fmt::arg("known", known), fmt::arg("lines", lines));
}

}  // namespace

const std::vector<CompletionShell>& completion_shells() {
  static const std::vector<CompletionShell> shells{
      {"bash", bash_script},
      {"zsh", zsh_script},
      {"fish", fish_script},
  };
  return shells;
}

}  // namespace collbench::program
