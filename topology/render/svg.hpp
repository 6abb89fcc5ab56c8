#pragma once
#include <string>
#include <string_view>

namespace collbench::topology {

/// What Graphviz' `dot` makes of a graph in its language, as SVG. Throws Error: not_here where there is no
/// dot (package graphviz), usage where it fails.
[[nodiscard]] std::string svg_of(const std::string& dot);

/// The SVG with a style sheet that gives each colour of drawing_colours() its counterpart where the reader
/// prefers dark surroundings.
[[nodiscard]] std::string with_dark_colours(std::string svg);

}  // namespace collbench::topology
