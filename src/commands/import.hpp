#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "analysis/import/import_log.hpp"
#include "src/cli/output.hpp"
#include "src/options/run_options.hpp"
#include "src/run/lab01.hpp"

namespace collbench::program {

/// `collbench import LOG...`.
struct ImportCommand {
  std::vector<std::string> logs;
  analysis::ImportOptions options;
  std::string record_path;  ///< -o; empty: the tables go to stdout
  bool overwrite = false;
  std::string format = "text";
  When colour = When::automatic;
  Lab01Request lab01;
};

/// Writes the record, or returns the logs' tables in `format`; status low when a log is judged LOW or a
/// FAULT. Throws Error (usage) for a log that cannot be read as a run, for a topology that is none or has
/// fewer GPUs than a node has ranks, and for files.
[[nodiscard]] Answer import_command(const ImportCommand& command);

/// Adds the subcommand "import", which fills `command`.
void add_import_command(CLI::App& app, ImportCommand& command);

}  // namespace collbench::program
