#pragma once
#include <cstddef>
#include <vector>

#include "tools/burnin/attribution/pairs/pair_effects.hpp"
#include "tools/burnin/attribution/pairs/pair_schedule.hpp"

// Pairs of a round disturb one another, and others' traffic disturbs them. What stood out is measured again
// in batches of disjoint pairs, beside pairs that did not: company only adds time, so whoever is fast beside
// others is cleared without being alone. Only to accuse somebody takes times alone.

namespace collbench::analysis {

[[nodiscard]] bool has_repeats(const PairTable& table);

/// A table whose repeats have been taken in.
struct SettledPairs {
  PairTable table;  ///< without times of repeats
  std::size_t repeated =
      0;                  ///< directions that stood out in their round and were measured again beside others
  std::size_t eased = 0;  ///< of these, now like the others
};

/// Each direction that stood out takes the time of its fastest repeat, less what the batch of that repeat
/// costs pairs that did not stand out (the median of at least kMinReferences directions of its class over
/// their usual time): a batch is not as full as a round. A batch with fewer references decides nothing.
[[nodiscard]] SettledPairs settled_pairs(const PairTable& table);
inline constexpr std::size_t kMinReferences = 6;

/// Pairs of which a direction stands out by more than line_of_pairs beyond what its class and the parts of
/// nodes without a part of their own explain, after all repeats. Those of a node that has a part of its own
/// only until they were repeated once: from then on its times alone decide.
[[nodiscard]] std::vector<PairOnRail> standing_out(const PairTable& table);

/// Disjoint pairs on any rails, of which at least half are references and the others of `pairs`: `at_once`
/// pairs at most, and half of the hosts (of fewer than 32 up to 16), so that less goes on than in a round.
/// Empty where that is not enough for references.
[[nodiscard]] std::vector<std::vector<PairOnRail>> repeat_batches(const PairTable& table,
                                                                  const std::vector<PairOnRail>& pairs,
                                                                  int at_once);

/// The number of the last batch of repeats; 0: there is none.
[[nodiscard]] int last_repeat(const PairTable& table);

}  // namespace collbench::analysis
