#pragma once
#include <string_view>

#include "analysis/gpu/links.hpp"

namespace collbench {

/// What an algorithm reaches on large buffers, and the link that holds it there.
struct AlgorithmRate {
  std::string_view name;            ///< "ring", "tree", "nvls", "nvls_tree", "pairwise", "send_recv"
  double gigabytes_per_second = 0;  ///< S / time, as the column algbw: never busbw
  LinkLimit limit;                  ///< its full rate, of which the algorithm needs a part

  bool operator==(const AlgorithmRate&) const = default;
};

}  // namespace collbench
