#pragma once
#include <CLI/CLI.hpp>

#include "src/predict_command.hpp"

namespace collbench {

/// Adds the subcommand "predict"; parsing fills `predict`, which must outlive `app`.
void add_predict_command(CLI::App& app, PredictOptions& predict);

}  // namespace collbench
