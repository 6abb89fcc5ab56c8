#include "src/run/node_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>

#include "analysis/verdict/verdict.hpp"
#include "base/json_reader.hpp"
#include "base/units.hpp"
#include "launch/agreement.hpp"

namespace collbench::program {
namespace {

constexpr std::uint64_t kLargest = kGiB;
constexpr double kAloneShare = 0.05;      // of the run's time
constexpr double kMinAlone = 5;           // seconds: NCCL's connections take some of it
constexpr double kPairsShare = 0.1;       // of all rounds
constexpr double kMinRound = 3;           // seconds; with less, no pairs
constexpr double kMaxStep = 15;           // seconds
constexpr std::size_t kNodesOfARing = 3;  // two nodes are one pair, which the rows measure

std::optional<RowKey> largest_of(OperationId operation, const std::vector<RowKey>& plan) {
  std::optional<RowKey> largest;
  for (const RowKey& row : plan) {
    const bool is_wanted = row.operation == operation && row.algorithm == kLibraryChoice &&
                           row.size_bytes >= analysis::kLargeSize && row.size_bytes <= kLargest;
    if (is_wanted && (!largest || row.size_bytes > largest->size_bytes)) largest = row;
  }
  return largest;
}

std::optional<RowKey> row_of_pairs(const std::vector<RowKey>& plan) {
  using enum OperationId;
  for (const OperationId each : {all_gather, reduce_scatter, all_reduce})
    if (const auto row = largest_of(each, plan)) return row;
  return std::nullopt;
}

/// Each node and the next one, in as few rounds as each node can be in one pair of: two, or three of an odd
/// number, whose last pair has none to stand beside.
std::vector<std::vector<std::vector<int>>> rounds_of_pairs(int nodes) {
  std::vector<std::vector<std::vector<int>>> rounds(nodes % 2 == 0 ? 2 : 3);
  for (int node = 0; node < nodes; ++node) {
    const bool is_odd_one = nodes % 2 != 0 && node == nodes - 1;
    rounds[is_odd_one ? 2 : static_cast<std::size_t>(node % 2)].push_back({node, (node + 1) % nodes});
  }
  return rounds;
}

/// The group of `node` in `step`, by its number; none: past all of them.
std::size_t group_of(int node, const GroupStep& step) {
  const auto found = std::ranges::find_if(step.groups, [node](const std::vector<int>& group) {
    return std::ranges::find(group, node) != group.end();
  });
  return static_cast<std::size_t>(found - step.groups.begin());
}

}  // namespace

std::vector<GroupStep> group_steps(const std::vector<RowKey>& plan, const Identities& identities,
                                   const collectives::PlanRequest& request, double run_seconds) {
  const std::vector<int> locals = ranks_per_node(identities);
  const auto nodes = static_cast<int>(locals.size());
  if (nodes < 2 || std::ranges::any_of(locals, [&](int n) { return n != locals.front(); })) return {};
  std::vector<GroupStep> steps;
  if (const auto row = largest_of(OperationId::all_reduce, plan); row && locals.front() > 1) {
    steps.push_back({.row = *row,
                     .where = "on each node alone",
                     .groups = {},
                     .seconds = std::clamp(run_seconds * kAloneShare, kMinAlone, kMaxStep)});
    for (int node = 0; node < nodes; ++node) steps.back().groups.push_back({node});
  }
  const auto row = row_of_pairs(plan);
  if (!row || locals.size() < kNodesOfARing) return steps;
  std::vector<std::vector<std::vector<int>>> rounds = rounds_of_pairs(nodes);
  const double seconds = std::min(run_seconds * kPairsShare / static_cast<double>(rounds.size()), kMaxStep);
  if (seconds < kMinRound) return steps;
  const RowKey of_pair = collectives::row_for_ranks(*row, 2 * locals.front(), request);
  for (std::vector<std::vector<int>>& round : rounds)
    steps.push_back({.row = of_pair,
                     .where = "on pairs of neighboring nodes",
                     .groups = std::move(round),
                     .seconds = seconds});
  return steps;
}

GroupRanks::GroupRanks(const launch::CollectiveWait& all, const RunContext& context,
                       const launch::Session& session, const GroupStep& step)
    : all_(all),
      ranks_([&] {
        // Who waits is in a group of its node, behind all that measure.
        const int node = context.identities[static_cast<std::size_t>(all.ranks().rank())].node;
        const std::size_t group = group_of(node, step);
        const bool waits = group == step.groups.size();
        return session.ranks_of(static_cast<int>(group) + (waits ? node : 0));
      }()),
      waiter_(all.among(*ranks_)) {
  const int node = context.identities[static_cast<std::size_t>(all.ranks().rank())].node;
  const std::size_t group = group_of(node, step);
  if (group == step.groups.size()) return;
  for (const Identity& each : context.identities) {
    if (group_of(each.node, step) != group) continue;
    hosts_.push_back(each.host);
    if (each.local_rank == 0) nodes_.push_back(each.host);
  }
}

std::vector<NodeGroup> GroupRanks::measure(const RunBackend& backend, const RowKey& row,
                                           const collectives::MeasurementLoopOptions& options,
                                           const collectives::MeasurementObserver& observer) const {
  NodeGroup mine{.hosts = nodes_, .ranks = ranks_->size(), .row = {}};
  std::optional<Error> failed;
  if (!waits()) {
    backend.measure_among(waiter_);
    try {
      mine.row.measurement =
          collectives::run_measurement_loop(*ranks_, *backend.backend, {row}, hosts_, options, observer)
              .rows.front();
    } catch (const launch::AgreedError& error) {
      failed = Error(error.status(), fmt::format("{} on {}", error.where(), name(mine)), error.what(),
                     error.next_step());
    }
  }
  launch::agree_on_groups(all_.ranks(), failed);
  backend.measure_among(all_);
  mine.row.measurement.ranks.clear();  // by their number in the group
  const bool answers = ranks_->is_root() && !waits();
  const std::string text = answers ? json_line(node_group_to_json(mine)) : std::string();
  std::vector<NodeGroup> groups;
  for (const std::string& each : all_.ranks().gather(text)) {
    if (each.empty()) continue;
    const nlohmann::json json = parse_json_line(each, "a group of nodes");
    groups.push_back(node_group_from_json(JsonReader(json, "a group of nodes")));
  }
  return groups;
}

}  // namespace collbench::program
