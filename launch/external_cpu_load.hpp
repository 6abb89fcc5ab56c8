#pragma once
#include <string>
#include <vector>

#include "base/record/identities.hpp"
#include "launch/ranks.hpp"
#include "launch/real_machine.hpp"

namespace collbench::launch {

/// What other processes, and a virtual machine's hypervisor, took of the cores that the ranks needed between
/// two looks `seconds` apart: a line for each host and each of the two, on every rank. Collective;
/// `identities` are those of the machines there really are.
[[nodiscard]] std::vector<std::string> external_cpu_load(Ranks& ranks, const Identities& identities,
                                                         const CpuTimes& before, const CpuTimes& after,
                                                         double seconds);

}  // namespace collbench::launch
