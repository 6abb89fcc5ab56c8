#pragma once
#include <optional>
#include <string>
#include <vector>

#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// An NVLink as NCCL's XML writes it: the other end is an address that may stand further down the file.
struct WrittenNvLink {
  Device from;
  std::optional<std::string> target;  ///< none: an NVSwitch that is hidden
  std::string target_class;           ///< of PCI: "0x068000"
  Fact<int> count;
  std::string where;  ///< in the file, for a note
};

/// Adds the links to a host that has all GPUs of the file. A target that is no GPU of it becomes a device of
/// its own: an NVSwitch, or a GPU outside the communicator, of which a dump holds only the others. A link to
/// anything else is left out, with a note.
void add_nvlinks(const std::vector<WrittenNvLink>& links, Host& host);

}  // namespace collbench::topology
