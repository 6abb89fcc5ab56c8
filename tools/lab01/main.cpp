#include "src/tool_main.hpp"

int main(int argc, char** argv) {
  return collbench::program::tool_main("lab01", collbench::program::add_tool, argc, argv);
}
