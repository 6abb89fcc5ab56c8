#include "src/cli/machine_argument.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <utility>

#include "base/error.hpp"
#include "topology/graph/merge.hpp"
#include "topology/machines/resolve.hpp"
#include "topology/render/render.hpp"

namespace collbench::program {

void add_machine_arguments(CLI::App& command, std::vector<std::string>& machines) {
  command.add_option("machines", machines, "what describes the machine (this machine)")
      ->option_text("[MACHINE...]");
  command.footer(std::string(kMachineHelp) + "\n" + kMergedMachinesHelp);
}

namespace {

topology::Topology merged(const std::vector<std::string>& arguments) {
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

}  // namespace

topology::Topology merged_machine(const std::vector<std::string>& arguments) {
  topology::Topology machine = merged(arguments);
  for (topology::Host& host : machine.hosts) host = topology::with_one_line_texts(std::move(host));
  return machine;
}

}  // namespace collbench::program
