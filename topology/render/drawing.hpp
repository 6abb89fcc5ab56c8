#pragma once
#include <string>
#include <vector>

#include "topology/diff/finding.hpp"
#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// Something to point at in a drawing.
struct DrawingMark {
  Severity severity = Severity::differs;
  std::vector<Device> devices;  ///< of the drawn host; empty: the machine itself
  std::string text;             ///< a line below the drawing, behind its number
};

/// Colours of a drawing in light surroundings; svg_of() replaces each by its counterpart in dark ones.
struct DrawingColour {
  const char* light;
  const char* dark;
};

/// All colours that a drawing may have.
[[nodiscard]] const std::vector<DrawingColour>& drawing_colours();

/// The host as a graph in Graphviz' language: NUMA nodes with the devices next to them, those that meet below
/// one PCIe switch in one box, NVLinks as edges with their number, and the marks as numbers in brackets with
/// a list below.
[[nodiscard]] std::string draw_dot(const Host& host, const std::string& title,
                                   const std::vector<DrawingMark>& marks);

}  // namespace collbench::topology
