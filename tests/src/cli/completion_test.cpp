#include "src/cli/completion.hpp"

#include <gmock/gmock.h>

namespace collbench::program::completion_test {
namespace {

using testing::HasSubstr;
using testing::Not;

const CommandDescription kRoot{
    .name = "collbench",
    .help = "does",
    .footer = "",
    .options = {{.names = {"-k", "--kind"},
                 .value = "LIST",
                 .help = "which; or all",
                 .theme = "",
                 .choices = {"one", "two"}},
                {.names = {"--when"}, .value = "WHEN", .help = "", .theme = "", .choices = {"now", "never"}},
                {.names = {"--plain"}, .value = "", .help = "", .theme = "", .choices = {}}},
    .commands = {{.name = "collbench sub",
                  .help = "isn't more: not here",
                  .footer = "",
                  .options = {{.names = {"--at"}, .value = "MACHINE", .help = "", .theme = "", .choices = {}},
                              {.names = {"records"},
                               .value = "",
                               .help = "",
                               .theme = "",
                               .choices = {},
                               .is_argument = true}},
                  .commands = {}}}};

/// What the shells do with it: tests/src/shell_test.py.
TEST(Offers, AreWhatMayBeTyped) {
  EXPECT_EQ(offers(kRoot, {""}), "sub\tisn't more\n");
  EXPECT_EQ(offers(kRoot, {"x"}), "");
  EXPECT_EQ(offers(kRoot, {"--"}), "--kind\twhich\n--when\t\n--plain\t\n");
  EXPECT_EQ(offers(kRoot, {"-k", ""}), "one\ntwo\n:list\n");
  EXPECT_EQ(offers(kRoot, {"--kind", "one,t"}), "one,two\n:list\n");
  EXPECT_EQ(offers(kRoot, {"--when=ne"}), "--when=never\n");
  EXPECT_EQ(offers(kRoot, {"--plain", ""}), "sub\tisn't more\n");
  EXPECT_EQ(offers(kRoot, {"sub", ""}), ":files\n");
  EXPECT_EQ(offers(kRoot, {"sub", "--", "--k"}), ":files\n");
  const std::string machines = offers(kRoot, {"sub", "--at", "hgx-"});
  EXPECT_THAT(machines, HasSubstr("hgx-h100\n"));
  EXPECT_THAT(machines, HasSubstr(":files\n"));
  EXPECT_THAT(machines, Not(HasSubstr("live")));
}

}  // namespace
}  // namespace collbench::program::completion_test
