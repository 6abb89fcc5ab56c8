#include "src/cli/completion.hpp"

#include <gmock/gmock.h>

#include <set>

namespace collbench::program::completion_test {
namespace {

using testing::HasSubstr;

/// What the shells do with it: tests/src/shell_test.py.
TEST(CompletionShells, EachScriptHasEveryCommandAndOption) {
  const CommandDescription root{
      .name = "tool",
      .help = "does",
      .footer = "",
      .options = {{.names = {"--kind"},
                   .value = "LIST",
                   .help = "one, two",
                   .theme = "",
                   .choices = {"one", "two"}}},
      .commands = {
          {.name = "tool sub",
           .help = "isn't more",
           .footer = "",
           .options =
               {{.names = {"--at"}, .value = "MACHINE", .help = "[which]", .theme = "", .choices = {}}},
           .commands = {}}}};
  std::set<std::string> scripts;
  for (const CompletionShell& shell : completion_shells()) {
    const std::string script = shell.script(root, {"dgx-a100"});
    for (const char* word : {"kind", "one", "two", "sub", "at", "dgx-a100"})
      EXPECT_THAT(script, HasSubstr(word)) << shell.name;
    scripts.insert(script);
  }
  EXPECT_EQ(scripts.size(), 3);
}

}  // namespace
}  // namespace collbench::program::completion_test
