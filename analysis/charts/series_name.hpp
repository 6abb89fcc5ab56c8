#pragma once
#include <string>

#include "base/record/measurement.hpp"

namespace collbench::analysis {

/// What tells the series of one operation from each other, all but the size: "float sum, in place, ring", and
/// of operations that have a root "float, in place, root 1". A choice that was left to the library is not
/// named.
[[nodiscard]] std::string variant_name(const RowKey& key);

/// The same after the operation: "AllReduce float sum, in place, ring".
[[nodiscard]] std::string series_name(const RowKey& key);

}  // namespace collbench::analysis
