#include "topology/render/render.hpp"

#include <fmt/format.h>

#include "base/child_process.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/text_input.hpp"

namespace collbench::topology {

std::string svg_of(const std::string& dot) {
  const ScratchFolder folder;
  const std::string file = folder.file("machine.dot");
  write_file_by_rename(file, dot);
  const ChildLimits limits{.seconds = 60};
  const ChildResult result = run_child({"dot", "-Tsvg", file}, limits);
  if (result.end == ChildEnd::not_started) {
    throw Error(ExitStatus::not_here, "topo draw",
                "Graphviz' dot was not found: " + describe_end(result, limits),
                "install the package graphviz, or write the graph itself with -o FILE.dot");
  }
  if (!result.succeeded() || result.cut) {
    throw usage_error("dot -Tsvg",
                      fmt::format("{}: {}", describe_end(result, limits), excerpt(result.err, 200)),
                      "write the graph itself with -o FILE.dot, and run dot on it to see the error");
  }
  return with_dark_colors(result.out);
}

std::string with_dark_colors(std::string svg) {
  const std::size_t open = svg.find("<svg");
  const std::size_t close = open == std::string::npos ? open : svg.find('>', open);
  if (close == std::string::npos) return svg;
  std::string style = "\n<style>@media (prefers-color-scheme: dark) {\n";
  for (const DrawingColor& color : drawing_colors()) {
    for (const char* attribute : {"fill", "stroke"})
      style += fmt::format("[{0}=\"{1}\"] {{ {0}: {2} }}\n", attribute, color.light, color.dark);
  }
  // Graphviz gives its own black no attribute.
  style += fmt::format("text:not([fill]) {{ fill: {} }}\n}}</style>", drawing_colors().front().dark);
  return svg.insert(close + 1, style);
}

}  // namespace collbench::topology
