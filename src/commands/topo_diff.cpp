#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "analysis/report/diff_report.hpp"
#include "analysis/report/report.hpp"
#include "base/files.hpp"
#include "base/host_name.hpp"
#include "base/text_input.hpp"
#include "src/cli/host_list.hpp"
#include "src/cli/machine_argument.hpp"
#include "src/cli/options.hpp"
#include "src/cli/output.hpp"
#include "src/commands/registry.hpp"
#include "topology/graph/host_signature.hpp"
#include "topology/machines/resolve.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::program {
namespace {

struct DiffOptions {
  std::vector<std::string> machines;  ///< one each
  std::vector<std::string> hosts;     ///< --hosts: those of the fleet, each of which should have a file
  bool verbose = false;               ///< -v
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

/// Machines as they are read, and the files of folders of hosts.
struct Machines {
  topology::HostGroups groups;
  topology::FolderFiles files;
  std::vector<std::string> left_out;  ///< sentences on files beside those of one machine
  bool is_lone_file = false;          ///< a folder in which one file describes a machine
};

void add_files(topology::FolderFiles& all, const topology::FolderFiles& of_folder) {
  if (of_folder.unreadable.empty()) return;
  all.count += of_folder.count;
  all.read += of_folder.read;
  all.unreadable.insert(all.unreadable.end(), of_folder.unreadable.begin(), of_folder.unreadable.end());
}

/// What a machine's own notes say is left out, each once; what `of_fleet` has, the report says otherwise.
void add_left_out(std::vector<std::string>& all, const topology::Host& host,
                  const std::vector<std::string>& of_fleet) {
  const auto in = [](const std::vector<std::string>& list, const std::string& note) {
    return std::ranges::find(list, note) != list.end();
  };
  for (const topology::HostNote& note : host.notes)
    if (note.is_left_out && !in(of_fleet, note.text) && !in(all, note.text)) all.push_back(note.text);
}

/// A file that is identical to an earlier one, but for the names of devices, is not read again: of the files
/// of a thousand nodes, reading is what takes the time.
void add_machine(Machines& machines, const std::string& machine) {
  const std::string text = saved_text(machine);
  if (!text.empty()) require_text(text, machine, "a topology saved by 'collbench topo save'");
  std::string host_name;
  const std::string canonical = topology::canonical_json(text, &host_name);
  if (host_name.empty()) host_name = unnamed_host(machine);
  if (!text.empty() && machines.groups.add_equal(canonical, machine, host_name)) return;
  topology::ResolvedMachine read =
      text.empty() ? topology::resolve_machine(machine)
                   : topology::ResolvedMachine{machine, topology::read_any_topology(text, machine)};
  add_files(machines.files, read.files);
  const std::size_t hosts = read.topology.hosts.size();
  machines.is_lone_file = hosts == 1 && read.files.read == 1;
  const std::vector<std::string> of_fleet = topology::left_out_notes(read.files.unreadable);
  for (topology::Host& host : read.topology.hosts) {
    add_left_out(machines.left_out, host, of_fleet);
    std::string name = name_of(host, machine, hosts);
    machines.groups.add(std::move(host), std::move(name), hosts == 1 ? canonical : "",
                        hosts == 1 ? unnamed_host(machine) : "");
  }
}

Machines read_all(const std::vector<std::string>& names) {
  Machines machines;
  for (const std::string& name : names) add_machine(machines, name);
  return machines;
}

topology::HostGroup group_of(const std::string& machine) {
  topology::Host host = topology::resolve_machine(machine).only_host();
  std::string name = host.name.value_or(unnamed_host(machine));
  return {std::move(host), {machine}, {std::move(name)}};
}

analysis::DiffReport with_files(analysis::DiffReport report, Machines machines) {
  report.files = std::move(machines.files);
  report.left_out = std::move(machines.left_out);
  return report;
}

analysis::DiffReport all_with_each_other(const std::vector<std::string>& names) {
  Machines machines = read_all(names);
  analysis::DiffReport report = analysis::compare_groups(machines.groups.take());
  return with_files(std::move(report), std::move(machines));
}

/// Every kind among the others against the first.
analysis::DiffReport against_reference(const std::vector<std::string>& names) {
  Machines machines = read_all({names.begin() + 1, names.end()});
  analysis::DiffReport report = analysis::compare_with(group_of(names.front()), machines.groups.take(), true);
  return with_files(std::move(report), std::move(machines));
}

/// Whether the argument alone is of several hosts: a folder with files of a fleet, or a file of a cluster.
bool is_fleet(const std::vector<topology::HostGroup>& groups) {
  return groups.size() > 1 || groups.front().names.size() > 1;
}

/// With this machine; but hosts of a fleet with each other, even where only one of them could be read.
analysis::DiffReport compare_one(const std::string& name, bool of_fleet) {
  Machines machines = read_all({name});
  const std::vector<topology::HostGroup> groups = machines.groups.take();
  if (of_fleet || is_fleet(groups) || !machines.files.unreadable.empty())
    return with_files(analysis::compare_groups(groups), std::move(machines));
  if (machines.is_lone_file) {
    std::vector<std::string> reasons{
        "one file in it describes a machine, and there is nothing to compare it with"};
    reasons.insert(reasons.end(), machines.left_out.begin(), machines.left_out.end());
    throw usage_error(name, fmt::format("{}", fmt::join(reasons, "; ")),
                      fmt::format("name a second machine, or this one: collbench topo diff {} {}", name,
                                  topology::kLiveMachine));
  }
  return with_files(analysis::compare_two(groups.front(), group_of(topology::kLiveMachine)),
                    std::move(machines));
}

analysis::DiffReport compare_two_arguments(const std::vector<std::string>& names) {
  Machines machines = read_all({names[0]});
  const std::vector<topology::HostGroup> firsts = machines.groups.take();
  add_machine(machines, names[1]);
  const std::vector<topology::HostGroup> others = machines.groups.take();
  if (is_fleet(firsts) && is_fleet(others)) return all_with_each_other(names);
  if (is_fleet(firsts)) {
    throw usage_error(names[0], "it describes several hosts, and what the second is compared with is one",
                      "give the one host first");
  }
  return with_files(is_fleet(others) ? analysis::compare_with(firsts.front(), others, false)
                                     : analysis::compare_two(firsts.front(), others.front()),
                    std::move(machines));
}

analysis::DiffReport compare_machines(std::vector<std::string> names, bool of_fleet) {
  const bool reference = topology::named_reference(names.front()) != nullptr;
  if (names.size() == 1 && reference) names.emplace_back(topology::kLiveMachine);
  if (reference) return against_reference(names);
  switch (names.size()) {
    case 1:
      return compare_one(names.front(), of_fleet);
    case 2:
      return compare_two_arguments(names);
    default:
      return all_with_each_other(names);
  }
}

/// Those of `hosts` of which nothing was compared.
std::vector<std::string> without_file(std::vector<std::string> hosts, const analysis::DiffReport& report) {
  std::vector<std::string> seen = report.usual;
  for (const analysis::ComparedHosts& pair : report.pairs)
    seen.insert(seen.end(), pair.hosts.begin(), pair.hosts.end());
  std::erase_if(hosts, [&seen](const std::string& host) {
    return std::ranges::any_of(seen, [&](const auto& each) { return is_same_host(each, host); });
  });
  return hosts;
}

/// Whether a document is a list of nodes alone, which has no room for a reason.
bool writes_node_list(const std::vector<OutputDocument>& documents) {
  return std::ranges::any_of(documents, [](const OutputDocument& each) {
    return each.format == "hostfile" || each.format == "slurm";
  });
}

/// Status low where a finding is degraded or broken, or a machine is another one. Throws Error (usage) for a
/// machine that cannot be read.
CommandResult diff(const DiffOptions& options) {
  const auto documents = writable_documents(options.output);
  analysis::DiffReport report = compare_machines(options.machines, !options.hosts.empty());
  report.without_file = without_file(options.hosts, report);
  const auto write = [&](const OutputDocument& document) {
    analysis::TextOptions text = page_options(document);
    text.verbose = options.verbose;
    return analysis::report(report, document.format, text);
  };
  CommandResult result{write_documents(documents, write), report.passes() ? ExitStatus::ok : ExitStatus::low,
                       prints_text(documents)};
  if (!prints_text(documents)) result.notes = analysis::not_looked_at(report);
  if (writes_node_list(documents)) {
    result.notes.insert(result.notes.end(), report.left_out.begin(), report.left_out.end());
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
  add_option(command, "Options", "--hosts", "LIST|@FILE",
             "the hosts of the fleet, as for burnin: those without a file are named, and the status is 1",
             [options](const std::string& text) {
               options->hosts = parse_hosts(text, "--hosts");
               if (options->hosts.empty())
                 throw usage_error("--hosts", "it names no host",
                                   "give names, such as node[01-16], or @FILE");
             });
  add_flag(command, "Options", "-v,--verbose", options->verbose,
           "of each cost ring, tree and best, for one node, all nodes and during a job (JSON has them)");
  add_output_options(command, "Options", options->output,
                     analysis::format_names(&analysis::ReportFormat::diff), "the differences as JSON");
  command.footer(
      "One MACHINE is compared with this machine, two with each other. Of more than two, identical ones\n"
      "are grouped and the others compared with the majority; if the first is a reference machine, all are\n"
      "compared with it. A folder with files of many hosts counts as many: topo diff REFERENCE FOLDER.\n"
      "--format hostfile or slurm lists only the nodes that have a degraded or broken finding themselves.\n"
      "Exit status 1 when something is degraded or broken, a machine is a different one, the files of one\n"
      "disagree, a file of a folder of hosts cannot be read, or a host of --hosts has none.\n"
      "docs/notes/findings.md lists the codes.\n" +
      std::string(kMachineHelp));
  command.callback([options, &chosen] { chosen = [options] { return diff(*options); }; });
}

}  // namespace

Subcommand topo_diff_subcommand() {
  return {"diff", "what differs, how bad, what it costs; collbench topo diff hgx-h100 node7.json", "",
          add_diff};
}

}  // namespace collbench::program
