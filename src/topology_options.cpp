#include "src/topology_options.hpp"

#include <string>

#include "base/error.hpp"

namespace collbench {
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

}  // namespace collbench
