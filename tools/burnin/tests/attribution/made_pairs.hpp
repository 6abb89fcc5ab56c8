#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/deterministic_random.hpp"
#include "tools/burnin/attribution/blame.hpp"

namespace collbench::analysis {

/// Times of all pairs of `nodes` nodes over `rails` rails: 1 ms, 0.2 % of noise (uniform, the same for the
/// same seed), times what `slower` says of a direction.
inline PairTable made_pairs(int nodes, int rails, const std::function<double(int, int, int)>& slower,
                            std::uint64_t seed = 1) {
  PairTable table;
  table.rails = rails;
  for (int node = 0; node < nodes; ++node) table.nodes.push_back("n" + std::to_string(node));
  std::uint64_t counter = scrambled(seed);
  for (int from = 0; from < nodes; ++from) {
    for (int to = 0; to < nodes; ++to) {
      for (int rail = 0; from != to && rail < rails; ++rail) {
        const double noise = static_cast<double>(scrambled(counter++) % 4001) / 1e6 - 0.002;
        table.times.push_back({from, to, rail, 1e-3 * (1 + noise) * slower(from, to, rail), true});
      }
    }
  }
  return table;
}

}  // namespace collbench::analysis
