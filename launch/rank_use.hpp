#pragma once
#include <string>
#include <vector>

#include "base/rank_use.hpp"
#include "base/record/identities.hpp"
#include "launch/ranks.hpp"
#include "launch/real_machine.hpp"

namespace collbench::launch {

/// What this process was given so far: its main thread's time (view_core_seconds), and the bytes of its open
/// TCP connections. What the kernel does not say stays 0.
[[nodiscard]] RankUse view_rank_use();

/// What came since `before`; a connection that was closed since takes its bytes with it, so none is negative.
[[nodiscard]] RankUse rank_use_since(const RankUse& before, const RankUse& now);

/// What every rank was given since `before`: on rank 0, empty elsewhere. Collective.
[[nodiscard]] std::vector<RankUse> gather_rank_use(Ranks& ranks, const RankUse& before);

/// A line for each rank that retransmitted more than one packet in two thousand.
[[nodiscard]] std::vector<std::string> lost_packets(const std::vector<RankUse>& uses,
                                                    const Identities& identities);

/// What other processes, and a virtual machine's hypervisor, took of the cores that the ranks needed between
/// two looks `seconds` apart: a line for each host and each of the two, on every rank. Collective;
/// `identities` are those of the machines there really are.
[[nodiscard]] std::vector<std::string> external_cpu_load(Ranks& ranks, const Identities& identities,
                                                         const CpuTimes& before, const CpuTimes& after,
                                                         double seconds);

}  // namespace collbench::launch
