#pragma once
#include <string_view>

#include "launch/ranks.hpp"

namespace collbench {

/// How ranks' times became one, as records write it: "max", "avg", "min" or "rank 0".
[[nodiscard]] std::string_view reduction_name(AcrossRanks how);

}  // namespace collbench
