#include "base/pairing.hpp"

namespace collbench {

int pairing_rounds(int count) {
  if (count < 2) return 0;
  return count % 2 == 0 ? count - 1 : count;
}

std::optional<int> pairing_partner(int member, int round, int count) {
  // On a circle of an odd number of seats those meet whose numbers add up to the round's; who would meet
  // itself meets the one that stands outside, or nobody.
  const int seats = pairing_rounds(count);
  const bool has_outsider = count % 2 == 0;
  if (has_outsider && member == seats) {
    for (int seat = 0; seat < seats; ++seat) {
      if (2 * seat % seats == round % seats) return seat;
    }
  }
  const int partner = ((round - member) % seats + seats) % seats;
  if (partner != member) return partner;
  return has_outsider ? std::optional(seats) : std::nullopt;
}

}  // namespace collbench
