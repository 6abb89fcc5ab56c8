#pragma once
#include <string>

#include "topology/topology.hpp"

namespace collbench {

/// The path types of all pairs of GPUs and NICs, with the legend of the words that stand in it.
[[nodiscard]] std::string show_matrix(const Host& host);

}  // namespace collbench
