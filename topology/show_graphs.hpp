#pragma once
#include <string>

#include "topology/topology.hpp"

namespace collbench {

/// What NCCL's search made of the machine: for each algorithm the channels, what each carries, and the ways
/// that they take. Empty where no graph was read.
[[nodiscard]] std::string show_graphs(const Host& host);

}  // namespace collbench
