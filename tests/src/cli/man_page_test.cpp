#include "src/cli/man_page.hpp"

#include <gmock/gmock.h>

namespace collbench::program::man_page_test {
namespace {

using testing::HasSubstr;
using testing::Not;

CommandDescription diff() {
  return {.name = "collbench topo diff",
          .help = "what differs, how bad; collbench topo diff a b\n  collbench topo diff hgx-h100 node7.json",
          .footer = ".5 is no request.",
          .options = {{.names = {"machine"},
                       .value = "MACHINE...",
                       .help = "",
                       .theme = "Positionals",
                       .choices = {},
                       .is_argument = true,
                       .is_required = true},
                      {.names = {"-o", "--output"},
                       .value = "FILE",
                       .help = "a \\ 'file'",
                       .theme = "Output",
                       .choices = {}}},
          .commands = {}};
}

TEST(ManPage, HasItsPartsInTheOrderOfManPages) {
  const std::string page = man_page(diff(), "1.2.3");
  EXPECT_EQ(man_page_name(diff()), "collbench-topo-diff");
  EXPECT_TRUE(page.starts_with(
      ".TH \"COLLBENCH\\-TOPO\\-DIFF\" 1 \"\" \"collbench 1.2.3\" \"User Commands\"\n.SH NAME\n"
      "collbench\\-topo\\-diff \\- what differs, how bad\n"))
      << page;
  std::size_t at = 0;
  for (const char* part : {".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION", ".SH OPTIONS", ".SH EXAMPLES",
                           ".SH NOTES", ".SH \"SEE ALSO\""}) {
    const std::size_t found = page.find(part);
    ASSERT_NE(found, std::string::npos) << part;
    EXPECT_GE(found, at) << part;
    at = found;
  }
  EXPECT_THAT(page, HasSubstr("\\fBcollbench topo diff\\fR [\\fIOPTIONS\\fR] \\fIMACHINE...\\fR\n"));
  EXPECT_THAT(page,
              HasSubstr(".TP\n\\fB\\-o\\fR, \\fB\\-\\-output\\fR \\fIFILE\\fR\na \\(rs \\(aqfile\\(aq\n"));
  EXPECT_THAT(page, HasSubstr(".nf\ncollbench topo diff hgx\\-h100 node7.json\n.fi\n"));
  EXPECT_THAT(page, HasSubstr("\\fBcollbench\\-topo\\fR(1)"));
  EXPECT_THAT(page, HasSubstr("\n\\&.5 is no request.\n"));
}

TEST(ManPage, LeavesOutWhatThereIsNot) {
  CommandDescription bare{
      .name = "collbench", .help = "Measures.", .footer = "", .options = {}, .commands = {}};
  const std::string page = man_page(bare, "1");
  for (const char* part : {"OPTIONS\n", "EXAMPLES", "NOTES", "COMMANDS", "SEE ALSO"})
    EXPECT_THAT(page, Not(HasSubstr(std::string(".SH ") + part)));
  bare.commands.push_back(diff());
  EXPECT_THAT(man_page(bare, "1"),
              HasSubstr(".SH COMMANDS\n.TP\n\\fBcollbench\\-topo\\-diff\\fR(1)\nwhat differs"));
}

}  // namespace
}  // namespace collbench::program::man_page_test
