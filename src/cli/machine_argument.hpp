#pragma once
#include <string>

#include "topology/graph/topology.hpp"

namespace collbench::program {

/// What stands for the machine that the program runs on.
inline constexpr const char* kLiveMachine = "live";

/// The machine that an argument names: a file, a folder, a reference machine, "-" for standard input, or
/// "live". Throws Error (usage) for what cannot be read.
[[nodiscard]] topology::Topology machine_at(const std::string& argument);

/// The same, where one host is wanted. Throws Error (usage) for several.
[[nodiscard]] topology::Host host_at(const std::string& argument);

}  // namespace collbench::program
