#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "src/cli/output.hpp"
#include "src/options/run_options.hpp"

namespace collbench::program {

/// `collbench judge RECORD`.
struct JudgeOptions {
  std::string record;
  std::string topology;
  std::string transport;   ///< empty: what the log tells, else what the NICs are made for
  bool own_floor = false;  ///< the record's own time at 1 KiB or less takes the place of the modelled floor
  std::string format = "text";
  When colour = When::automatic;
};

/// A saved or imported run on GPUs, judged by a topology; status low when a sweep is LOW or a FAULT. Throws
/// Error (usage) for a record or topology that does not fit.
[[nodiscard]] Answer judge_command(const JudgeOptions& options);

/// Adds the subcommand "judge"; parsing fills `judge`, which must outlive `app`.
void add_judge_command(CLI::App& app, JudgeOptions& judge);

}  // namespace collbench::program
