#pragma once
#include "src/import_command.hpp"

namespace CLI {
class App;
}

namespace collbench {

/// Adds the subcommand "import", which fills `command`.
void add_import_command(CLI::App& app, ImportCommand& command);

}  // namespace collbench
