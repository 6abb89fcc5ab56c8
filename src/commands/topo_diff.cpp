#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "analysis/report/diff_report.hpp"
#include "analysis/report/odd_nodes.hpp"
#include "analysis/report/report.hpp"
#include "base/files.hpp"
#include "base/text_input.hpp"
#include "src/cli/machine_argument.hpp"
#include "src/cli/output.hpp"
#include "src/commands/registry.hpp"
#include "topology/graph/host_signature.hpp"
#include "topology/machines/resolve.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::program {
namespace {

/// `collbench topo diff`.
struct DiffOptions {
  std::vector<std::string> machines;  ///< one each
  OutputOptions output;
};

/// Two files of one machine have one host name: the file tells them apart. The hosts of a folder are known by
/// their names.
std::string name_of(const topology::Host& host, const std::string& machine, std::size_t hosts) {
  std::error_code ignored;
  if (hosts == 1) return machine;
  if (std::filesystem::is_directory(machine, ignored) && host.name.known()) return *host.name.value;
  return fmt::format("{} of {}", host.name.value_or("a host"), machine);
}

/// What stands for the host's name in lists of nodes where no source names it: files and folders are called
/// after their hosts.
std::string unnamed_host(const std::string& machine) {
  std::error_code ignored;
  const std::filesystem::path path(machine);
  if (topology::names_file(machine)) return path.stem().string();
  if (!std::filesystem::is_directory(path, ignored)) return machine;
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

/// The text of a file that may be a saved machine; empty for any other argument.
std::string saved_text(const std::string& machine) {
  std::error_code ignored;
  if (!topology::names_file(machine) || !std::filesystem::is_regular_file(machine, ignored)) return {};
  const std::string text = read_file(machine);
  return text.starts_with('{') ? text : std::string();
}

/// A file that is identical to an earlier one, but for the names of devices, is not read again: of the files
/// of a thousand nodes, reading is what takes the time.
void add_machine(topology::HostGroups& groups, const std::string& machine) {
  const std::string text = saved_text(machine);
  if (!text.empty()) require_text(text, machine, "a topology saved by 'collbench topo save'");
  std::string host_name;
  const std::string canonical = topology::canonical_json(text, &host_name);
  if (host_name.empty()) host_name = unnamed_host(machine);
  if (!text.empty() && groups.add_equal(canonical, machine, host_name)) return;
  topology::Topology topology =
      text.empty() ? topology::resolve_machine(machine).topology : topology::read_any_topology(text, machine);
  const std::size_t hosts = topology.hosts.size();
  for (topology::Host& host : topology.hosts) {
    std::string name = name_of(host, machine, hosts);
    groups.add(std::move(host), std::move(name), hosts == 1 ? canonical : "",
               hosts == 1 ? unnamed_host(machine) : "");
  }
}

topology::HostGroups read_all(const std::vector<std::string>& machines) {
  topology::HostGroups groups;
  for (const std::string& machine : machines) add_machine(groups, machine);
  return groups;
}

topology::HostGroup group_of(const std::string& machine) {
  topology::Host host = topology::resolve_machine(machine).only_host();
  std::string name = host.name.value_or(unnamed_host(machine));
  return {std::move(host), {machine}, {std::move(name)}};
}

/// Every kind among the others against the first.
analysis::DiffReport against_first(const std::vector<std::string>& machines, bool is_reference) {
  return analysis::compare_with(group_of(machines.front()),
                                read_all({machines.begin() + 1, machines.end()}).take(), is_reference);
}

/// Whether the argument alone is of several hosts: a folder with files of a fleet, or a file of a cluster.
bool is_fleet(const std::vector<topology::HostGroup>& groups) {
  return groups.size() > 1 || groups.front().names.size() > 1;
}

analysis::DiffReport compare_machines(std::vector<std::string> machines) {
  const bool reference = topology::named_reference(machines.front()) != nullptr;
  if (machines.size() == 1 && !reference) {
    const std::vector<topology::HostGroup> groups = read_all(machines).take();
    if (is_fleet(groups)) return analysis::compare_groups(groups);
  }
  if (machines.size() == 1) machines.emplace_back(topology::kLiveMachine);
  if (reference) return against_first(machines, true);
  if (machines.size() > 2) return analysis::compare_groups(read_all(machines).take());
  const std::vector<topology::HostGroup> second = read_all({machines[1]}).take();
  if (!is_fleet(second)) return analysis::compare_two(group_of(machines[0]), second.front());
  const std::vector<topology::HostGroup> first = read_all({machines[0]}).take();
  if (is_fleet(first)) return analysis::compare_groups(read_all(machines).take());
  return analysis::compare_with(first.front(), second, false);
}

/// Whether a document is a list of nodes alone, which has no room for a reason.
bool writes_node_list(const std::vector<OutputDocument>& documents) {
  return std::any_of(documents.begin(), documents.end(), [](const OutputDocument& each) {
    return each.format == "hostfile" || each.format == "slurm";
  });
}

/// Status low where a finding is degraded or broken, or a machine is another one. Throws Error (usage) for a
/// machine that cannot be read.
CommandResult diff(const DiffOptions& options) {
  const auto documents = output_documents(options.output);
  require_writable_documents(documents, options.output.overwrite);
  const analysis::DiffReport report = compare_machines(options.machines);
  const auto write = [&](const OutputDocument& document) {
    return analysis::report(report, document.format, page_options(document));
  };
  CommandResult result{write_documents(documents, write), report.passes() ? ExitStatus::ok : ExitStatus::low,
                       prints_text(documents)};
  if (writes_node_list(documents)) {
    for (std::string& note : analysis::unlisted_nodes(report)) result.notes.push_back(std::move(note));
  }
  return result;
}

void add_diff(CLI::App& command, CommandFunction& chosen) {
  const auto options = std::make_shared<DiffOptions>();
  command
      .add_option("machines", options->machines,
                  "each a MACHINE; the first is the one the others should match")
      ->required()
      ->option_text("MACHINE...");
  add_output_options(command, "Options", options->output,
                     analysis::format_names(&analysis::ReportFormat::diff), "the differences as JSON");
  command.footer(
      "One MACHINE is compared with this machine, two with each other. Of more than two, identical ones\n"
      "are grouped and the others compared with the majority; if the first is a reference machine, all are\n"
      "compared with it. A folder with files of many hosts counts as many: topo diff REFERENCE FOLDER.\n"
      "--format hostfile or slurm lists only the nodes that have a degraded or broken finding themselves.\n"
      "Exit status 1 when something is degraded or broken, a machine is a different one, or the files of "
      "one\n"
      "disagree. docs/findings.md lists the codes.\n" +
      std::string(kMachineHelp));
  command.callback([options, &chosen] { chosen = [options] { return diff(*options); }; });
}

}  // namespace

Subcommand topo_diff_subcommand() {
  return {"diff", "what differs, how bad, what it costs; collbench topo diff hgx-h100 node7.json", "",
          add_diff};
}

}  // namespace collbench::program
