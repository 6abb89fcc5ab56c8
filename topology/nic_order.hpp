#pragma once
#include <vector>

#include "topology/topology.hpp"

namespace collbench {

/// The positions of the host's NICs in an order that does not depend on how they were listed: by PCI address,
/// then (two ports of a card may be two NICs at one address) by their lowest port number, and by label, name,
/// interfaces and GUID where neither tells them apart. mlx5_2 comes before mlx5_10.
[[nodiscard]] std::vector<int> nic_order(const Host& host);

}  // namespace collbench
