#include <unistd.h>

#include <cstdio>

#include "src/tool_main.hpp"
#include "tools/probe/gpu/gpu_team.hpp"

int main(int argc, char** argv) {
  const int status = collbench::program::tool_main("probe", collbench::program::add_tool, argc, argv);
  if (!collbench::collectives::has_stuck_gpu()) return status;
  // The handlers that libraries left may never return.
  std::fflush(nullptr);
  ::_exit(status);
}
