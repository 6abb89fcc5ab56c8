#include "src/tool_main.hpp"

#include <string>
#include <vector>

#include "launch/launcher.hpp"
#include "src/cli/command_description.hpp"
#include "src/cli/library_path.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/cli/tools.hpp"
#include "src/cli/version.hpp"
#include "src/command_line.hpp"

namespace collbench::program {

int tool_main(const char* name, void (*add)(CLI::App& command, CommandFunction& chosen), int argc,
              char** argv) {
  reserve_standard_streams();
  const bool reports = launch::launched_rank().value_or(0) == 0;
  try {
    leave_out_current_directory(argv, reports);
    const Tool& known = tool_named(name);
    const Subcommand tool{known.name, known.help, known.example, add};
    const std::vector<std::string> words(argv + 1, argv + argc);
    const std::string only = words.size() == 1 ? words.front() : "";
    if (only == kDescribeTool)
      return finish_command([&] {
        return CommandResult{command_description_to_json(describe_tool(tool)), ExitStatus::ok, false};
      });
    const CommandFunction command = only == "--version" || only == "-V"
                                        ? [] { return CommandResult{version_text()}; }
                                        : parse_tool_line(tool, words);
    return reports ? finish_command(command) : 0;
  } catch (const std::exception& failure) {
    return report_failure(failure, reports);
  }
}

}  // namespace collbench::program
