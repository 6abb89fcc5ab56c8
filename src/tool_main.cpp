#include "src/tool_main.hpp"

#include <string>
#include <vector>

#include "launch/launcher.hpp"
#include "src/cli/command_description.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/cli/tools.hpp"
#include "src/cli/version.hpp"
#include "src/command_line.hpp"

namespace collbench::program {

int tool_main(const Subcommand& tool, int argc, char** argv) {
  reserve_standard_streams();
  const bool reports = launch::launched_rank().value_or(0) == 0;
  try {
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (words == std::vector<std::string>{"--version"} || words == std::vector<std::string>{"-V"}) {
      print_text(version_text());
      return 0;
    }
    if (words == std::vector<std::string>{kDescribeTool}) {
      print_all(command_description_to_json(describe_tool(tool)));
      return 0;
    }
    const CommandFunction command = parse_tool_line(tool, words);
    return reports ? finish_command(command) : 0;
  } catch (const std::exception& failure) {
    return report_failure(failure, reports);
  }
}

}  // namespace collbench::program
