#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/import/nccl_choice.hpp"
#include "tools/nccl_plan/plan/nccl_plan.hpp"

namespace collbench::analysis {

/// The devices of a graph's channel as NCCL wrote them: "NET/0-3", "GPU/0-f000" (2.23 and newer: system and
/// PCI address) or "GPU/5" (before: the rank).
struct NcclGraphDevices {
  std::string nic_in;
  std::string nic_out;
  std::vector<std::string> gpus;
};

/// What one rank wrote with NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS=INIT,GRAPH,TUNING,NET, of one
/// communicator. What the log does not say is empty or 0.
struct NcclRankLog {
  std::string version;
  int rank = -1;
  int ranks = 0;
  int clique_ranks = 0;     ///< of its NVLink domain over several nodes (MNNVL); 0: there is none
  std::string pci_address;  ///< of its GPU as NCCL writes it, without zeros in front: "f000"
  std::string network;
  std::vector<std::string> nics;                             ///< by NCCL's numbers
  std::vector<NcclSearchGraph> graphs;                       ///< in the order of the log; `channel` is empty
  std::vector<std::vector<NcclGraphDevices>> graph_devices;  ///< of each of `graphs`, by channel
  int collective_channels = 0;
  int nvls_channels = 0;
  int p2p_channels = 0;
  int p2p_channels_per_peer = 0;
  std::map<int, int> ring_next;                 ///< by channel: the rank that follows in the ring
  std::map<int, int> tree_parent;               ///< by channel: −1 for the root
  std::map<int, std::vector<int>> nvls_heads;   ///< by head: its rank on each node
  std::vector<NcclConnection> sends, receives;  ///< between nodes, of rings and trees
  std::vector<NcclTuning> tuning;
  std::vector<NcclLoggedChoice> choices;  ///< in the order of the calls
  std::vector<std::string> warnings;
};

/// Reads what NCCL 2.18 to 2.32 write; other lines are left alone, and so is a line of NCCL's that is not
/// whole. Never throws for its content.
[[nodiscard]] NcclRankLog read_nccl_rank_log(std::string_view text);

/// The last choice of a part of a log; none where it holds none.
[[nodiscard]] std::optional<NcclLoggedChoice> last_nccl_choice(std::string_view text);

/// The logs of all ranks put together: `logs` by rank, of `ranks_per_node` consecutive ranks to a node. Rows,
/// machine, library and settings are the caller's. Throws Error (not_here) where no log says that a
/// communicator was made, or one of the ranks said nothing.
[[nodiscard]] NcclPlan nccl_plan_of(std::span<const NcclRankLog> logs, int ranks_per_node);

}  // namespace collbench::analysis
