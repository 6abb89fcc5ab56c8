#pragma once
#include <string>
#include <vector>

#include "topology/catalog/finding_kinds.hpp"
#include "topology/graph/topology.hpp"

// The graph as text for a terminal (show.cpp, tree.cpp), as a drawing (drawing.cpp) and as NCCL's XML.

namespace collbench::topology {

/// The same with each of its texts as a part of a line (one_line): files of others may hold line ends,
/// escapes of terminals and marks of direction, and what is shown or saved has none.
[[nodiscard]] Host with_one_line_texts(Host host);

/// What the host is in one line: "8 × NVIDIA H100 80GB HBM3, 18 NVLinks each through 4 NVSwitches, 8 NICs".
[[nodiscard]] std::string summarize_host(const Host& host);

/// What NCCL's search made of the machine: for each algorithm the channels, what each carries, and the ways
/// that they take. Empty where no graph was read.
[[nodiscard]] std::string show_graphs(const Host& host);

struct ShowOptions {
  bool matrix = false;   ///< also the matrix of path types, as nvidia-smi topo -m prints it
  bool sources = false;  ///< also what was asked
};

/// The graph for a terminal: per host a summary, the tree of NUMA nodes, bridges and devices, for each GPU
/// its nearest NICs, and what is hidden or contradictory.
[[nodiscard]] std::string show_topology(const Topology& topology, const ShowOptions& options);

[[nodiscard]] std::string list_reference_machines();

/// A line for each GPU: its NUMA node (or CPUs), the nearest NICs, and the GPUs at the other end of its
/// NVLinks. Empty without GPUs.
[[nodiscard]] std::string show_affinity(const Host& host);

/// The path types of all pairs of GPUs and NICs, with the legend of the words that stand in it.
[[nodiscard]] std::string show_matrix(const Host& host);

/// NUMA nodes, and below each its PCIe bridges and devices, with the links that carry less than they could.
/// A bridge with one thing below it is left out.
[[nodiscard]] std::string show_tree(const Host& host);

struct DrawingMark {
  Severity severity = Severity::differs;
  std::vector<Device> devices;  ///< of the drawn host; empty: the machine itself
  std::string text;             ///< a line below the drawing, behind its number
};

/// Colors of a drawing in light surroundings; svg_of() replaces each by its counterpart in dark ones.
struct DrawingColor {
  const char* light;
  const char* dark;
};

[[nodiscard]] const std::vector<DrawingColor>& drawing_colors();

/// The host as a graph in Graphviz' language: NUMA nodes with the devices next to them, those that meet below
/// one PCIe switch in one box, NVLinks as edges with their number, and the marks as numbers in brackets with
/// a list below.
[[nodiscard]] std::string draw_dot(const Host& host, const std::string& title,
                                   const std::vector<DrawingMark>& marks);

/// What Graphviz' `dot` makes of a graph in its language, as SVG. Throws Error: not_here where there is no
/// dot (package graphviz), usage where it fails.
[[nodiscard]] std::string svg_of(const std::string& dot);

/// The SVG with a style sheet that gives each color of drawing_colors() its counterpart where the reader
/// prefers dark surroundings.
[[nodiscard]] std::string with_dark_colors(std::string svg);

/// The graph as NCCL_TOPO_FILE takes it; reading it again gives the same graph, as far as the format holds
/// it.
[[nodiscard]] std::string write_nccl_topology_xml(const Host& host);

}  // namespace collbench::topology
