#pragma once
#include <CLI/CLI.hpp>

#include "base/error.hpp"
#include "src/options/run_options.hpp"

namespace collbench::program {

/// Adds --config FILE, which CLI11 reads: TOML whose keys are the long names of a run's options, after all of
/// which this is called. What stands on the command line wins. A key that is unknown, or there twice, is
/// refused with its line: Error (usage). Fills run.config_path and run.config_text.
void add_config_option(CLI::App& app, RunOptions& run);

/// `error` about an option's value, with the file and line in front when the value came from --config.
[[nodiscard]] Error with_config_line(const CLI::App& app, const RunOptions& run, const Error& error);

}  // namespace collbench::program
