#include "src/cli/machine_argument.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "topology/graph/merge.hpp"
#include "topology/machines/resolve.hpp"

namespace collbench::program {

void add_machine_arguments(CLI::App& command, std::vector<std::string>& machines) {
  command.add_option("machines", machines, "what describes the machine (this machine)")
      ->option_text("[MACHINE...]");
  command.footer(std::string(kMachineHelp) + "\n" + kMergedMachinesHelp);
}

topology::Topology merged_machine(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return topology::resolve_machine(topology::kLiveMachine).topology;
  if (arguments.size() == 1) return topology::resolve_machine(arguments.front()).topology;
  std::vector<topology::Host> readings;
  for (const std::string& argument : arguments) {
    topology::Topology topology = topology::resolve_machine(argument).topology;
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

}  // namespace collbench::program
