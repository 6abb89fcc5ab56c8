#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// The one spelling of a GUID: "0xb83fd203002aa358", from "b83f:d203:002a:a358" or with 0x. None for zero and
/// for anything else.
[[nodiscard]] std::optional<std::string> canonical_guid(std::string_view text);

/// The same GUID as NCCL's files have it: a number in the machine's byte order of what came from the network
/// (little-endian on all machines that NCCL runs on). Its own inverse.
[[nodiscard]] std::optional<std::string> swap_guid(std::string_view text);

/// The PCI address in a name that follows systemd's rule (systemd.net-naming-scheme): "rocep137s0f1" is
/// 0000:89:00.1. None for any other name, such as mlx5_0.
[[nodiscard]] std::optional<std::string> pci_address_in_name(std::string_view name);

/// The PCI vendor of RDMA devices with such a name, as their Linux drivers number them
/// (drivers/infiniband/hw): "0x15b3" of mlx5_0. Empty for any other name.
[[nodiscard]] std::string_view vendor_of_rdma_name(std::string_view name);

/// Whether it is an RDMA device, and no mere interface.
[[nodiscard]] bool is_rdma(const Nic& nic);

/// The positions of the host's NICs in an order that does not depend on how they were listed: by PCI address,
/// then (two ports of a card may be two NICs at one address) by their lowest port number, and by label, name,
/// interfaces and GUID where neither tells them apart. mlx5_2 comes before mlx5_10.
[[nodiscard]] std::vector<int> nic_order(const Host& host);

}  // namespace collbench::topology
