#include "src/tool_main.hpp"
#include "tools/burnin/command/burnin_command.hpp"

int main(int argc, char** argv) {
  return collbench::program::tool_main("burnin", collbench::program::add_burnin, argc, argv);
}
