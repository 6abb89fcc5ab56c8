#include "src/run/named_host.hpp"

#include <filesystem>

#include "base/error.hpp"
#include "base/files.hpp"
#include "topology/machines/reference_machines.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::program {

topology::Host named_host(const std::string& topology) {
  if (const topology::ReferenceMachine* machine = topology::find_reference_machine(topology))
    return topology::reference_host(*machine);
  if (!std::filesystem::exists(topology)) {
    throw usage_error("--topology", "'" + topology + "' is neither a reference machine nor a file",
                      "name one, such as hgx-h100, or a file that describes a node");
  }
  topology::Topology read = topology::read_any_topology(read_file(topology), topology);
  if (read.hosts.empty())
    throw usage_error("--topology", topology + " has no host in it", "give another file");
  return std::move(read.hosts.front());
}

}  // namespace collbench::program
