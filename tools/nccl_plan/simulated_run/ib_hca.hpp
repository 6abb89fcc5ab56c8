#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace collbench::collectives {

/// Whether NCCL_IB_HCA=`list` lets NCCL use port `port` of the NIC `name`: "mlx5_0,mlx5_3:1" are beginnings
/// of names and ports, "=…" whole names, "^…" and "^=…" those that are left out; an empty list leaves all,
/// and
/// "^" none.
/// Source: NVIDIA/nccl v2.30.7-1, src/misc/utils.cc (parseStringList, matchIfList), src/transport/net_ib.
[[nodiscard]] bool ib_hca_allows(std::string_view list, std::string_view name, int port);

/// A port that NCCL_IB_HCA can name.
struct HcaPort {
  std::string name;
  int port = 1;
  double gigabits = 0;  ///< of the port, per second; 0: the file does not say
  double pcie_gigabits =
      0;  ///< raw, of the slowest PCIe link above it: lanes × GT/s; 0: the file does not say
};

/// The ports of an NCCL topology XML, in the order of the file. One without a name is called as the simulated
/// host calls it: "sim0" and on. Throws Error (usage) where it is none.
[[nodiscard]] std::vector<HcaPort> hca_ports(const std::string& xml);

/// An NCCL topology XML without the ports that the list leaves out, as a network plugin would offer it.
/// Names are those of hca_ports(). Throws Error (usage) where it is none.
[[nodiscard]] std::string topology_with_hcas(const std::string& xml, std::string_view list);

}  // namespace collbench::collectives
