#pragma once
#include <cstddef>
#include <vector>

namespace collbench {

/// Where positive values fall into groups that lie clearly apart: the boundaries between them, rising; empty
/// where they are one group. Two groups lie apart where the gap between them is a factor of 1.2 or more and
/// at least half as wide, on a logarithmic scale, as the middle 80 % of either group, and each has at least
/// five of the values and a twentieth of all: a few disturbed values are no group. The widest such gap
/// divides first, then each side is looked at alone. Values of 0 and below are passed over.
[[nodiscard]] std::vector<double> group_boundaries(std::vector<double> values);

/// In which of the groups a value lies, counted from the lowest.
[[nodiscard]] std::size_t group_of(double value, const std::vector<double>& boundaries);

}  // namespace collbench
