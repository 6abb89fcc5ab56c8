#include "tools/burnin/attribution/group_phases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "tools/burnin/attribution/pair_outcome.hpp"
#include "tools/burnin/attribution/pairs/pair_effects.hpp"

namespace collbench::analysis {
namespace {

/// Groups of `size` in order; the last nodes that make none of their own, with some before them, in `rest`.
void cut(const std::vector<int>& nodes, std::size_t size, GroupBatch& batch, GroupBatch& rest) {
  const auto group = [&](std::size_t from) {
    const auto begin = nodes.begin() + static_cast<std::ptrdiff_t>(from);
    return GroupLaunch{BurninPhase::groups, {begin, begin + static_cast<std::ptrdiff_t>(size)}};
  };
  std::size_t from = 0;
  for (; from + size <= nodes.size(); from += size) batch.push_back(group(from));
  if (from < nodes.size()) rest.push_back(group(nodes.size() - size));
}

/// Groups below the leaf switches that hold one; the nodes of the others, in order, in groups that cross.
std::vector<GroupBatch> small_groups(const std::vector<int>& nodes, const std::vector<int>& leaf_of_node) {
  std::map<int, std::vector<int>> leaves;
  for (const int node : nodes) leaves[leaf_of_node.empty() ? 0 : leaf_of_node[slot_of(node)]].push_back(node);
  std::vector<GroupBatch> batches;
  for (const std::size_t size : {std::size_t{4}, std::size_t{8}, std::size_t{16}}) {
    if (size >= nodes.size()) break;
    GroupBatch batch;
    GroupBatch rest;
    std::vector<int> of_small_leaves;
    for (const auto& [leaf, members] : leaves) {
      if (members.size() >= size)
        cut(members, size, batch, rest);
      else
        of_small_leaves.insert(of_small_leaves.end(), members.begin(), members.end());
    }
    // Too few for a group of their own are in none of this size: nothing would be like it.
    if (of_small_leaves.size() >= size) cut(of_small_leaves, size, batch, rest);
    if (!batch.empty()) batches.push_back(std::move(batch));
    if (!rest.empty()) batches.push_back(std::move(rest));
  }
  return batches;
}

std::vector<GroupBatch> along_rails(const std::vector<int>& nodes, int rails) {
  std::vector<GroupBatch> batches;
  GroupBatch at_once;
  for (int rail = 0; rails > 1 && rail < rails; ++rail) {
    batches.push_back({{BurninPhase::rails, nodes, rail, true}});
    at_once.push_back({BurninPhase::rails, nodes, rail, false});
  }
  if (!at_once.empty()) batches.push_back(std::move(at_once));
  return batches;
}

GroupBatch each_node(BurninPhase phase, const std::vector<int>& nodes) {
  GroupBatch batch;
  for (const int node : nodes) batch.push_back({phase, {node}});
  return batch;
}

}  // namespace

const std::vector<std::string>& phase_names() {
  static const std::vector<std::string> names{"gpus",   "nodes", "rails",  "pairs",
                                              "groups", "whole", "halving"};
  return names;
}

std::string name(BurninPhase phase) { return phase_names().at(static_cast<std::size_t>(phase)); }

std::string stage(BurninPhase phase) { return "phase " + name(phase); }

std::vector<BurninPhase> burnin_phases() {
  std::vector<BurninPhase> phases;
  for (std::size_t i = 0; i < phase_names().size(); ++i) phases.push_back(static_cast<BurninPhase>(i));
  return phases;
}

std::vector<GroupBatch> group_batches(BurninPhase phase, const std::vector<int>& nodes, int rails,
                                      const std::vector<int>& leaf_of_node) {
  if (nodes.empty()) return {};
  switch (phase) {
    case BurninPhase::gpus:
    case BurninPhase::nodes:
      return {each_node(phase, nodes)};
    case BurninPhase::rails:
      return along_rails(nodes, rails);
    case BurninPhase::pairs:
    case BurninPhase::halving:
      return {};
    case BurninPhase::groups:
      return small_groups(nodes, leaf_of_node);
    case BurninPhase::whole:
      return {{{BurninPhase::whole, nodes, std::nullopt, true}}};
  }
  return {};
}

std::vector<int> nodes_per_leaf(const std::vector<int>& nodes, const std::vector<int>& leaf_of_node) {
  if (leaf_of_node.empty()) return {};
  std::map<int, int> counts;
  for (const int node : nodes) ++counts[leaf_of_node[slot_of(node)]];
  std::vector<int> per_leaf;
  for (const auto& [leaf, count] : counts) per_leaf.push_back(count);
  std::sort(per_leaf.rbegin(), per_leaf.rend());
  return per_leaf;
}

GroupOutcome group_outcome(std::string_view record, const GroupLaunch& launch,
                           const std::vector<std::string>& hosts) {
  GroupOutcome outcome;
  try {
    const Run run = run_from_json_text(record, "the record of a group");
    outcome.misplaced = misplacement(run, hosts);
    if (!outcome.misplaced.empty()) return outcome;
    const int ranks = static_cast<int>(run.ranks.size());
    for (const Row& row : run.rows) {
      const std::vector<double>& passes = row.measurement.pass_seconds;
      if (passes.empty()) continue;
      const Operation& measured = operation(row.measurement.key.operation);
      const auto rate = [&](double seconds) {
        return bus_bandwidth(measured, row.measurement.key.size_bytes, ranks, seconds);
      };
      const auto [fastest, slowest] = std::ranges::minmax_element(passes);
      if (*fastest <= 0) continue;
      const std::string& algorithm = row.measurement.key.algorithm;
      const bool is_forced = algorithm != kLibraryChoice;
      outcome.rates.push_back(
          {launch, fmt::format("{}{}{}", measured.option, is_forced ? " " : "", is_forced ? algorithm : ""),
           rate(*fastest), rate(*slowest), run.backend == BackendId::mpi});
      // Along a rail a node uses one of its NICs, which no floor is for.
      const bool is_known = !launch.rail && run.yardstick && run.yardstick->kind != YardstickKind::own &&
                            row.verdict.range && row.expectation.expected_seconds;
      if (!is_known) continue;
      outcome.rates.back().floor = row.verdict.range->below * rate(*row.expectation.expected_seconds);
      outcome.rates.back().machine = run.yardstick->machine;
    }
    if (outcome.rates.empty()) outcome.why = "the launch measured nothing";
  } catch (const Error& error) {
    outcome.why = fmt::format("what it printed is no record: {}", error.what());
  }
  return outcome;
}

}  // namespace collbench::analysis
