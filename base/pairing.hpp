#pragma once
#include <optional>

namespace collbench {

/// Rounds in which each of `count` members meets each other one exactly once.
[[nodiscard]] inline int pairing_rounds(int count) {
  if (count < 2) return 0;
  return count % 2 == 0 ? count - 1 : count;
}

/// A probe of the ranks or hosts by pairs runs at most so many of these rounds; more members take turns.
inline constexpr int kPairingRoundsPerProbe = 8;

/// Whom `member` meets in `round`; none when it sits out (`count` is odd). If a meets b, b meets a. The
/// circle method: Kirkman 1847.
[[nodiscard]] inline std::optional<int> pairing_partner(int member, int round, int count) {
  // On a circle of an odd number of slots those meet whose numbers add up to the round's; who would meet
  // itself meets the one that stands outside, or nobody.
  const int slots = pairing_rounds(count);
  const bool has_outsider = count % 2 == 0;
  if (has_outsider && member == slots) {
    for (int slot = 0; slot < slots; ++slot) {
      if (2 * slot % slots == round % slots) return slot;
    }
  }
  const int partner = ((round - member) % slots + slots) % slots;
  if (partner != member) return partner;
  return has_outsider ? std::optional(slots) : std::nullopt;
}

}  // namespace collbench
