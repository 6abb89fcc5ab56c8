#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "src/cli/output.hpp"
#include "src/options/run_options.hpp"

namespace collbench::program {

/// `collbench repeat -- mpirun -np 16 collbench …`
struct RepeatOptions {
  std::vector<std::string> command;  ///< of one launch, without -J
  int max_launches = 30;
  double precision = 0.05;       ///< wanted half-width of every row's interval, as a fraction of its time
  double every_seconds = 0;      ///< from the start of a launch to the next one's, at least
  double launch_seconds = 1800;  ///< after which a launch is taken to hang
  std::string record_path;       ///< -J; empty: none
  bool resume = false;           ///< the launches beside record_path count
  bool overwrite = false;
  std::string format = "text";
  When colour = When::automatic;
  When progress = When::automatic;
};

/// Launches until the intervals over launches are tight enough, and reports all launches as one run. Exit
/// statuses are those of a run, whatever the launcher makes of them. Throws Error.
[[nodiscard]] Answer repeat_command(const RepeatOptions& options);

/// Adds the subcommand "repeat"; parsing fills `repeat`, which must outlive `app`.
void add_repeat_command(CLI::App& app, RepeatOptions& repeat);

}  // namespace collbench::program
