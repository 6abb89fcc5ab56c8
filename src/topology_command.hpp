#pragma once
#include <string>
#include <vector>

namespace collbench {

enum class TopologyAction { show, save, list, detect };

/// `collbench topo …`.
struct TopologyOptions {
  TopologyAction action = TopologyAction::show;
  /// Files, folders, names of reference machines, "-" for stdin: together one machine. None: this machine.
  std::vector<std::string> places;
  bool matrix = false;
  bool sources = false;
  std::string output;
  std::string format = "json";  ///< "json" or "nccl-xml"
  bool overwrite = false;
};

/// What the command prints. Throws Error: usage for a place that cannot be read or a file that cannot be
/// written, not_here where `detect` has no GPU to go by.
[[nodiscard]] std::string topology_command(const TopologyOptions& options);

}  // namespace collbench
