#include "src/command_line.hpp"

#include <gmock/gmock.h>

#include <string>
#include <variant>
#include <vector>

#include "base/error.hpp"

namespace collbench::program::command_line_test {
namespace {

using testing::HasSubstr;

Command parse(std::vector<const char*> words) {
  words.insert(words.begin(), "collbench");
  return parse_command_line(static_cast<int>(words.size()), words.data());
}

std::string printed(const std::vector<const char*>& words) {
  const CommandResult result = std::get<CommandFunction>(parse(words))();
  EXPECT_EQ(result.status, ExitStatus::ok);
  return result.text;
}

std::string refusal(const std::vector<const char*>& words) {
  try {
    static_cast<void>(parse(words));
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::usage);
    return describe(error);
  }
  return "taken";
}

TEST(CommandLine, IsARunWithoutASubcommand) {
  const Command command = parse({"--ops", "all_reduce", "-n", "3"});
  const RunOptions& run = std::get<RunOptions>(command);
  EXPECT_EQ(run.request.operations, std::vector<OperationId>{OperationId::all_reduce});
  EXPECT_EQ(run.loop.fixed.iterations, 3U);
  EXPECT_FALSE(run.blocks_have_timeout);
}

TEST(CommandLine, HelpHasEverySubcommandOnce) {
  const std::string help = printed({"--help"});
  for (const Subcommand& each : subcommands()) {
    EXPECT_THAT(help, HasSubstr(std::string("\n  ") + each.example + "\n")) << each.name;
    EXPECT_THAT(help, HasSubstr(std::string("\n  ") + each.name + " ")) << each.name;
    EXPECT_THAT(printed({each.name, "--help"}), HasSubstr(std::string("Usage: collbench ") + each.name));
  }
  EXPECT_THAT(help, HasSubstr("70 bug in collbench"));
}

TEST(CommandLine, RunsTheSubcommandThatStandsThere) {
  EXPECT_THAT(printed({"topo", "list"}), HasSubstr("hgx-h100"));
  EXPECT_THAT(printed({"predict", "--topology", "hgx-h100", "--ops", "all_reduce", "--sizes", "1G"}),
              HasSubstr("AllReduce"));
}

TEST(CommandLine, NamesWhatIsWrong) {
  EXPECT_THAT(refusal({"--frobnicate"}), HasSubstr("see collbench --help"));
  EXPECT_THAT(refusal({"topo"}), HasSubstr("see collbench topo --help"));
  EXPECT_THAT(refusal({"topo", "diff"}), HasSubstr("see collbench topo diff --help"));
  EXPECT_EQ(refusal({"--time", "0"}), "collbench: --time: 0 is out of range; 0.1 to 10000000 seconds");
}

}  // namespace
}  // namespace collbench::program::command_line_test
