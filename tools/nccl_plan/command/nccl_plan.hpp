#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/nccl_plan/plan/nccl_plan.hpp"
#include "tools/nccl_plan/report/report.hpp"
#include "topology/machines/resolve.hpp"

// What a simulation of NCCL cannot take, and what it leaves out, said before it is believed.

namespace collbench::program {

/// NCCL_* and their values.
using NcclSettings = std::vector<std::pair<std::string, std::string>>;

/// A job that `nccl-plan --advice` simulates beside the one that was asked for.
struct NcclTrialSetup {
  std::string setting;                ///< "NCCL_IB_HCA=^=mlx5_7 on the last node"
  std::vector<std::string> node_xml;  ///< by node, as NCCL_TOPO_FILE has it
  NcclSettings settings;              ///< on all ranks
};

/// What may lose less than the nodes as they are: leaving out each NIC whose port or PCIe link is slower than
/// the fastest of all nodes, all such NICs of a node at once, and the values of NCCL_CROSS_NIC that
/// `settings` do not have. NICs are not left out where `settings` name some. Throws Error (usage) where a
/// node is no NCCL topology.
[[nodiscard]] std::vector<NcclTrialSetup> nccl_trials(const std::vector<std::string>& node_xml,
                                                      const NcclSettings& settings);

/// The settings with one more, in place of what it was.
[[nodiscard]] NcclSettings with_setting(NcclSettings settings, const std::string& name,
                                        const std::string& value);

/// What `collbench nccl-plan` was asked.
struct NcclPlanRequest {
  std::string topology;
  int nodes = 0;           ///< 0: as many as the topology has
  std::string odd_node;    ///< the machine of the last node; empty: like the others
  int ranks_per_node = 0;  ///< 0: one for each GPU
  std::string library;     ///< empty: the one that a run takes
  std::string versus;      ///< another libnccl, or NAME=VALUE; empty: nothing to compare with
  bool advice = false;     ///< try the settings of nccl_trials(), too
  std::vector<OperationId> operations{};
  std::vector<std::uint64_t> sizes{};
};

/// Runs the host code of a libnccl over a simulated CUDA (docs/gpu.md), once more for
/// each that it is compared with. Throws Error: usage for what was asked, and in NCCL's own words where it
/// refuses the machine; not_here where the library cannot be used so.
[[nodiscard]] analysis::NcclPlanReport nccl_plan_report(const NcclPlanRequest& request);

/// The nodes that a request names, as their ranks see them.
struct SimulatedNodes {
  std::vector<std::string>
      xml;  ///< by node: its topology as NCCL_TOPO_FILE has it, without NICs that NCCL_IB_HCA leaves out
  int ranks_per_node = 1;
  int per_domain = 1;  ///< nodes that NVLink joins
};

/// Throws Error (usage) as nccl_plan_report does for the machine, and where ranks need more memory than is
/// free.
[[nodiscard]] SimulatedNodes simulated_nodes(const NcclPlanRequest& request);

/// Throws Error (usage) where the library does not contain the setting's name, with the nearest names that it
/// contains: NCCL ignores a variable that it does not know. A library that cannot be read is not checked.
void require_known_setting(const std::string& library, const std::string& name);

/// The names of variables that a library contains: texts of their own that begin with NCCL_.
[[nodiscard]] std::vector<std::string> setting_names(const std::string& library);

/// Nodes that NVLink joins: 1 for most machines, 18 for the trays of gb200-nvl72, and 1 where a setting keeps
/// NCCL from it. `ranks_per_node`: 0 for all GPUs.
[[nodiscard]] int nodes_joined_by_nvlink(const topology::ResolvedMachine& machine, int nodes,
                                         int ranks_per_node, const NcclSettings& settings);

/// What is to be known of how the machine is simulated, a sentence each: whether NVLink joins nodes, and
/// networks that NCCL reaches through a plugin, which are not simulated.
[[nodiscard]] std::vector<std::string> simulation_notes(const topology::ResolvedMachine& machine,
                                                        const NcclPlan& plan, int ranks_per_node);

/// Where no NIC of these NCCL topology XMLs is named by NCCL_IB_HCA=`list`, to use it or to leave it out: a
/// sentence that says so, and what they are called. Else empty.
[[nodiscard]] std::string unmatched_hcas(const std::vector<std::string>& node_xml, std::string_view list);

// `collbench nccl-plan run`: the main job over simulated GPUs.

/// The command line that `given` becomes. `collbench` is the one beside this program; a run of it gets the
/// ranks, their nodes and the backend where it does not name its own. Another program, or another command of
/// collbench's, starts its ranks itself and stays as it is. Empty: a short run.
[[nodiscard]] std::vector<std::string> job_words(std::vector<std::string> given, int nodes,
                                                 int ranks_per_node);

/// Replaces this process by the program, with the variables of docs/notes/gpu-simulated.md in its
/// environment: signals and the exit status are thus the program's own. The machine's topologies are in
/// memory that this process holds, so that nothing stays behind. Throws Error: as nccl_plan_report for the
/// machine and the library; usage where the program cannot be started.
[[noreturn]] void become_simulated_job(const NcclPlanRequest& request,
                                       const std::vector<std::string>& program);

}  // namespace collbench::program
