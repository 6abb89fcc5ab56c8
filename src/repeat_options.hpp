#pragma once
#include <CLI/CLI.hpp>

#include "src/repeat_command.hpp"

namespace collbench {

/// Adds the subcommand "repeat"; parsing fills `repeat`, which must outlive `app`.
void add_repeat_command(CLI::App& app, RepeatOptions& repeat);

}  // namespace collbench
