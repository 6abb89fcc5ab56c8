#include "src/commands/topology_diff.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "analysis/report/diff_report.hpp"
#include "analysis/report/report.hpp"
#include "base/files.hpp"
#include "base/text_input.hpp"
#include "topology/graph/host_signature.hpp"
#include "topology/machines/reference_machines.hpp"
#include "topology/machines/resolve.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::program {
namespace {

/// Two files of one machine have one host name: the file tells them apart.
std::string name_of(const topology::Host& host, const std::string& argument, std::size_t hosts) {
  if (hosts == 1) return argument;
  return fmt::format("{} of {}", host.name.value_or("a host"), argument);
}

/// The text of a file that may be a saved machine; empty for any other argument.
std::string saved_text(const std::string& argument) {
  std::error_code ignored;
  if (!topology::names_file(argument) || !std::filesystem::is_regular_file(argument, ignored)) return {};
  std::string text = read_file(argument);
  return text.starts_with('{') ? text : std::string();
}

/// A file that equals an earlier one but for what devices are called is not read again: of
/// the files of a thousand nodes, reading is what takes the time.
void add_machine(topology::HostGroups& groups, const std::string& argument) {
  const std::string text = saved_text(argument);
  if (!text.empty()) require_text(text, argument, "a topology saved by 'collbench topo save'");
  const std::string canonical = topology::canonical_json(text);
  if (!text.empty() && groups.add_equal(canonical, argument)) return;
  topology::Topology topology = text.empty() ? topology::resolve_machine(argument).topology
                                             : topology::read_any_topology(text, argument);
  const std::size_t hosts = topology.hosts.size();
  for (topology::Host& host : topology.hosts) {
    std::string name = name_of(host, argument, hosts);
    groups.add(std::move(host), std::move(name), hosts == 1 ? canonical : "");
  }
}

topology::HostGroups read_all(const std::vector<std::string>& machines) {
  topology::HostGroups groups;
  for (const std::string& argument : machines) add_machine(groups, argument);
  return groups;
}

topology::HostGroup group_of(const std::string& argument) {
  return {topology::resolve_machine(argument).only_host(), {argument}};
}

/// Every kind among the others against the reference.
analysis::DiffReport against_reference(const std::vector<std::string>& machines) {
  const topology::HostGroup reference = group_of(machines.front());
  analysis::DiffReport report;
  for (const topology::HostGroup& group : read_all({machines.begin() + 1, machines.end()}).take())
    report.pairs.push_back(analysis::compare_hosts(reference, group, true));
  return report;
}

analysis::DiffReport compare_machines(std::vector<std::string> machines) {
  const bool reference = topology::named_reference(machines.front()) != nullptr;
  if (machines.size() == 1 && !reference) {
    // A file of several hosts is a cluster by itself.
    topology::HostGroups groups = read_all(machines);
    std::vector<topology::HostGroup> taken = groups.take();
    if (taken.size() > 1 || taken.front().names.size() > 1) return analysis::compare_groups(taken);
  }
  if (machines.size() == 1) machines.emplace_back(topology::kLiveMachine);
  if (reference) return against_reference(machines);
  if (machines.size() > 2) return analysis::compare_groups(read_all(machines).take());
  return {{analysis::compare_hosts(group_of(machines[0]), group_of(machines[1]), false)}};
}

}  // namespace

Answer topology_diff(const TopologyOptions& options) {
  const analysis::DiffReport report = compare_machines(options.machines);
  return {analysis::report(report, options.format.empty() ? "text" : options.format),
          report.has_fault() ? ExitStatus::low : ExitStatus::ok};
}

}  // namespace collbench::program
