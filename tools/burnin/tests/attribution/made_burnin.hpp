#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "tools/burnin/attribution/burnin_text.hpp"
#include "tools/burnin/tests/attribution/made_pairs.hpp"

namespace collbench::analysis {

inline std::string burnin_text(const BurninRecord& record, int width) {
  return text(document_of(record, attribute(record)), {.columns = width});
}

/// A burn-in of all pairs of `nodes` hosts, 1 GB/s each way, times what `slower` says of a direction.
inline BurninRecord made_burnin(int nodes, int rails, const std::function<double(int, int, int)>& slower) {
  BurninRecord record;
  record.bytes = 1e6;
  record.table = made_pairs(nodes, rails, slower);
  return record;
}

/// No pair of `node` on `rail` gave a time.
inline void lose_rail(BurninRecord& record, int node, int rail) {
  std::erase_if(record.table.times, [&](const RailTime& time) {
    return time.rail == rail && (time.from == node || time.to == node);
  });
  for (int other = 0; std::cmp_less(other, record.table.nodes.size()); ++other) {
    if (other != node)
      record.failures.push_back({std::min(node, other), std::max(node, other), rail, "no <active> port"});
  }
}

/// Six healthy nodes whose times scatter by two thirds: a NIC at half would not stand out.
inline BurninRecord scattered_burnin() {
  BurninRecord record = made_burnin(6, 1, [](int, int, int) { return 1.0; });
  std::uint64_t counter = 7;
  for (RailTime& time : record.table.times)
    time.seconds *= 1 + static_cast<double>(scrambled(counter++) % 1000) / 500;
  return record;
}

/// Six nodes, of which n4 sends at half on rail 1, and n5 gave no time.
inline BurninRecord broken_burnin() {
  BurninRecord record;
  record.bytes = 1e6;
  record.table = made_pairs(6, 2, [](int from, int, int rail) { return from == 4 && rail == 1 ? 2.0 : 1; });
  std::erase_if(record.table.times, [](const RailTime& time) { return time.from == 5 || time.to == 5; });
  for (int node = 0; node < 5; ++node) record.failures.push_back({node, 5, 0, "exit status 255: no route"});
  record.planned = 30;
  record.left_out = 4;
  return record;
}

}  // namespace collbench::analysis
