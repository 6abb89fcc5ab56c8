#pragma once
#include <CLI/CLI.hpp>

#include "src/import_command.hpp"

namespace collbench {

/// Adds the subcommand "import", which fills `command`.
void add_import_command(CLI::App& app, ImportCommand& command);

}  // namespace collbench
