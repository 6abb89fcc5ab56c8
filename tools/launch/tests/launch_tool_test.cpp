#include "src/tool_main.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "src/command_line.hpp"

namespace collbench::program {
namespace {

using testing::HasSubstr;

std::string refusal(std::vector<std::string> words) {
  try {
    const CommandFunction command = parse_tool_line({"launch", "", "", add_tool}, std::move(words));
    static_cast<void>(command());
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

std::string printed(std::vector<std::string> words) {
  return parse_tool_line({"launch", "", "", add_tool}, std::move(words))().text;
}

TEST(LaunchTool, TheJobLastsAsLongAsTheRun) {
  const auto slurm = [](std::vector<std::string> words) {
    std::vector<std::string> all{"--slurm", "--gpus-per-node", "8"};
    all.insert(all.end(), words.begin(), words.end());
    return all;
  };
  EXPECT_THAT(printed(slurm({})), HasSubstr("--time=10 "));
  EXPECT_THAT(printed(slurm({"--", "--time", "120"})), HasSubstr("--time=10 "));
  EXPECT_THAT(printed(slurm({"--", "--time", "1200"})), HasSubstr("--time=25 ")) << "20 min and the start";
  EXPECT_THAT(printed(slurm({"--", "--time=1201"})), HasSubstr("--time=26 "));
  EXPECT_THAT(printed(slurm({"--", "--soak", "20"})), HasSubstr("--time=25 "));
  EXPECT_THAT(printed(slurm({"--", "--accept"})), HasSubstr("--time=11 "));
  EXPECT_THAT(printed(slurm({"--", "--accept", "--no-stress"})), HasSubstr("--time=10 "));
  EXPECT_THAT(printed(slurm({"--", "--accept", "--time", "600"})), HasSubstr("--time=19 "));
  EXPECT_THAT(printed(slurm({"--minutes", "20", "--", "--time", "1200"})), HasSubstr("--time=20 "));
  EXPECT_EQ(
      refusal(slurm({"--minutes", "2", "--", "--time", "300"})),
      "collbench: --minutes: the job would end after 2 min, and --time 300 alone takes 5 min; give --minutes "
      "10, or leave it out");
}

TEST(LaunchTool, WhatOnlyGpusAnswerIsNotStartedOnHostMemory) {
  EXPECT_EQ(refusal({"--", "--expect", "hgx-h100", "--accept"}),
            "collbench: --accept: without --gpus-per-node the command starts ranks on host memory; add "
            "--gpus-per-node 8, or as many GPUs as a node has");
  EXPECT_THAT(refusal({"--", "--backend", "nccl"}), HasSubstr("--backend nccl: without --gpus-per-node"));
  EXPECT_EQ(refusal({"--gpus-per-node", "8", "--", "--accept", "--backend=nccl"}), "taken");
  EXPECT_EQ(refusal({"--", "--backend", "mpi"}), "taken");
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
