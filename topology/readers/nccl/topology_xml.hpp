#pragma once
#include <optional>
#include <string>
#include <string_view>
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

/// Whether the target of an NVLink is an address of ones alone, which no device has: an NVSwitch that the
/// system does not show. "fffffff:ffff:ff" by NCCL; "fffffff:ff:ff.0" and "ffffffff:ff:ff.0" as NVML has it
/// on GB200 and GB300, whose switches are in trays of their own.
[[nodiscard]] bool is_hidden_nvswitch(std::string_view target);

/// Adds the links to a host that has all GPUs of the file. A target that is no GPU of it becomes a device of
/// its own: an NVSwitch, or a GPU outside the communicator, of which a dump holds only the others. A link to
/// anything else is left out, with a note.
void add_nvlinks(const std::vector<WrittenNvLink>& links, Host& host);

}  // namespace collbench::topology
