#pragma once
#include <CLI/CLI.hpp>

#include "src/options/run_options.hpp"

namespace collbench::program {

/// Adds the options of a run; parsing fills `run`, which must outlive `app`.
void add_measure_options(CLI::App& app, RunOptions& run);

/// What follows from several options together, once all are parsed.
void complete_measure_options(const CLI::App& app, RunOptions& run);

}  // namespace collbench::program
