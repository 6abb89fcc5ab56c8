#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// What NCCL takes for the address of an NVSwitch that a VM does not show (2.30 src/graph/xml.cc).
inline constexpr std::string_view kHiddenNvSwitch = "fffffff:ffff:ff";

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

/// NCCL's topology XML: a dump (NCCL_TOPO_DUMP_FILE) or a provider's file (NCCL_TOPO_FILE). What it does not
/// know is counted in the notes. `file` stands in errors. Throws Error (usage) with FILE:LINE.
[[nodiscard]] Host read_nccl_topology_xml(std::string_view text, std::string_view file);

}  // namespace collbench::topology
