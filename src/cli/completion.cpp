#include "src/cli/completion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "topology/machines/reference_machines.hpp"

namespace collbench::program {
namespace {

constexpr const char* kBash = R"(# Completion of collbench for bash; written by: collbench completion bash
_collbench() {
  local line current=${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :files) compopt -o default ;;
      :list) compopt -o nospace ;;
      *) COMPREPLY+=("${line%%$'\t'*}") ;;
    esac
  done < <("${COMP_WORDS[0]/#\~/$HOME}" __offers "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _collbench collbench
)";

constexpr const char* kZsh = R"(#compdef collbench
# Completion of collbench for zsh; written by: collbench completion zsh
_collbench() {
  local line files none=1
  local -a offered more
  while IFS= read -r line; do
    case $line in
      (:files) files=yes ;;
      (:list) more=(-S '') ;;
      (*) offered+=("${${line//:/\\:}/$'\t'/:}") ;;
    esac
  done < <("${words[1]/#\~/$HOME}" __offers "${(@Q)words[2,CURRENT]}" 2>/dev/null)
  (( $#offered )) && _describe word offered $more && none=0
  [[ -n $files ]] && _files && none=0
  return none
}
if [[ $funcstack[1] == _collbench ]]; then _collbench "$@"; else compdef _collbench collbench; fi
)";

constexpr const char* kFish = R"(# Completion of collbench for fish; written by: collbench completion fish
function __collbench_offers --description 'What may stand for the word that is typed'
  set -l words (commandline -opc) (commandline -ct)
  command $words[1] __offers $words[2..-1] 2>/dev/null
end
complete -c collbench -f -a '(__collbench_offers | string match -v ":*")'
complete -c collbench -n '__collbench_offers | string match -q ":files"' -F
)";

/// What may stand in one place.
struct Offers {
  std::vector<std::string> lines{};
  bool files = false;
  bool list = false;
};

bool holds_any(const std::string& value, const std::vector<const char*>& words) {
  return std::ranges::any_of(words,
                             [&value](const char* word) { return value.find(word) != std::string::npos; });
}

/// The help's first clause, which is enough in a menu.
std::string short_help(const std::string& help) { return help.substr(0, help.find_first_of(";:\n(")); }

Offers values_of(const OptionDescription& option) {
  if (!option.choices.empty()) return {.lines = option.choices, .list = option.value == "LIST"};
  const std::string& value = option.is_argument && option.value.empty() ? option.names.front() : option.value;
  if (holds_any(value, {"MACHINE"}) || option.names.front() == "--topology") {
    Offers offers{.lines = {"live"}, .files = true};
    for (const topology::ReferenceMachine& each : topology::reference_machines())
      offers.lines.emplace_back(each.name);
    return offers;
  }
  return {.files = option.is_argument || holds_any(value, {"FILE", "FOLDER", "DIR"})};
}

const CommandDescription& command_of(const CommandDescription& root, const std::vector<std::string>& words) {
  const CommandDescription* command = &root;
  for (const std::string& word : words) {
    const auto below = std::ranges::find(command->commands, fmt::format("{} {}", command->name, word),
                                         &CommandDescription::name);
    if (below != command->commands.end()) command = &*below;
  }
  return *command;
}

/// Null where the command has no option of that name, and where it takes no value.
const OptionDescription* option_with_value(const CommandDescription& command, std::string_view name) {
  const auto found = std::ranges::find_if(command.options, [name](const OptionDescription& each) {
    return !each.is_argument && !each.value.empty() &&
           std::ranges::find(each.names, name) != each.names.end();
  });
  return found == command.options.end() ? nullptr : &*found;
}

Offers options_of(const CommandDescription& command) {
  Offers offers;
  for (const OptionDescription& each : command.options) {
    if (each.is_argument) continue;
    for (const std::string& name : each.names)
      offers.lines.push_back(fmt::format("{}\t{}", name, short_help(each.help)));
  }
  return offers;
}

/// The commands below, and what the first argument may be.
Offers arguments_of(const CommandDescription& command) {
  const auto argument = std::ranges::find_if(command.options, &OptionDescription::is_argument);
  Offers offers = argument == command.options.end() ? Offers{} : values_of(*argument);
  for (const CommandDescription& each : command.commands)
    offers.lines.push_back(
        fmt::format("{}\t{}", each.name.substr(each.name.rfind(' ') + 1), short_help(each.help)));
  return offers;
}

/// Of the offers those that begin with what is typed, behind `before`, which is typed already.
std::string matching(const Offers& offers, std::string_view before, std::string_view typed) {
  std::string text;
  for (const std::string& each : offers.lines)
    if (each.starts_with(typed)) text += fmt::format("{}{}\n", before, each);
  return text + (offers.files ? ":files\n" : "") + (offers.list ? ":list\n" : "");
}

}  // namespace

const std::vector<CompletionShell>& completion_shells() {
  static const std::vector<CompletionShell> shells{{"bash", kBash}, {"zsh", kZsh}, {"fish", kFish}};
  return shells;
}

std::string offers(const CommandDescription& root, const std::vector<std::string>& words) {
  if (words.empty()) return {};
  // What follows is another program's.
  if (std::find(words.begin(), words.end() - 1, "--") != words.end() - 1) return ":files\n";
  const CommandDescription& command = command_of(root, {words.begin(), words.end() - 1});
  const std::string_view typed = words.back();
  const OptionDescription* option =
      words.size() > 1 ? option_with_value(command, words[words.size() - 2]) : nullptr;
  std::size_t begin = 0;  // of the value
  if (const std::size_t equals = typed.find('='); option == nullptr && equals != std::string_view::npos) {
    option = option_with_value(command, typed.substr(0, equals));
    begin = equals + 1;
  }
  if (option != nullptr) {
    const Offers values = values_of(*option);
    if (values.list && typed.rfind(',') != std::string_view::npos) begin = typed.rfind(',') + 1;
    return matching(values, typed.substr(0, begin), typed.substr(begin));
  }
  return matching(typed.starts_with('-') ? options_of(command) : arguments_of(command), "", typed);
}

}  // namespace collbench::program
