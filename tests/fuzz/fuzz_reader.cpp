#include "tests/fuzz/fuzz_reader.hpp"

#include <cstdlib>

#include "base/error.hpp"
#include "topology/graph/lookup.hpp"
#include "topology/graph/topology_json.hpp"
#include "topology/render/render.hpp"

namespace collbench {

int fuzz_reader(const std::uint8_t* data, std::size_t size,
                const std::function<topology::Host(std::string_view text, std::string_view file)>& read) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const topology::Topology graph{{read(text, "input")}};
    if (!topology::find_inconsistency(graph.hosts[0]).empty()) std::abort();
    if (graph.hosts[0].gpus.size() + graph.hosts[0].nics.size() > 64) return 0;  // slow to show, not wrong
    (void)topology::show_topology(graph, {true, true});
    if (topology::load_topology(topology::save_topology(graph), "saved") != graph) std::abort();
  } catch (const Error& error) {
    if (describe(error).empty()) std::abort();
  }
  return 0;
}

}  // namespace collbench
