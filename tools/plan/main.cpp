#include "src/tool_main.hpp"
#include "tools/plan/command/plan_command.hpp"

int main(int argc, char** argv) {
  return collbench::program::tool_main("plan", collbench::program::add_plan, argc, argv);
}
