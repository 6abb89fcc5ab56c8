#pragma once
#include <CLI/CLI.hpp>

#include "src/judge_command.hpp"

namespace collbench {

/// Adds the subcommand "judge"; parsing fills `judge`, which must outlive `app`.
void add_judge_command(CLI::App& app, JudgeOptions& judge);

}  // namespace collbench
