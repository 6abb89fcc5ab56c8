#include "src/commands/topology_diff.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "analysis/report/diff_report.hpp"
#include "base/files.hpp"
#include "base/text_input.hpp"
#include "src/cli/machine_argument.hpp"
#include "topology/graph/host_signature.hpp"
#include "topology/machines/reference_machines.hpp"
#include "topology/readers/read_any.hpp"

namespace collbench::program {
namespace {

/// Two files of one machine have one host name: the file tells them apart.
std::string name_of(const topology::Host& host, const std::string& place, std::size_t hosts) {
  if (hosts == 1) return place;
  return fmt::format("{} of {}", host.name.value_or("a host"), place);
}

/// The text of a file that may be a saved machine; empty for any other place.
std::string saved_text(const std::string& place) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(place, ignored)) return {};
  std::string text = read_file(place);
  return text.starts_with('{') ? text : std::string();
}

/// A file that says the same as an earlier one, but for what device pairs are called, is not read again: of
/// the files of a thousand nodes, reading is what takes the time.
void add_place(topology::HostGroups& groups, const std::string& place) {
  const std::string text = saved_text(place);
  if (!text.empty()) require_text(text, place, "a topology saved by 'collbench topo save'");
  const std::string shape = topology::canonical_json(text);
  if (!text.empty() && groups.add_twin(shape, place)) return;
  topology::Topology topology = text.empty() ? machine_at(place) : topology::read_any_topology(text, place);
  const std::size_t hosts = topology.hosts.size();
  for (topology::Host& host : topology.hosts) {
    std::string name = name_of(host, place, hosts);
    groups.add(std::move(host), std::move(name), hosts == 1 ? shape : "");
  }
}

topology::HostGroups read_all(const std::vector<std::string>& places) {
  topology::HostGroups groups;
  for (const std::string& place : places) add_place(groups, place);
  return groups;
}

topology::HostGroup group_of(const std::string& place) { return {host_at(place), {place}}; }

/// Every kind among the others against the reference.
analysis::DiffReport against_reference(const std::vector<std::string>& places) {
  const topology::HostGroup reference = group_of(places.front());
  analysis::DiffReport report;
  for (const topology::HostGroup& group : read_all({places.begin() + 1, places.end()}).take())
    report.pairs.push_back(analysis::compare_hosts(reference, group, true));
  return report;
}

analysis::DiffReport compare_places(std::vector<std::string> places) {
  const bool reference = topology::find_reference_machine(places.front()) != nullptr;
  if (places.size() == 1 && !reference) {
    // A file of several hosts is a cluster by itself.
    topology::HostGroups groups = read_all(places);
    std::vector<topology::HostGroup> taken = groups.take();
    if (taken.size() > 1 || taken.front().names.size() > 1) return analysis::compare_groups(taken);
  }
  if (places.size() == 1) places.emplace_back(kLiveMachine);
  if (reference) return against_reference(places);
  if (places.size() > 2) return analysis::compare_groups(read_all(places).take());
  return {{analysis::compare_hosts(group_of(places[0]), group_of(places[1]), false)}};
}

}  // namespace

Answer topology_diff(const TopologyOptions& options) {
  const analysis::DiffReport report = compare_places(options.places);
  return {analysis::render_diff(report, options.format.empty() ? "text" : options.format),
          report.has_fault() ? ExitStatus::low : ExitStatus::ok};
}

}  // namespace collbench::program
