#pragma once
#include <optional>
#include <string>

#include "topology/graph/topology.hpp"

namespace collbench::analysis {

/// A NIC that is slower than the machine says.
struct SlowNic {
  int nic = 0;                ///< as `topo` counts them, from 0
  std::optional<int> node{};  ///< from 0; none: any
  /// One of the two: of its rate, below 1, or Gb/s.
  std::optional<double> part{};
  std::optional<double> gigabits_per_second{};
};

/// "nic 3 of node 17 at half", "nic 0 at 25 %", "nic 3 at 200 Gb/s". Throws Error (usage) that names `where`.
[[nodiscard]] SlowNic parse_slow_nic(const std::string& words, const std::string& where);

/// The node with that NIC. Throws Error (usage) that names `where` for a NIC or a node that there is not
/// (`nodes`: how many the job has), for a NIC whose rate is not known, and for one that would not be slower.
[[nodiscard]] topology::Host with_slow_nic(topology::Host host, const SlowNic& slow, int nodes,
                                           const std::string& where);

}  // namespace collbench::analysis
