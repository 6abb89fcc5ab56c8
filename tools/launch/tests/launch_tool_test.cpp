#include "src/tool_main.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "src/command_line.hpp"

namespace collbench::program {
namespace {

std::string refusal(std::vector<std::string> words) {
  try {
    static_cast<void>(parse_tool_line({"launch", "", "", add_tool}, std::move(words)));
  } catch (const Error& error) {
    return describe(error);
  }
  return "taken";
}

TEST(LaunchTool, OptionsOfARunStandBehindDashes) {
  EXPECT_EQ(
      refusal({"--nodes", "2", "--ops", "all_reduce"}),
      "collbench: unknown option --ops of collbench launch; it is one of collbench itself: put it behind "
      "--, collbench launch ... -- --ops ...");
  EXPECT_EQ(refusal({"--nodes", "2", "--", "--opps", "all_reduce"}),
            "collbench: unknown option --opps; did you mean --ops? (see collbench help run)");
  EXPECT_EQ(refusal({"--nodes", "2", "--", "--ops", "all_reduce"}), "taken");
}

TEST(LaunchTool, SaysAllThatItTakes) {
  const CommandDescription said = describe_tool({"launch", "a help", "", add_tool});
  EXPECT_EQ(said.name, "collbench launch");
  const auto read = command_description_from_json(command_description_to_json(said));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(command_description_to_json(*read), command_description_to_json(said));
  EXPECT_EQ(read->options.size(), said.options.size());
  for (const char* other : {"", "{}", "[1]", R"({"name": 1})"})
    EXPECT_FALSE(command_description_from_json(other).has_value()) << other;
}

}  // namespace
}  // namespace collbench::program
