#pragma once
#include <string>
#include <utility>
#include <vector>

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

}  // namespace collbench::program
