#pragma once
#include <string>

#include "base/record/cluster.hpp"
#include "topology/topology.hpp"

namespace collbench {

/// The facts of a host, in two parts. What is momentary (the rate of an idle link) is in neither, nor who
/// said it, nor what sources disagreed on.
struct HostFacts {
  FactsByDevice shape;     ///< the same on identical machines; devices go by PCI address, never by name
  FactsByDevice identity;  ///< names, UUIDs, GUIDs, serial numbers: different on each
};

[[nodiscard]] HostFacts host_facts(const Host& host);

/// 16 hexadecimal digits over the shape: equal on machines that are built, cabled and up alike, whatever they
/// are called. Stable across builds, since records keep it.
[[nodiscard]] std::string shape_hash(const FactsByDevice& shape);

}  // namespace collbench
