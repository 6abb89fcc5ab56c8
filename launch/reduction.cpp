#include "launch/reduction.hpp"

#include <algorithm>
#include <cstddef>

namespace collbench::launch {

void combine(std::span<double> values, std::span<const double> others, RankAggregate how) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    switch (how) {
      case RankAggregate::minimum:
        values[i] = std::min(values[i], others[i]);
        break;
      case RankAggregate::maximum:
        values[i] = std::max(values[i], others[i]);
        break;
      case RankAggregate::average:
        values[i] += others[i];
        break;
      case RankAggregate::rank0:
        break;
    }
  }
}

}  // namespace collbench::launch
