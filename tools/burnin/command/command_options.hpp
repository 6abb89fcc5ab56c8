#pragma once
#include <CLI/App.hpp>
#include <memory>

#include "tools/burnin/command/options.hpp"

namespace collbench::program {

/// The options of `collbench burnin`, which fill `options` while the command line is parsed.
void add_burnin_options(CLI::App& command, const std::shared_ptr<BurninOptions>& options);

}  // namespace collbench::program
