#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "src/options/run_options.hpp"
#include "src/run/lab01.hpp"

namespace collbench::program {

/// `collbench report RECORD`.
struct ReportOptions {
  std::string record;  ///< "-": stdin
  std::string format = "text";
  When colour = When::automatic;
  Lab01Request lab01;
};

/// A saved record as tables. Throws Error (usage) for a file that is none.
[[nodiscard]] std::string report_command(const ReportOptions& options);

/// Adds the subcommand "report"; parsing fills `report`, which must outlive `app`.
void add_report_command(CLI::App& app, ReportOptions& report);

}  // namespace collbench::program
