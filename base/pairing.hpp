#pragma once
#include <optional>

namespace collbench {

/// Rounds in which each of `count` members meets each other one exactly once.
[[nodiscard]] int pairing_rounds(int count);

/// Whom `member` meets in `round`; none when it sits out (`count` is odd). If a meets b, b meets a. The
/// circle method: Kirkman 1847.
[[nodiscard]] std::optional<int> pairing_partner(int member, int round, int count);

}  // namespace collbench
