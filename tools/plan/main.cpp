#include "src/tool_main.hpp"
#include "tools/plan/command/plan_command.hpp"

int main(int argc, char** argv) {
  return collbench::program::tool_main(collbench::program::plan_subcommand(), argc, argv);
}
