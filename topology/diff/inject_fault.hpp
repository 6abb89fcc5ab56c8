#pragma once
#include "topology/diff/finding.hpp"

namespace collbench::topology {

/// The better host of the pair with this one finding of the worse one: the same machine, but for one fault.
/// Only the attributes that the finding is read from change, and only those of its devices; devices whose
/// slot is empty there are taken away with their links.
[[nodiscard]] Host inject_fault(const HostPair& pair, const Finding& finding);

/// `host` without some of its devices, their PCI functions and what led to them.
[[nodiscard]] Host without_devices(const Host& host, const std::vector<Device>& devices);

}  // namespace collbench::topology
