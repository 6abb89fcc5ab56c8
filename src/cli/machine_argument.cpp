#include "src/cli/machine_argument.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <utility>

#include "base/error.hpp"
#include "base/files.hpp"
#include "src/cli/standard_streams.hpp"
#include "topology/graph/merge.hpp"
#include "topology/machines/reference_machines.hpp"
#include "topology/machines/resolve.hpp"
#include "topology/readers/gather_live.hpp"
#include "topology/readers/read_any.hpp"

namespace collbench::program {

void add_machine_arguments(CLI::App& command, std::vector<std::string>& machines) {
  command.add_option("machines", machines, "what describes the machine (this machine)")
      ->option_text("[MACHINE...]");
  command.footer(kMachineHelp);
}

topology::Topology machine_at(const std::string& argument) {
  if (argument == kLiveMachine) return {{topology::gather_live()}};
  if (argument == "-") return topology::read_any_topology(input_text(argument), input_name(argument));
  return topology::resolve_machine(argument);
}

topology::Topology machine_at(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return machine_at(kLiveMachine);
  if (arguments.size() == 1) return machine_at(arguments.front());
  std::vector<topology::Host> readings;
  for (const std::string& argument : arguments) {
    topology::Topology topology = machine_at(argument);
    if (topology.hosts.size() != 1) {
      throw usage_error(argument,
                        fmt::format("it describes {} hosts, and several inputs are merged into one host",
                                    topology.hosts.size()),
                        "give it as the only argument");
    }
    readings.push_back(std::move(topology.hosts.front()));
  }
  return {{topology::merge_hosts(readings)}};
}

topology::Host host_at(const std::string& argument) {
  topology::Topology topology = machine_at(argument);
  if (topology.hosts.size() != 1) {
    throw usage_error(argument,
                      fmt::format("it describes {} hosts, and one is needed", topology.hosts.size()),
                      "to compare its hosts with each other, give it as the only argument of topo diff");
  }
  return std::move(topology.hosts.front());
}

topology::Host node_of_topology(const std::string& topology) {
  if (const topology::ReferenceMachine* machine = topology::find_reference_machine(topology))
    return topology::reference_host(*machine);
  if (!std::filesystem::exists(topology)) {
    throw usage_error("--topology", "'" + topology + "' is neither a reference machine nor a file",
                      "give a name, such as hgx-h100, or a file that describes a node");
  }
  topology::Topology read = topology::read_any_topology(read_file(topology), topology);
  if (read.hosts.empty())
    throw usage_error("--topology", topology + " describes no host", "give another file");
  return std::move(read.hosts.front());
}

}  // namespace collbench::program
