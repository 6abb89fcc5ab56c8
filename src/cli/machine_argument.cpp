#include "src/cli/machine_argument.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "src/cli/output.hpp"
#include "topology/machines/resolve.hpp"
#include "topology/readers/gather_live.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::program {

topology::Topology machine_at(const std::string& argument) {
  if (argument == kLiveMachine) return {{topology::gather_live()}};
  if (argument == "-") return topology::read_any_topology(input_text(argument), input_name(argument));
  return topology::resolve_machine(argument);
}

topology::Host host_at(const std::string& argument) {
  topology::Topology topology = machine_at(argument);
  if (topology.hosts.size() != 1) {
    throw usage_error(argument, fmt::format("it holds {} hosts", topology.hosts.size()),
                      "give it alone, and they are compared with each other");
  }
  return std::move(topology.hosts.front());
}

}  // namespace collbench::program
