#include <algorithm>
#include <utility>

#include "base/units.hpp"
#include "tools/nccl_plan/report/words.hpp"

namespace collbench::analysis {
namespace {

/// Each node's ranks in the order of `path`. None where `path` is not each of the ranks once.
std::optional<std::vector<std::vector<int>>> visits_of(const NcclPlan& plan, const std::vector<int>& path) {
  const std::set<int> ranks(path.begin(), path.end());
  if (std::cmp_not_equal(path.size(), plan.ranks) || ranks.size() != path.size() || *ranks.begin() != 0 ||
      *ranks.rbegin() != plan.ranks - 1) {
    return std::nullopt;
  }
  std::vector<std::vector<int>> visits(static_cast<std::size_t>(plan.nodes));
  for (const int rank : path)
    visits.at(static_cast<std::size_t>(rank / (plan.ranks / plan.nodes))).push_back(rank);
  return visits;
}

}  // namespace

std::vector<NcclLane> ring_lanes(const NcclPlan& plan) {
  std::vector<NcclLane> lanes;
  const int per_node = plan.ranks / plan.nodes;
  for (const NcclWay& way : ring_ways(plan)) {
    std::vector<int> ring = plan.rings[static_cast<std::size_t>(way.channels.front())];
    // From where it enters the node of its first rank.
    while (!ring.empty() && plan.nodes > 1 && ring.back() / per_node == ring.front() / per_node &&
           !std::ranges::all_of(ring, [&](int rank) { return rank / per_node == ring[0] / per_node; })) {
      std::rotate(ring.begin(), ring.end() - 1, ring.end());
    }
    auto visits = visits_of(plan, ring);
    if (!visits) continue;
    NcclLane& lane = lanes.emplace_back(NcclLane{
        "ring " + number_ranges(way.channels), way.words, way.channels.front(), {}, std::move(*visits), {}});
    for (std::size_t i = 0; i < ring.size(); ++i) lane.hops.push_back({ring[i], ring[(i + 1) % ring.size()]});
  }
  return lanes;
}

std::vector<NcclLane> tree_lanes(const NcclPlan& plan) {
  std::vector<NcclLane> lanes;
  for (const NcclWay& way : tree_ways(plan)) {
    if (way.words == kWayNotKnown) continue;
    const auto& parents = plan.tree_parents[static_cast<std::size_t>(way.channels.front())];
    NcclLane lane{"tree " + number_ranges(way.channels), way.words, way.channels.front(), {}, {}, {}};
    std::vector<int> path;
    std::vector<int> next;
    for (int rank = 0; std::cmp_less(rank, parents.size()); ++rank) {
      if (parents[static_cast<std::size_t>(rank)] < 0) next.push_back(rank);
    }
    lane.root = next.front();
    while (!next.empty()) {
      const int rank = next.back();
      next.pop_back();
      path.push_back(rank);
      for (int child = static_cast<int>(parents.size()); child-- > 0;) {
        if (parents[static_cast<std::size_t>(child)] != rank) continue;
        next.push_back(child);
        lane.hops.push_back({rank, child});
      }
    }
    auto visits = visits_of(plan, path);
    if (!visits) continue;
    lane.visits = std::move(*visits);
    lanes.push_back(std::move(lane));
  }
  return lanes;
}

std::vector<NcclRail> rails_of(const NcclPlan& plan) {
  const int per_node = plan.ranks / plan.nodes;
  std::vector<NcclRail> rails;
  for (const NcclConnection& each : plan.connections) {
    if (!each.send_nic || !each.receive_nic) continue;
    NcclRail rail{{{each.from / per_node, *each.send_nic}, {each.to / per_node, *each.receive_nic}},
                  {each.channel}};
    std::erase_if(rails, [&rail](const NcclRail& other) {
      const bool joined =
          std::ranges::any_of(other.ends, [&rail](const auto& end) { return rail.ends.contains(end); });
      if (!joined) return false;
      rail.ends.insert(other.ends.begin(), other.ends.end());
      rail.channels.insert(other.channels.begin(), other.channels.end());
      return true;
    });
    rails.push_back(std::move(rail));
  }
  std::ranges::sort(rails, [](const NcclRail& a, const NcclRail& b) {
    return a.ends.begin()->second < b.ends.begin()->second;
  });
  return rails;
}

}  // namespace collbench::analysis
