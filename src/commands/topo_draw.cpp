#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "analysis/report/diff_report.hpp"
#include "analysis/report/html/markup.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "src/cli/machine_argument.hpp"
#include "src/commands/registry.hpp"
#include "topology/machines/resolve.hpp"
#include "topology/render/render.hpp"

namespace collbench::program {
namespace {

struct DrawOptions {
  std::vector<std::string> machines;
  std::string output;
  std::string against;  ///< the machine that it should be; empty: none
  bool overwrite = false;
};

/// Without their folders, which would be wider than the machine.
std::string file_names(const std::vector<std::string>& machines) {
  std::vector<std::string> names;
  for (const std::string& machine : machines) {
    const std::string name = std::filesystem::path(machine).filename();
    names.push_back(name.empty() ? machine : name);
  }
  return fmt::format("{}", fmt::join(names, " + "));
}

/// What differs from the machine at `against`, with the loss of the best algorithm.
std::vector<topology::DrawingMark> marks_against(const std::string& against, const topology::Host& host) {
  const topology::ResolvedMachine machine = topology::resolve_machine(against);
  const analysis::ComparedHosts compared = analysis::compare_hosts(
      {machine.only_host(), {against}}, {host, {"drawn"}}, machine.reference != nullptr);
  return analysis::drawing_marks(compared.findings);
}

/// Writes the picture. Throws Error: usage for several hosts or a file that cannot be written, not_here
/// without Graphviz.
CommandResult draw(const DrawOptions& options) {
  const topology::Topology topology = merged_machine(options.machines);
  if (topology.hosts.size() != 1) {
    throw usage_error("topo draw",
                      fmt::format("a picture shows one host, and there are {}", topology.hosts.size()),
                      "give a file with one host");
  }
  const std::string kind = std::filesystem::path(options.output).extension();
  if (!kind.empty() && kind != ".svg" && kind != ".dot") {
    throw usage_error("-o", fmt::format("a drawing cannot be written as '{}'", kind.substr(1)),
                      "write FILE.svg, or FILE.dot and then for example: dot -Tpng FILE.dot -o FILE.png");
  }
  const bool to_stdout = options.output == "-";
  if (!to_stdout) require_writable(options.output, options.overwrite, "-o");
  const topology::Host& host = topology.hosts.front();
  const std::string name =
      options.machines.empty() ? host.name.value_or("this machine") : file_names(options.machines);
  const auto marks =
      options.against.empty() ? std::vector<topology::DrawingMark>{} : marks_against(options.against, host);
  const std::string dot =
      topology::draw_dot(host, fmt::format("{}: {}", name, topology::summarize_host(host)), marks);
  if (to_stdout) return {topology::svg_of(dot), ExitStatus::ok, false};
  write_file_by_rename(options.output, options.output.ends_with(".dot") ? dot : topology::svg_of(dot));
  return {fmt::format("{}: {}, {} finding{} marked\n", options.output, topology::summarize_host(host),
                      marks.size(), marks.size() == 1 ? "" : "s")};
}

void add_draw(CLI::App& command, CommandFunction& chosen) {
  const auto options = std::make_shared<DrawOptions>();
  add_machine_arguments(command, options->machines);
  command
      .add_option("-o,--output", options->output,
                  "the file to write: SVG, or for FILE.dot Graphviz' language; - for SVG on stdout")
      ->required()
      ->option_text("FILE");
  command
      .add_option("--against", options->against, "mark what differs from this machine, as topo diff finds it")
      ->option_text("MACHINE");
  command.add_flag("--overwrite", options->overwrite, "replace a file that exists");
  command.callback([options, &chosen] { chosen = [options] { return draw(*options); }; });
}

}  // namespace

Subcommand topo_draw_subcommand() {
  return {"draw", "the machine as a picture; collbench topo draw node7.json -o node7.svg", "", add_draw};
}

}  // namespace collbench::program
