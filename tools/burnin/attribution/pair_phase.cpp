#include "tools/burnin/attribution/pair_phase.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "tools/burnin/attribution/failure_verdicts.hpp"
#include "tools/burnin/attribution/mixed_fleet.hpp"
#include "tools/burnin/attribution/pairs/pair_repeats.hpp"

namespace collbench::analysis {
namespace {

std::set<PairOnRail> measured_pairs(const PairTable& table) {
  std::set<PairOnRail> measured;
  for (const RailTime& time : table.times) measured.insert({std::minmax(time.from, time.to), time.rail});
  return measured;
}

void measure_alone(BurninRecord& record, const PairOnRail& pair, const MeasureBatch& measure) {
  if (!measure({{pair}, true})) record.retests_left_out += 1;
}

/// Whoever is suspected; where that clears a pair on one rail, another of its rails may come to light.
void retest_alone(BurninRecord& record, const MeasureBatch& measure) {
  constexpr int kMaxTurns = 4;
  std::set<PairOnRail> done;
  for (int turn = 0; turn < kMaxTurns; ++turn) {
    std::vector<PairOnRail> open;
    for (const PairOnRail& pair : retests_of(record))
      if (done.insert(pair).second) open.push_back(pair);
    if (open.empty()) return;
    for (const PairOnRail& pair : open) measure_alone(record, pair, measure);
  }
}

/// Repeats what stands out, until few retests remain or a turn no longer halves it.
void repeat_in_batches(BurninRecord& record, const PairPhaseOptions& options, const MeasureBatch& measure) {
  std::size_t before = 0;
  while (retests_of(record).size() > options.few_retests) {
    const std::vector<PairOnRail> pairs = standing_out(record.table);
    if (pairs.empty() || (before > 0 && 2 * pairs.size() > before)) return;
    before = pairs.size();
    int repeat = last_repeat(record.table);
    for (const std::vector<PairOnRail>& batch : repeat_batches(record.table, pairs, options.at_once)) {
      if (!measure({batch, false, ++repeat})) {
        record.retests_left_out += 1;
        return;
      }
    }
  }
}

/// Among nodes that are alike.
void measure_pairs_of_alike(BurninRecord& record, const PairPhaseOptions& options,
                            const MeasureBatch& measure) {
  const std::set<PairOnRail> known = measured_pairs(record.table);
  const int nodes = static_cast<int>(record.table.nodes.size());
  for (const PairRound& round : pair_rounds(nodes, record.table.leaf_of_node, options.schedule)) {
    record.planned += static_cast<int>(round.size()) * record.table.rails;
    for (int rail = 0; rail < record.table.rails; ++rail) {
      std::vector<PairOnRail> open;
      for (const auto& pair : round) {
        if (!known.contains({pair, rail})) open.emplace_back(pair, rail);
      }
      for (const std::vector<PairOnRail>& batch : in_batches(open, options.at_once))
        if (!measure({batch})) record.left_out += static_cast<int>(batch.size());
    }
  }
  for (const PairFailure& failure : failures_to_retry(record))
    measure_alone(record, {{failure.a, failure.b}, failure.rail}, measure);
  for (const PairOnRail& pair : last_contacts(record)) measure_alone(record, pair, measure);
  repeat_in_batches(record, options, measure);
  retest_alone(record, measure);
  if (has_repeats(record.table)) return;
  for (const PairOnRail& pair : repeats_of(record)) measure_alone(record, pair, measure);
}

/// The same of `nodes` of `record`, which `measure` adds to.
void measure_pairs_among(const std::vector<int>& nodes, BurninRecord& record, const PairPhaseOptions& options,
                         const MeasureBatch& measure) {
  BurninRecord part = part_of(record, nodes);
  measure_pairs_of_alike(part, options, [&](const PairBatch& batch) {
    PairBatch renumbered = batch;
    for (auto& [pair, rail] : renumbered.pairs)
      pair = {nodes[slot_of(pair.first)], nodes[slot_of(pair.second)]};
    const bool was_measured = measure(renumbered);
    BurninRecord now = part_of(record, nodes);
    part.table = std::move(now.table);
    part.failures = std::move(now.failures);
    return was_measured;
  });
  record.planned += part.planned;
  record.left_out += part.left_out;
  record.retests_left_out += part.retests_left_out;
}

}  // namespace

void add_outcome(BurninRecord& record, const PairBatch& batch, const PairOnRail& pair,
                 const PairOutcome& outcome) {
  const auto [a, b] = pair.first;
  const int rail = pair.second;
  std::erase_if(record.failures, [&](const PairFailure& failure) {
    return failure.a == a && failure.b == b && failure.rail == rail;
  });
  if (!outcome.why.empty()) {
    record.failures.push_back({a, b, rail, outcome.why, batch.alone});
    return;
  }
  record.table.times.push_back(
      {a, b, rail, outcome.from_a, batch.alone, outcome.a.resent, outcome.a.waited, batch.repeat});
  record.table.times.push_back(
      {b, a, rail, outcome.from_b, batch.alone, outcome.b.resent, outcome.b.waited, batch.repeat});
}

void measure_pairs(BurninRecord& record, const PairPhaseOptions& options, const MeasureBatch& measure) {
  const std::vector<std::vector<int>> kinds = nodes_alike(record);
  if (kinds.size() < 2) {
    measure_pairs_of_alike(record, options, measure);
    return;
  }
  for (const std::vector<int>& nodes : kinds) {
    if (std::cmp_greater_equal(nodes.size(), kMinNodesOfPairs))
      measure_pairs_among(nodes, record, options, measure);
  }
}

}  // namespace collbench::analysis
