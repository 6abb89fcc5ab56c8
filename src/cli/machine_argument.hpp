#pragma once
#include <string>
#include <vector>

#include "topology/graph/topology.hpp"

namespace CLI {
class App;
}

namespace collbench::program {

/// What --help says of such arguments.
inline constexpr const char* kMachineHelp =
    "A MACHINE is a file (saved by topo save; output of nvidia-smi topo -m, topo -p2p, nvlink -s, -q -x or\n"
    "--query-gpu; NCCL's or hwloc's XML), a folder of such files or a copy of /sys, the name of a reference\n"
    "machine (topo list), live for this machine, or - for stdin. Several together describe one machine;\n"
    "without any, it is this machine.";

/// Adds the positional [MACHINE...]: what `machine_at` takes.
void add_machine_arguments(CLI::App& command, std::vector<std::string>& machines);

/// The argument that stands for the machine that the program runs on.
inline constexpr const char* kLiveMachine = "live";

/// The machine that an argument names: a file, a folder, a reference machine, "-" for standard input, or
/// "live". Throws Error (usage) for what cannot be read.
[[nodiscard]] topology::Topology machine_at(const std::string& argument);

/// Several arguments that describe one machine together, merged; none: this machine. One of them alone may
/// have several hosts. Throws Error (usage) for what cannot be read, and for several hosts to be merged.
[[nodiscard]] topology::Topology machine_at(const std::vector<std::string>& arguments);

/// The same, where one host is needed. Throws Error (usage) for several.
[[nodiscard]] topology::Host host_at(const std::string& argument);

/// One node of what --topology names: a reference machine, or else a file that describes one (of several
/// hosts the first). Throws Error (usage) for a word that is neither, and for a file that cannot be read as
/// one.
[[nodiscard]] topology::Host node_of_topology(const std::string& topology);

}  // namespace collbench::program
