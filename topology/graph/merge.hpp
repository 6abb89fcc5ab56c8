#pragma once
#include <string_view>
#include <vector>

#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// What several sources say of one machine, as one graph. Devices are the same when a stable key is: a GPU's
/// UUID, else its PCI address, else nvidia-smi's index (by PCI order where a source has addresses only); a
/// NIC's RDMA name, else its PCI address; NUMA nodes by number, all else by PCI address. Where two sources
/// disagree on a fact, the earlier one is kept and both stand in `disagreements`. So do paths that a source
/// states differently from what the PCI tree shows.
[[nodiscard]] Host merge_hosts(const std::vector<Host>& readings);

/// Zeros in a GPU's UUID's place, as some write who pass a machine's description on: it tells no GPU apart.
[[nodiscard]] bool is_masked_uuid(std::string_view uuid);

}  // namespace collbench::topology
