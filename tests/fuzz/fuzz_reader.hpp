#pragma once
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.hpp"
#include "topology/graph/lookup.hpp"
#include "topology/graph/topology_json.hpp"
#include "topology/render/show.hpp"

namespace collbench {

/// What every reader owes for any bytes: an Error with a message, or a graph that holds together, can be
/// shown and survives saving and loading. Anything else (a crash, a hang, another exception) is a finding.
template <class Read>
int fuzz_reader(const std::uint8_t* data, std::size_t size, Read&& read) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const Topology topology{{read(text, "input")}};
    if (!what_does_not_hold(topology.hosts[0]).empty()) std::abort();
    if (topology.hosts[0].gpus.size() + topology.hosts[0].nics.size() > 64)
      return 0;  // slow to show, not wrong
    (void)show_topology(topology, {true, true});
    if (load_topology(save_topology(topology), "saved") != topology) std::abort();
  } catch (const Error& error) {
    if (describe(error).empty()) std::abort();
  }
  return 0;
}

}  // namespace collbench
