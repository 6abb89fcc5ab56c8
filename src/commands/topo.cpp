#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/document/text_layout.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/text_input.hpp"
#include "src/cli/command_description.hpp"
#include "src/cli/machine_argument.hpp"
#include "src/cli/options.hpp"
#include "src/cli/output.hpp"
#include "src/commands/registry.hpp"
#include "topology/graph/topology_json.hpp"
#include "topology/machines/reference_machines.hpp"
#include "topology/render/render.hpp"

namespace collbench::program {
namespace {

struct ShowOptions {
  std::vector<std::string> machines;
  topology::ShowOptions show;
  OutputOptions output;
};

struct SaveOptions {
  std::vector<std::string> machines;
  std::string output;
  std::string format = "json";  ///< or "nccl-xml"
  bool overwrite = false;
};

CommandResult text_result(const OutputOptions& output, const std::function<std::string()>& make) {
  const auto documents = writable_documents(output);
  return {write_documents(documents, [&](const OutputDocument&) { return make(); })};
}

void add_show(CLI::App& command, CommandFunction& chosen) {
  const auto options = std::make_shared<ShowOptions>();
  add_machine_arguments(command, options->machines);
  command.add_flag("--matrix", options->show.matrix,
                   "also the paths between all GPUs and NICs, as nvidia-smi topo -m");
  command.add_flag("--sources", options->show.sources, "also what was read, and its versions");
  add_output_options(command, "Options", options->output, {"text"}, "");
  command.callback([options, &chosen] {
    chosen = [options] {
      return text_result(options->output, [&] {
        return topology::show_topology(merged_machine(options->machines), options->show);
      });
    };
  });
}

std::string as_nccl_xml(const topology::Topology& topology) {
  if (topology.hosts.size() != 1) {
    throw usage_error("--format nccl-xml",
                      fmt::format("the format takes one host, not {}", topology.hosts.size()),
                      "use --format json");
  }
  return topology::write_nccl_topology_xml(topology.hosts.front());
}

/// The host whose name stands for %h: this one, unless a machine is named.
std::string host_of(const topology::Topology& topology) {
  const topology::Host& host = topology.hosts.front();
  if (topology.hosts.size() == 1 && host.name.known() && host.name.value->find('/') == std::string::npos)
    return *host.name.value;
  throw usage_error("-o",
                    topology.hosts.size() == 1 ? "%h is the host's name, and no source names the host"
                                               : "%h is the name of one host, and there are several",
                    "give the whole name of the file");
}

CommandResult save(const SaveOptions& given) {
  SaveOptions options = given;
  const bool to_stdout = options.output == "-";
  const std::size_t at = options.output.find("%h");
  const bool named_by_host = at != std::string::npos;
  if (!to_stdout && !named_by_host)
    require_writable(options.output, options.overwrite, "-o");  // before nvidia-smi is waited for
  const topology::Topology topology = merged_machine(options.machines);
  const std::string text =
      options.format == "nccl-xml" ? as_nccl_xml(topology) : topology::save_topology(topology);
  if (to_stdout) return {text, ExitStatus::ok, false};
  if (named_by_host) {
    options.output.replace(at, 2, host_of(topology));
    require_writable(options.output, options.overwrite, "-o");
  }
  write_file_by_rename(options.output, text);
  return {fmt::format("{}: {}\n", options.output, topology::summarize_host(topology.hosts.front()))};
}

void add_topo_save(CLI::App& command, CommandFunction& chosen) {
  const auto options = std::make_shared<SaveOptions>();
  add_machine_arguments(command, options->machines);
  command.add_option("-o,--output", options->output, "the file to write; %h is the host's name, - is stdout")
      ->required()
      ->option_text("FILE");
  CLI::Option* format =
      add_option(command, "Options", "--format", "NAME", "json, or nccl-xml for NCCL_TOPO_FILE (json)",
                 [options](const std::string& text) {
                   options->format = parse_name(text, "--format", {"json", "nccl-xml"});
                 });
  set_choices(*format, {"json", "nccl-xml"});
  command.add_flag("--overwrite", options->overwrite, "replace a file that exists");
  command.callback([options, &chosen] { chosen = [options] { return save(*options); }; });
}

/// The reference machines that a host is identical to, or else the nearest, and how it differs from each.
std::string nearest_machines(const topology::Host& host) {
  constexpr std::size_t kMaxListed = 3;
  const std::vector<topology::ReferenceMatch> matches = topology::nearest_references(host);
  if (matches.empty()) {
    throw Error(ExitStatus::not_here, "topo detect",
                "no GPU was found, and machines are recognized by their GPUs",
                "see collbench topo show for what could not be read");
  }
  std::string text = topology::summarize_host(host) + "\n";
  const auto identical =
      static_cast<std::size_t>(std::ranges::count(matches, 0, &topology::ReferenceMatch::distance));
  if (identical > 0 && !matches.front().says_something()) {
    text += "only the number of GPUs is known; reference machines with as many:\n";
  } else if (identical > 0) {
    text +=
        fmt::format("identical in everything compared ({}):\n", fmt::join(matches.front().compared, ", "));
  }
  if (matches.front().distance >= topology::kOfAnotherKind)
    text += "no reference machine is of its kind; those with the fewest differences:\n";
  for (std::size_t i = 0; i < (identical > 0 ? identical : std::min(kMaxListed, matches.size())); ++i) {
    const topology::ReferenceMatch& match = matches[i];
    text += fmt::format("{:<12} {}\n", match.machine->name, match.machine->title);
    for (const std::string& difference : match.differences)
      text += fmt::format("{:<12} - {}\n", "", difference);
  }
  const std::vector<std::string>& missing = matches.front().not_compared;
  if (!missing.empty()) text += fmt::format("unknown, so not compared: {}\n", fmt::join(missing, ", "));
  return text;
}

/// Throws Error (not_here) where a host has no GPU to go by.
std::string detect(const std::vector<std::string>& machines) {
  std::string text;
  for (const topology::Host& host : merged_machine(machines).hosts) text += nearest_machines(host);
  return text;
}

void add_detect(CLI::App& command, CommandFunction& chosen) {
  const auto options = std::make_shared<ShowOptions>();
  add_machine_arguments(command, options->machines);
  add_output_options(command, "Options", options->output, {"text"}, "");
  command.callback([options, &chosen] {
    chosen = [options] { return text_result(options->output, [&] { return detect(options->machines); }); };
  });
}

/// list_reference_machines() within the terminal: names and their column stay as they are.
std::string wrapped_list() {
  constexpr std::size_t kNames = 14;  // columns
  const int columns = page_options({}).columns;
  std::string text;
  for (const std::string& line : split_cells(topology::list_reference_machines(), '\n'))
    if (line.size() > kNames)
      text += wrap(line.substr(kNames), columns, line.substr(0, kNames), std::string(kNames, ' '));
  return text;
}

void add_list(CLI::App& command, CommandFunction& chosen) {
  const auto output = std::make_shared<OutputOptions>();
  add_output_options(command, "Options", *output, {"text"}, "");
  command.callback([output, &chosen] { chosen = [output] { return text_result(*output, wrapped_list); }; });
}

/// `collbench topo …`; diff and draw have files of their own.
void add_topo(CLI::App& command, CommandFunction& chosen) {
  command.require_subcommand(1);
  const std::vector<Subcommand> actions{
      {"show", "the machine as a tree; collbench topo show --matrix", "", add_show},
      {"save", "the machine as a file; collbench topo save -o node7.json", "", add_topo_save},
      {"detect", "the nearest reference machines; collbench topo detect topo-m.txt", "", add_detect},
      {"list", "names the reference machines; collbench topo list", "", add_list},
      topo_diff_subcommand(),
      topo_draw_subcommand(),
  };
  for (const Subcommand& each : actions) each.add(*command.add_subcommand(each.name, each.help), chosen);
  command.footer(kMachineHelp);
}

}  // namespace

Subcommand topo_subcommand() {
  return {"topo", "what a machine is: GPUs, NVLinks, NICs, PCIe and NUMA",
          "collbench topo show               what this machine is", add_topo};
}

}  // namespace collbench::program
