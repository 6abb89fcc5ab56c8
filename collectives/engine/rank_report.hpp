#pragma once
#include "base/record/measurement.hpp"

namespace collbench::collectives {

/// What a rank tells rank 0 after a block, as it travels.
struct RankReport {
  RankTimes times;
  bool interrupted = false;  ///< somebody asked this rank to end
};

}  // namespace collbench::collectives
