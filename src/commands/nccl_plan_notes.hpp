#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "topology/machines/resolve.hpp"

// What a simulation of NCCL cannot take, and what it leaves out, said before it is believed.

namespace collbench::program {

/// Throws Error (usage) where the library does not contain the setting's name, with the nearest names that it
/// contains: NCCL ignores a variable that it does not know. A library that cannot be read is not checked.
void require_known_setting(const std::string& library, const std::string& name);

/// The names of variables that a library contains: texts of their own that begin with NCCL_.
[[nodiscard]] std::vector<std::string> setting_names(const std::string& library);

/// What of the machine is not simulated, a sentence each: NVLink between nodes, and networks that NCCL
/// reaches through a plugin. `ranks_per_node`: 0 for all GPUs.
[[nodiscard]] std::vector<std::string> not_simulated(const topology::ResolvedMachine& machine, int nodes,
                                                     int ranks_per_node);

/// Where no NIC of these NCCL topology XMLs is named by NCCL_IB_HCA=`list`, to use it or to leave it out: a
/// sentence that says so, and what they are called. Else empty.
[[nodiscard]] std::string unmatched_hcas(const std::vector<std::string>& node_xml, std::string_view list);

}  // namespace collbench::program
