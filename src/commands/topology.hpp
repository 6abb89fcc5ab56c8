#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "src/cli/output.hpp"

namespace collbench::program {

enum class TopologyAction { show, save, list, detect, diff, draw };

/// `collbench topo …`.
struct TopologyOptions {
  TopologyAction action = TopologyAction::show;
  /// Files, folders, names of reference machines, "-" for stdin, "live": together one machine (none: this
  /// one), but for `diff`, where each is one.
  std::vector<std::string> machines;
  bool matrix = false;
  bool sources = false;
  std::string against;  ///< of draw: an argument that shows what the machine should be; empty: none
  std::string output;
  std::string format;  ///< of save: "json" or "nccl-xml"; of diff: "text", "md" or "json"
  bool overwrite = false;
};

/// What the command prints, and status low where `diff` has a fault. Throws Error: usage for an argument that
/// cannot be read or a file that cannot be written, not_here where `detect` has no GPU to go by.
[[nodiscard]] Answer topology_command(const TopologyOptions& options);

/// Adds `topo` and what stands below it; parsing fills `options`, which must outlive `app`.
void add_topology_command(CLI::App& app, TopologyOptions& options);

}  // namespace collbench::program
