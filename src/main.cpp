#include <unistd.h>

#include <cstdio>
#include <exception>
#include <variant>

#include "base/text_sinks.hpp"
#include "collectives/nccl/probe/gpu_team.hpp"
#include "launch/launcher.hpp"
#include "src/cli/library_path.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/cli/tools.hpp"
#include "src/command_line.hpp"
#include "src/run/start.hpp"

namespace {

/// The status to end with; ends at once where the handlers that libraries left may never return.
int ended(int status) {
  if (!collbench::collectives::has_stuck_gpu()) return status;
  std::fflush(nullptr);
  ::_exit(status);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace collbench;
  using namespace collbench::program;
  reserve_standard_streams();
  const bool reports = launch::launched_rank().value_or(0) == 0;
  try {
    leave_out_current_directory(argv, reports);
    become_tool(argc, argv);
    Command command = parse_command_line(argc, argv);
    if (auto* run = std::get_if<RunOptions>(&command)) {
      run->environment = launch::recorded_environment();
      run->launched = launch::launched_rank().has_value();
      run->launched_ranks = launch::launched_size();
      start_log(run->verbose && reports);
      return start_run(*run, argc, argv);
    }
    if (!reports) return 0;
    return ended(finish_command(std::get<CommandFunction>(command)));
  } catch (const std::exception& failure) {
    return ended(report_failure(failure, reports));
  }
}
