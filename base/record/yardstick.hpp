#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/record/fields.hpp"

namespace collbench {

/// How it is known what a sound machine of this kind gives.
enum class YardstickKind {
  named,     ///< the user named a reference machine
  detected,  ///< the machine has the GPUs and the NICs of a reference machine
  own,       ///< no reference machine has them: its own devices, each as good as the best of its kind
  slowest,   ///< of a log that names no machine: the slowest of the reference machines that fit it
  unknown,   ///< of such a log that is not slow by all of them: nobody knows
};
template <>
inline constexpr std::array<std::string_view, 5> kWords<YardstickKind>{"named", "detected", "own", "slowest",
                                                                       "unknown"};

/// The machine that rows are held against: a sound one, and not what damage left of this one.
struct Yardstick {
  YardstickKind kind = YardstickKind::named;
  std::string machine;                   ///< the reference machine; of `own` the nearest one, or empty
  std::vector<std::string> differences;  ///< of what was found from `machine`: "a GPU has 14 NVLinks"

  bool operator==(const Yardstick&) const = default;
};

void each_field(auto& visit, Either<Yardstick> auto& yardstick) {
  visit("kind", yardstick.kind);
  visit("machine", yardstick.machine);
  visit("differences", yardstick.differences);
}

}  // namespace collbench
