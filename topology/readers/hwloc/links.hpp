#pragma once
#include <map>
#include <string>

#include "base/xml_input.hpp"
#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// Where an object of hwloc's tree is: at a PCI function, or (address empty) at a NUMA node.
struct HwlocObject {
  std::string pci_address;
  int numa_node = -1;
};

/// By type and gp_index: "OSDev:894".
using HwlocObjects = std::map<std::string, HwlocObject>;

/// Adds the links of hwloc's matrix NVLinkBandwidth (versions 2 and 3) to `host`. Its values are MB/s; the
/// number of links follows from the model's data sheet, where the model is known. Throws Error (usage) with
/// FILE:LINE when the matrix is not whole.
void add_nvlinks(const XmlInput& xml, const HwlocObjects& objects, Host& host);

}  // namespace collbench::topology
