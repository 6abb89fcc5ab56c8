#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "base/record/log_facts.hpp"
#include "base/record/run.hpp"

namespace collbench::analysis {

/// The reference machines that can have run what a log says: with its GPUs, and of those the ones with its
/// network, where the log names it and one has it. In the order of `topo list`; empty where the log names no
/// GPU, or no machine has it.
[[nodiscard]] std::vector<std::string_view> fitting_machines(const LogFacts& log);

/// "--topology hgx-h100 fits (so do p5, ndv5)"; empty for none.
[[nodiscard]] std::string fitting_words(const std::vector<std::string_view>& names);

/// What to give as --topology, as the end of a sentence, and why: "the log's GPUs are …, 8 per node:
/// --topology hgx-h100 fits (so do p5, ndv5).".
[[nodiscard]] std::string suggested_topology(const LogFacts& log);

/// The run of a log that says its nodes and the ranks of each, judged by the slowest reference machine that
/// fits, where it is slow by each of them, also with 4, 2 and 1 of their NICs and one of 100 Gb/s: BELOW, at
/// most. None otherwise, and none for a part of a machine, a rack, or GPUs without NVSwitch, where the way
/// between them is that of the server, of which the catalog has few.
[[nodiscard]] std::optional<Run> judged_whichever_fits(const Run& run, const std::string& where);

/// What the user says of each node's network, which is no reference machine's.
struct StatedNics {
  int nics = 0;                    ///< of each node
  double gigabits_per_second = 0;  ///< of each NIC
  std::string machine = {};        ///< a reference machine whose GPUs these nodes have; empty: the log's GPUs
};

/// The machine that a log or `stated` names but for its network, with the NICs that were stated: the first
/// reference machine that fits, and its transport where the log names none. Throws Error (usage) where
/// neither says the GPUs, for a log that does not say its nodes and the ranks of each, and where none that
/// fits is whole in it and has NVSwitches.
[[nodiscard]] GpuCluster cluster_with_nics(const Run& run, const StatedNics& stated, const std::string& where,
                                           bool own_floor);

/// "8 × H100 SXM with 4 NICs of 200 Gb/s"; of one node "8 × H100 SXM".
[[nodiscard]] std::string words(const GpuCluster& cluster, const StatedNics& stated);

/// The run as it is; of a log of several ranks on NVIDIA's GPUs, or on some that it does not name, without
/// any verdict: with a yardstick that is unknown.
[[nodiscard]] Run unclear_without_machine(Run run);

/// How a file for --topology is made where no reference machine fits.
inline constexpr std::string_view kHowToSaveMachine =
    "collbench topo save -o node.json on that machine writes a file for --topology";

}  // namespace collbench::analysis
