#pragma once
#include <span>

#include "base/record/states.hpp"

namespace collbench::launch {

/// Element by element: another rank's values into those of the ranks so far, where an average is a sum until
/// all have come. rank0 leaves `values` as they are.
void combine(std::span<double> values, std::span<const double> others, RankAggregate how);

}  // namespace collbench::launch
