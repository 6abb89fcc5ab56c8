#pragma once
#include <filesystem>
#include <string>

#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// Where a live look goes; tests put stand-ins there.
struct LiveSources {
  std::string nvidia_smi = "nvidia-smi";  ///< the program, looked up on PATH
  std::string systemctl = "systemctl";
  std::filesystem::path sysfs = "/sys";
  bool hwloc = true;               ///< also ask libhwloc, which always looks at this machine
  double seconds_per_program = 8;  ///< nvidia-smi without persistence mode takes 1 to 5 s to wake 8 GPUs
  double seconds = 20;             ///< of all programs together
};

/// This machine as every source sees it, merged. Never throws for a source that is missing, hangs, fails or
/// gives nonsense: what is missing for it, and how to get it, stands in the notes.
[[nodiscard]] Host gather_live(const LiveSources& sources = {});

}  // namespace collbench::topology
