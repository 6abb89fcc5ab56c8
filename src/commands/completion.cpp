#include "src/cli/completion.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "src/cli/command_description.hpp"
#include "src/cli/options.hpp"
#include "src/commands/registry.hpp"

namespace collbench::program {
namespace {

std::vector<std::string> shell_names() {
  std::vector<std::string> names;
  for (const CompletionShell& each : completion_shells()) names.emplace_back(each.name);
  return names;
}

CommandResult completion(const std::string& shell) {
  const std::string name = parse_name(shell, "collbench completion", shell_names());
  return {std::ranges::find(completion_shells(), name, &CompletionShell::name)->script, ExitStatus::ok,
          false};
}

void add_completion(CLI::App& command, CommandFunction& chosen) {
  const auto shell = std::make_shared<std::string>();
  CLI::Option* option =
      command.add_option("shell", *shell, "bash, zsh or fish")->required()->option_text("SHELL");
  set_choices(*option, shell_names());
  command.callback([shell, &chosen] { chosen = [shell] { return completion(*shell); }; });
}

}  // namespace

Subcommand completion_subcommand() {
  return {"completion", "completes commands in a shell: source <(collbench completion bash)", "",
          add_completion};
}

}  // namespace collbench::program
