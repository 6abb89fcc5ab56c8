#include "src/commands/subcommands.hpp"

#include <CLI/CLI.hpp>

namespace collbench::program {

// The one list: a new subcommand is its file, a declaration in the header and a line here.
std::vector<Subcommand> subcommands() {
  return {
      repeat_subcommand(), report_subcommand(),  topo_subcommand(),
      import_subcommand(), predict_subcommand(), judge_subcommand(),
  };
}

void add_subcommands(CLI::App& app, const std::vector<Subcommand>& subcommands, CommandFunction& chosen) {
  for (const Subcommand& each : subcommands) each.add(*app.add_subcommand(each.name, each.help), chosen);
}

}  // namespace collbench::program
