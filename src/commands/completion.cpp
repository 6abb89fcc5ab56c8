#include "src/cli/completion.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "src/cli/command_description.hpp"
#include "src/cli/options.hpp"
#include "src/cli/tools.hpp"
#include "src/commands/registry.hpp"
#include "topology/machines/reference_machines.hpp"

namespace collbench::program {
namespace {

std::vector<std::string> shell_names() {
  std::vector<std::string> names;
  for (const CompletionShell& each : completion_shells()) names.emplace_back(each.name);
  return names;
}

CommandResult completion(const CommandDescription& root, const std::string& shell) {
  std::vector<std::string> machines{"live"};
  for (const topology::ReferenceMachine& each : topology::reference_machines())
    machines.emplace_back(each.name);
  const std::string name = parse_name(shell, "collbench completion", shell_names());
  const auto& shells = completion_shells();
  const auto found = std::ranges::find(shells, name, &CompletionShell::name);
  CommandResult result{found->script(root, machines)};
  result.is_for_a_person = false;
  return result;
}

void add_completion(CLI::App& command, CommandFunction& chosen) {
  const auto shell = std::make_shared<std::string>();
  CLI::Option* option =
      command.add_option("shell", *shell, "bash, zsh or fish")->required()->option_text("SHELL");
  set_choices(*option, shell_names());
  command.callback([&command, shell, &chosen] {
    chosen = [root = with_tools(describe_command(*command.get_parent())), shell] {
      return completion(root, *shell);
    };
  });
}

}  // namespace

Subcommand completion_subcommand() {
  return {"completion", "completes commands in a shell: source <(collbench completion bash)", "",
          add_completion};
}

}  // namespace collbench::program
