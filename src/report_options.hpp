#pragma once
#include <CLI/CLI.hpp>

#include "src/report_command.hpp"

namespace collbench {

/// Adds the subcommand "report"; parsing fills `report`, which must outlive `app`.
void add_report_command(CLI::App& app, ReportOptions& report);

}  // namespace collbench
