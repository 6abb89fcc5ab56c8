#include "src/tool_main.hpp"
#include "tools/nccl_plan/command/nccl_plan_command.hpp"

int main(int argc, char** argv) {
  return collbench::program::tool_main("nccl-plan", collbench::program::add_nccl_plan, argc, argv);
}
