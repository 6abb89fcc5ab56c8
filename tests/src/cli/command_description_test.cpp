#include "src/cli/command_description.hpp"

#include <gmock/gmock.h>

#include <CLI/CLI.hpp>

namespace collbench::program::command_description_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(DescribeCommand, HasWhatTheHelpHas) {
  CLI::App app{"Does things.\n  tool now", "tool"};
  std::string file;
  std::string how;
  bool loud = false;
  std::string hidden;
  app.add_option("record", file, "what to read")->required();
  app.add_flag("-l,--loud", loud, "says more")->group("Output");
  set_choices(*app.add_option("--how", how, "fast or slow")->group("Output")->option_text("HOW"),
              {"fast", "slow"});
  app.add_option("--secret", hidden, "not in the help")->group("");
  app.add_subcommand("sub", "does less")->add_subcommand("leaf", "does least");

  const CommandDescription tool = describe_command(app);
  EXPECT_EQ(tool.name, "tool");
  EXPECT_EQ(tool.help, "Does things.\n  tool now");
  ASSERT_EQ(tool.options.size(), 4);  // with --help
  const auto named = [&tool](const std::string& name) {
    for (const OptionDescription& each : tool.options) {
      if (each.names.back() == name) return each;
    }
    ADD_FAILURE() << name;
    return OptionDescription{};
  };
  EXPECT_TRUE(named("record").is_argument);
  EXPECT_THAT(named("--loud").names, ElementsAre("-l", "--loud"));
  EXPECT_EQ(named("--loud").value, "");
  EXPECT_EQ(named("--how").value, "HOW");
  EXPECT_EQ(named("--how").theme, "Output");
  EXPECT_THAT(named("--how").choices, ElementsAre("fast", "slow"));
  EXPECT_THAT(named("record").choices, IsEmpty());
  ASSERT_EQ(tool.commands.size(), 1);
  EXPECT_EQ(tool.commands[0].name, "tool sub");
  EXPECT_EQ(tool.commands[0].commands[0].name, "tool sub leaf");
}

}  // namespace
}  // namespace collbench::program::command_description_test
