#include "src/tool_main.hpp"
#include "tools/launch/launch_tool.hpp"

int main(int argc, char** argv) {
  return collbench::program::tool_main("launch", collbench::program::add_launch, argc, argv);
}
