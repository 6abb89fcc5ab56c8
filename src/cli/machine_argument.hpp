#pragma once
#include <string>
#include <vector>

#include "topology/graph/topology.hpp"

namespace CLI {
class App;
}

namespace collbench::program {

/// What --help says of arguments that name a machine.
inline constexpr const char* kMachineHelp =
    "A MACHINE is a file (saved by topo save; output of nvidia-smi topo -m, topo -p2p, nvlink -s, -q -x\n"
    "or --query-gpu; NCCL's or hwloc's XML), a folder of such files or a copy of /sys, the name of a\n"
    "reference machine (topo list), - for stdin, or live for this machine. A file takes precedence over\n"
    "a name.";

/// The same, where several are read as one.
inline constexpr const char* kMergedMachinesHelp = "Several MACHINEs are merged into one. Default: live.";

/// Adds the positional [MACHINE...]: what `merged_machine` takes.
void add_machine_arguments(CLI::App& command, std::vector<std::string>& machines);

/// Several arguments that describe one machine together, merged; none: this machine. One of them alone may
/// have several hosts. Its texts are parts of lines (topology::with_one_line_texts). Throws Error (usage) for
/// what cannot be read, and for several hosts to be merged.
[[nodiscard]] topology::Topology merged_machine(const std::vector<std::string>& arguments);

}  // namespace collbench::program
