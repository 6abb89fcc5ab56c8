#include <exception>
#include <variant>

#include "launch/launcher.hpp"
#include "src/cli/library_path.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/cli/tools.hpp"
#include "src/command_line.hpp"
#include "src/run/start.hpp"

int main(int argc, char** argv) {
  using namespace collbench;
  using namespace collbench::program;
  reserve_standard_streams();
  const bool reports = launch::launched_rank().value_or(0) == 0;
  try {
    leave_out_current_directory(argv, reports);
    become_tool(argc, argv, reports);
    Command command = parse_command_line(argc, argv);
    if (auto* run = std::get_if<RunOptions>(&command)) {
      run->environment = launch::recorded_environment();
      find_launch(*run);
      start_log(run->verbose && (run->rendezvous ? run->rendezvous->rank == 0 : reports));
      return start_run(*run, argc, argv);
    }
    if (!reports) return 0;
    return finish_command(std::get<CommandFunction>(command));
  } catch (const std::exception& failure) {
    return report_failure(failure, reports);
  }
}
