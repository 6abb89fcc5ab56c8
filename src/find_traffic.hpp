#pragma once
#include "base/record/traffic_matrix.hpp"
#include "launch/ranks.hpp"
#include "src/run_options.hpp"
#include "src/run_place.hpp"

namespace collbench {

/// What AllToAllv moves: by distance, or as the file of --counts says, which rank 0 alone reads. Collective.
/// Throws the same Error on all ranks for a file that cannot be read, or is for another number of ranks.
[[nodiscard]] TrafficMatrix find_traffic(const RunOptions& options, const RunPlace& place, Ranks& ranks);

}  // namespace collbench
