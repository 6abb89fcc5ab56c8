#include "analysis/models/host/comm_schedules.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace collbench::analysis {
namespace {

/// The round of `destinations` filled in by `fill`, with nobody sending at first.
template <typename Fill>
Round round_with(const HostModel& model, const Fill& fill) {
  std::vector<int> destinations(model.node.size(), kNobody);
  fill([&destinations](int from, int to) { destinations.at(static_cast<std::size_t>(from)) = to; });
  return round_of(model, destinations);
}

int reversed_bits(int number, int count) {
  int result = 0;
  for (int bit = 1; bit < count; bit *= 2) result = 2 * result + ((number & bit) != 0 ? 1 : 0);
  return result;
}

/// The round in which `hops` calls its argument with each child and its parent, ranks being counted from
/// `root` on.
template <typename Hops>
Round tree_round(const HostModel& model, TreeWay way, int root, const Hops& hops) {
  return round_with(model, [&](const auto& send) {
    hops([&](int child, int parent) {
      const int below = (child + root) % model.ranks();
      const int above = (parent + root) % model.ranks();
      way == TreeWay::to_root ? send(below, above) : send(above, below);
    });
  });
}

}  // namespace

Hypercube::Hypercube(const HostModel& model) : model_(model) {
  const int ranks = model.ranks();
  const int pairs = ranks - static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)));
  for (int pair = 0; pair < pairs; ++pair) {
    guests_.push_back(2 * pair);
    ranks_.push_back(2 * pair + 1);
  }
  for (int rank = 2 * pairs; rank < ranks; ++rank) ranks_.push_back(rank);
}

Round Hypercube::exchange(int mask) const {
  return round_with(model_, [&](const auto& send) {
    for (int i = 0; i < participants(); ++i) {
      send(ranks_[static_cast<std::size_t>(i)], ranks_.at(static_cast<std::size_t>(i ^ mask)));
    }
  });
}

Round Hypercube::mirror() const {
  return round_with(model_, [&](const auto& send) {
    for (int i = 0; i < participants(); ++i) {
      const int to = reversed_bits(i, participants());
      if (to != i) send(ranks_[static_cast<std::size_t>(i)], ranks_[static_cast<std::size_t>(to)]);
    }
  });
}

Round Hypercube::guests_to_hosts() const {
  return round_with(model_, [&](const auto& send) {
    for (std::size_t i = 0; i < guests_.size(); ++i) send(guests_[i], ranks_[i]);
  });
}

Round Hypercube::hosts_to_guests() const {
  return round_with(model_, [&](const auto& send) {
    for (std::size_t i = 0; i < guests_.size(); ++i) send(ranks_[i], guests_[i]);
  });
}

Round Hypercube::guests_with_hosts() const {
  return round_with(model_, [&](const auto& send) {
    for (std::size_t i = 0; i < guests_.size(); ++i) {
      send(guests_[i], ranks_[i]);
      send(ranks_[i], guests_[i]);
    }
  });
}

std::vector<Round> binomial_rounds(const HostModel& model, TreeWay way, int root) {
  std::vector<Round> rounds;
  for (int distance = 1; distance < model.ranks(); distance *= 2) {
    rounds.push_back(tree_round(model, way, root, [&](const auto& hop) {
      for (int child = distance; child < model.ranks(); child += 2 * distance) hop(child, child - distance);
    }));
  }
  if (way == TreeWay::from_root) std::ranges::reverse(rounds);
  return rounds;
}

std::vector<Round> linear_rounds(const HostModel& model, TreeWay way, int root) {
  std::vector<Round> rounds;
  for (int rank = 1; rank < model.ranks(); ++rank)
    rounds.push_back(tree_round(model, way, root, [rank](const auto& hop) { hop(rank, 0); }));
  return rounds;
}

Round chain_round(const HostModel& model, TreeWay way, int root) {
  return tree_round(model, way, root, [&](const auto& hop) {
    for (int rank = 1; rank < model.ranks(); ++rank) hop(rank, rank - 1);
  });
}

}  // namespace collbench::analysis
