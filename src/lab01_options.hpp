#pragma once
#include <CLI/CLI.hpp>

#include "src/run_options.hpp"

namespace collbench {

/// Adds --preset lab01 and --price to a command, which fill `request`.
void add_lab01_options(CLI::App& command, const std::string& theme, Lab01Request& request);

}  // namespace collbench
