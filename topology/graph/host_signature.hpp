#pragma once
#include <string>
#include <string_view>

#include "base/record/cluster.hpp"
#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// The facts of a host, in two parts. What is momentary (the rate of an idle link) is in neither, nor who
/// said it, nor what sources disagreed on.
struct HostFacts {
  FactsByDevice signature;  ///< the same on identical machines; devices go by PCI address, never by name
  FactsByDevice identity;   ///< names, UUIDs, GUIDs, serial numbers: different on each
};

[[nodiscard]] HostFacts host_facts(const Host& host);

/// What a device is called there: "GPU 0000:18:00.0"; by position where its address is not known: "NIC #3".
/// Several NICs at one address (ports of a card) are distinguished by their order.
[[nodiscard]] std::string canonical_label(const Host& host, const Device& device);

/// "NIC 0000:5e:00.0 port 1". `nic` is its position in the host's list.
[[nodiscard]] std::string canonical_label(const Host& host, int nic, const NicPort& port);

[[nodiscard]] bool is_identity(std::string_view fact);

/// 16 hexadecimal digits over the signature: equal on machines that are built, cabled and up alike, whatever
/// they are called. Stable across builds, since records keep it.
[[nodiscard]] std::string canonical_hash(const FactsByDevice& signature);

/// The JSON of a saved topology without what tells equal machines apart and is no part of their signature:
/// what the host is called, UUIDs, GUIDs, serial numbers, locations of sources, the rate of an idle link, and
/// the memory of a NUMA node below a GiB. Names of NICs stay, since permuted ones are a finding. Files of
/// equal text, each one host, are of one group: one of them has to be read. `text` must be one that can be
/// loaded, or else be loaded in any case when it is the first of its kind. `host_name` receives the name of
/// the (last) host, empty where it has none.
[[nodiscard]] std::string canonical_json(std::string_view text, std::string* host_name = nullptr);

}  // namespace collbench::topology
