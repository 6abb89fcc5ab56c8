#include "src/command_line.hpp"

#include <gmock/gmock.h>

#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "src/cli/tools.hpp"

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
  const auto& run = std::get<RunOptions>(command);
  EXPECT_EQ(run.request.operations, std::vector<OperationId>{OperationId::all_reduce});
  EXPECT_EQ(run.loop.fixed.iterations, 3U);
  EXPECT_FALSE(run.blocks_have_timeout);
}

TEST(CommandLine, OnHostMemoryARunEndsAfterAMinuteUnlessTimeSaysOtherwise) {
  const Command plain = parse({});
  EXPECT_EQ(run_seconds(std::get<RunOptions>(plain), collectives::MemoryKind::host), 60);
  EXPECT_EQ(run_seconds(std::get<RunOptions>(plain), collectives::MemoryKind::device), 120);
  const Command given = parse({"--time", "7"});
  EXPECT_EQ(run_seconds(std::get<RunOptions>(given), collectives::MemoryKind::device), 7);
}

TEST(CommandLine, HelpHasEverySubcommandOnce) {
  const std::string help = printed({"--help"});
  for (const Tool& each : tools())
    EXPECT_THAT(help, HasSubstr(std::string("\n  ") + each.name + " ")) << each.name;
  for (const Subcommand& each : subcommands()) {
    EXPECT_THAT(help, HasSubstr(std::string("\n  ") + each.name + " ")) << each.name;
    EXPECT_THAT(printed({each.name, "--help"}), HasSubstr(std::string("Usage: collbench ") + each.name));
  }
  EXPECT_THAT(printed({"report", "--help"}), HasSubstr("\n  collbench report run.json "));
}

TEST(CommandLine, RunsTheSubcommandThatStandsThere) {
  EXPECT_THAT(printed({"topo", "list"}), HasSubstr("hgx-h100"));
  EXPECT_THAT(printed({"predict", "--topology", "hgx-h100", "--ops", "all_reduce", "--sizes", "1G"}),
              HasSubstr("AllReduce"));
}

TEST(CommandLine, NamesWhatIsWrong) {
  EXPECT_THAT(refusal({"--frobnicate"}), HasSubstr("see collbench help run"));
  EXPECT_THAT(refusal({"topo"}), HasSubstr("see collbench topo --help"));
  EXPECT_THAT(refusal({"topo", "diff"}), HasSubstr("see collbench topo diff --help"));
  EXPECT_EQ(refusal({"--opps", "all_reduce"}),
            "collbench: unknown option --opps; did you mean --ops? (see collbench help run)");
  EXPECT_EQ(refusal({"reprot", "run.json"}),
            "collbench: unknown command collbench reprot; did you mean collbench report?");
  EXPECT_EQ(refusal({"topo", "shwo"}),
            "collbench: unknown command collbench topo shwo; did you mean collbench topo show?");
  EXPECT_EQ(refusal({"all_reduce"}),
            "collbench: unknown command collbench all_reduce; did you mean collbench --ops all_reduce?");
  EXPECT_THAT(refusal({"--ops", "all_redcue"}), HasSubstr("did you mean all_reduce"));
  EXPECT_EQ(refusal({"--time", "0"}), "collbench: --time: 0 is out of range; 0.1 to 10000000 seconds");
}

TEST(CommandLine, WhatIsUnknownComesBeforeWhatIsMissingOrOutOfRange) {
  EXPECT_THAT(refusal({"predict", "--topologie", "hgx-h100"}), HasSubstr("did you mean --topology?"));
  EXPECT_THAT(refusal({"judge", "--formt", "md"}), HasSubstr("unknown option --formt of collbench judge"));
  EXPECT_THAT(refusal({"--time", "0", "--opps", "x"}), HasSubstr("unknown option --opps"));
  EXPECT_THAT(refusal({"report", "run.json", "--nodes", "2"}),
              HasSubstr("it is one of collbench judge, collbench predict"));
  EXPECT_THAT(refusal({"-Q"}), HasSubstr("unknown option -Q"));
  EXPECT_EQ(
      refusal({"--time", "5", "plan"}),
      "collbench: collbench plan has to come first; write collbench plan ..., with its options behind it");
  EXPECT_THAT(refusal({"predict"}), HasSubstr("--topology is required"));
}

TEST(CommandLine, BuffersAreRegisteredAsInNcclTests) {
  const auto registration = [](const std::vector<const char*>& words) {
    return std::get<RunOptions>(parse(words)).registration;
  };
  EXPECT_EQ(registration({}), BufferRegistration::none);
  EXPECT_EQ(registration({"-R", "0"}), BufferRegistration::none);
  EXPECT_EQ(registration({"-R", "1"}), BufferRegistration::local);
  EXPECT_EQ(registration({"--local_register", "2"}), BufferRegistration::symmetric);
  EXPECT_EQ(registration({"--register", "local"}), BufferRegistration::local);
  EXPECT_EQ(registration({"--register=symmetric"}), BufferRegistration::symmetric);
  EXPECT_THAT(refusal({"-R", "3"}), HasSubstr("-R: '3' is unknown; choose among none, local, symmetric"));
}

TEST(CommandLine, WhatTheParserFindsIsSaidInOurWords) {
  EXPECT_EQ(refusal({"topo", "diff"}),
            "collbench: collbench topo diff needs MACHINE...; see collbench topo diff --help");
  EXPECT_EQ(
      refusal({"topo"}),
      "collbench: collbench topo needs a subcommand; choose among show, save, detect, list, diff, draw; see "
      "collbench topo --help");
  EXPECT_EQ(refusal({"judge"}), "collbench: collbench judge needs FILE...; see collbench judge --help");
  EXPECT_EQ(refusal({"judge", "a.json", "--topology"}),
            "collbench: --topology needs a value; give --topology NAME|FILE; see collbench judge --help");
  EXPECT_EQ(refusal({"predict", "--topology", "p5", "--nodes", "2", "--nodes", "4"}),
            "collbench: --nodes is given 2 times; give it once; see collbench predict --help");
  EXPECT_EQ(
      refusal({"predict", "hgx-h100"}),
      "collbench: unexpected argument hgx-h100 of collbench predict; did you mean --topology hgx-h100? (see "
      "collbench predict --help)");
  EXPECT_EQ(refusal({"predict", "--topology", "p5", "--price", "2"}),
            "collbench: --price is only used with --preset; add --preset; see collbench predict --help");
  EXPECT_EQ(
      refusal({"predict", "--topology", "p5", "--preset", "lab01", "--ops", "all_reduce"}),
      "collbench: --ops and --preset cannot be used together; leave one out; see collbench predict --help");
}

TEST(CommandLine, TheCommandOfRepeatStandsBehindDashes) {
  EXPECT_EQ(refusal({"repeat", "mpirun", "-np", "2", "collbench"}),
            "collbench: the options of mpirun would be those of collbench repeat; put -- before the command: "
            "collbench repeat -- mpirun ...");
  EXPECT_TRUE(
      std::holds_alternative<CommandFunction>(parse({"repeat", "--", "mpirun", "-np", "2", "collbench"})));
}

/// How many lines a help has, none of them wider than 100 columns.
std::size_t lines_of(const std::string& help) {
  std::size_t count = 0;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(line.size(), 100U) << line;
  return count;
}

TEST(CommandLine, HelpHasAtMost60LinesAndTheExitStatusesOnce) {
  constexpr std::size_t kMaxLines = 60;
  EXPECT_LE(lines_of(printed({"--help"})), kMaxLines);
  EXPECT_THAT(printed({"--help"}), HasSubstr("Exit status: 0 success; 1 BELOW or FAULT"));
  for (const Subcommand& each : subcommands()) {
    const std::string help = printed({each.name, "--help"});
    EXPECT_THAT(help, testing::Not(HasSubstr("Exit status:"))) << each.name;
    EXPECT_LE(lines_of(help), kMaxLines) << each.name;
  }
  for (const char* option : {"--cudagraph", "--sizes", "--config", "--help"})
    EXPECT_THAT(printed({"help", "run"}), HasSubstr(option));
  EXPECT_THAT(printed({"predict", "--help"}), testing::Not(HasSubstr("expected and measured")));
}

TEST(CommandLine, ValuesAreNoNames) {
  EXPECT_TRUE(std::holds_alternative<RunOptions>(parse({"-r", "-1", "--counts", "help", "-m3", "--time=4"})));
  EXPECT_TRUE(
      std::holds_alternative<CommandFunction>(parse({"repeat", "--", "mpirun", "--whatever", "help"})));
}

TEST(CommandLine, HelpIsAlsoAWord) {
  EXPECT_EQ(printed({"help"}), printed({"--help"}));
  EXPECT_EQ(printed({"help", "judge"}), printed({"judge", "--help"}));
  EXPECT_EQ(printed({"topo", "help"}), printed({"topo", "--help"}));
  EXPECT_EQ(printed({"help", "topo", "diff"}), printed({"topo", "diff", "--help"}));
  EXPECT_THAT(refusal({"help", "jugde"}), HasSubstr("did you mean collbench judge?"));
}

}  // namespace
}  // namespace collbench::program::command_line_test
