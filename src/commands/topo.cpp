#include "src/commands/topology.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/files.hpp"
#include "src/cli/output.hpp"
#include "src/commands/topology_diff.hpp"
#include "src/commands/topology_draw.hpp"
#include "topology/graph/merge.hpp"
#include "topology/graph/topology_json.hpp"
#include "topology/machines/detect.hpp"
#include "topology/machines/resolve.hpp"
#include "topology/readers/gather_live.hpp"
#include "topology/readers/read_any.hpp"
#include "topology/render/nccl_topology_xml.hpp"
#include "topology/render/show.hpp"

namespace collbench::program {
namespace {

/// Several places are one machine: each must be one host.
topology::Topology read_places(const std::vector<std::string>& places) {
  if (places.empty()) return {{topology::gather_live()}};
  std::vector<topology::Host> readings;
  for (const std::string& place : places) {
    topology::Topology topology = place == "-"
                                      ? topology::read_any_topology(input_text(place), input_name(place))
                                      : topology::resolve_machine(place);
    if (places.size() == 1) return topology;
    if (topology.hosts.size() != 1) {
      throw usage_error(place,
                        fmt::format("it holds {} hosts, and several places are merged as one machine",
                                    topology.hosts.size()),
                        "give it alone");
    }
    readings.push_back(std::move(topology.hosts.front()));
  }
  return {{topology::merge_hosts(readings)}};
}

std::string as_nccl_xml(const topology::Topology& topology) {
  if (topology.hosts.size() != 1) {
    throw usage_error("--format nccl-xml",
                      fmt::format("the format holds one host, not {}", topology.hosts.size()),
                      "use --format json");
  }
  return topology::write_nccl_topology_xml(topology.hosts.front());
}

std::string save(const TopologyOptions& options) {
  require_writable(options.output, options.overwrite, "-o");  // before nvidia-smi is waited for
  const topology::Topology topology = read_places(options.places);
  write_file_by_rename(options.output, options.format == "nccl-xml" ? as_nccl_xml(topology)
                                                                    : topology::save_topology(topology));
  return fmt::format("{}: {}\n", options.output, topology::summarize_host(topology.hosts.front()));
}

/// The reference machines that a host is like, or else the nearest, and how it differs from each.
std::string detect(const topology::Host& host) {
  constexpr std::size_t kShown = 3;
  const std::vector<topology::ReferenceMatch> matches = topology::nearest_references(host);
  if (matches.empty()) {
    throw Error(ExitStatus::not_here, "topo detect", "no GPU is seen, and machines are known by their GPUs",
                "see collbench topo show for what is hidden");
  }
  std::string text = topology::summarize_host(host) + "\n";
  const auto alike = static_cast<std::size_t>(
      std::count_if(matches.begin(), matches.end(),
                    [](const topology::ReferenceMatch& match) { return match.distance == 0; }));
  if (alike > 0) text += "alike in all that is compared (GPUs, NVLinks, NICs and their rate):\n";
  for (std::size_t i = 0; i < (alike > 0 ? alike : std::min(kShown, matches.size())); ++i) {
    const topology::ReferenceMatch& match = matches[i];
    text += fmt::format("{:<12} {}\n", match.machine->name, match.machine->title);
    for (const std::string& difference : match.differences)
      text += fmt::format("{:<12} - {}\n", "", difference);
  }
  const std::vector<std::string>& missing = matches.front().not_compared;
  if (!missing.empty())
    text += fmt::format("not known here, so not compared: {}\n", fmt::join(missing, ", "));
  return text;
}

}  // namespace

Answer topology_command(const TopologyOptions& options) {
  switch (options.action) {
    case TopologyAction::save:
      return {save(options)};
    case TopologyAction::list:
      return {topology::list_reference_machines()};
    case TopologyAction::diff:
      return topology_diff(options);
    case TopologyAction::draw:
      return {draw_topology(options, read_places(options.places))};
    case TopologyAction::detect: {
      std::string text;
      for (const topology::Host& host : read_places(options.places).hosts) text += detect(host);
      return {text};
    }
    case TopologyAction::show:
      break;
  }
  return {topology::show_topology(read_places(options.places),
                                  {.matrix = options.matrix, .sources = options.sources})};
}

namespace {

constexpr const char* kPlaces =
    "A PLACE is a file (saved by topo save; output of nvidia-smi topo -m, topo -p2p, nvlink -s, -q -x or\n"
    "--query-gpu; NCCL's or hwloc's XML), a folder of such files or a copy of /sys, the name of a reference\n"
    "machine (topo list), or - for stdin. Several together are one machine. Without any, this machine is "
    "looked at.";

CLI::App* add_action(CLI::App& topo, TopologyOptions& options, TopologyAction action, const std::string& name,
                     const std::string& help) {
  CLI::App* command = topo.add_subcommand(name, help);
  command->callback([&options, action] { options.action = action; });
  return command;
}

void add_places(CLI::App& command, TopologyOptions& options) {
  command.add_option("places", options.places, "what describes the machine (this machine)")
      ->option_text("[PLACE...]");
  command.footer(kPlaces);
}

void add_diff(CLI::App& command, TopologyOptions& options) {
  command
      .add_option("places", options.places,
                  "machines, each by a PLACE or as live; the first is what should be")
      ->required()
      ->option_text("PLACE [PLACE...]");
  command.add_option("--format", options.format, "text, md or json (text)")->option_text("NAME");
  command.footer(
      "One PLACE is compared with this machine, two with each other. Of more, the alike ones are grouped "
      "and\n"
      "the odd ones compared with the majority; but where the first is a reference machine, all are "
      "compared\n"
      "with it. Exit status 1 when something is degraded or broken. docs/findings.md lists the codes.\n" +
      std::string(kPlaces));
}

void add_draw(CLI::App& command, TopologyOptions& options) {
  command
      .add_option("-o,--output", options.output, "the file to write: SVG, or for FILE.dot Graphviz' language")
      ->required()
      ->option_text("FILE");
  command
      .add_option("--against", options.against, "mark what differs from this machine, as topo diff finds it")
      ->option_text("PLACE");
  command.add_flag("--overwrite", options.overwrite, "replace a file that exists");
}

void add_save(CLI::App& command, TopologyOptions& options) {
  command.add_option("-o,--output", options.output, "the file to write")->required()->option_text("FILE");
  command
      .add_option_function<std::string>(
          "--format",
          [&options](const std::string& text) {
            if (text != "json" && text != "nccl-xml") {
              throw usage_error("--format", "'" + text + "' is unknown", "choose json or nccl-xml");
            }
            options.format = text;
          },
          "json, or nccl-xml for NCCL_TOPO_FILE (json)")
      ->option_text("NAME");
  command.add_flag("--overwrite", options.overwrite, "replace a file that exists");
}

}  // namespace

void add_topology_command(CLI::App& app, TopologyOptions& options) {
  CLI::App* topo = app.add_subcommand("topo", "what a machine is: GPUs, NVLinks, NICs, PCIe and NUMA");
  topo->require_subcommand(1);
  CLI::App* show = add_action(*topo, options, TopologyAction::show, "show",
                              "the machine as a tree; collbench topo show --matrix");
  CLI::App* save = add_action(*topo, options, TopologyAction::save, "save",
                              "the machine as a file; collbench topo save -o node7.json");
  CLI::App* detect = add_action(*topo, options, TopologyAction::detect, "detect",
                                "the nearest reference machines; collbench topo detect topo-m.txt");
  add_action(*topo, options, TopologyAction::list, "list",
             "names the reference machines; collbench topo list");
  add_diff(*add_action(*topo, options, TopologyAction::diff, "diff",
                       "what differs, how bad, what it costs; collbench topo diff hgx-h100 node7.json"),
           options);
  CLI::App* draw = add_action(*topo, options, TopologyAction::draw, "draw",
                              "the machine as a picture; collbench topo draw node7.json -o node7.svg");
  for (CLI::App* command : {show, save, detect, draw}) add_places(*command, options);
  show->add_flag("--matrix", options.matrix,
                 "also the paths between all GPUs and NICs, as nvidia-smi topo -m");
  show->add_flag("--sources", options.sources, "also who was asked, and their versions");
  add_save(*save, options);
  add_draw(*draw, options);
  topo->footer(kPlaces);
}

}  // namespace collbench::program
