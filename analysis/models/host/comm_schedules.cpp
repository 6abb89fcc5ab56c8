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

/// Children at distance `distance` of a binomial tree rooted at rank 0, each with its parent.
template <typename Add>
void for_each_child(int ranks, int distance, const Add& add) {
  for (int child = distance; child < ranks; child += 2 * distance) add(child, child - distance);
}

/// `send` for ranks that are counted from `root` on.
template <typename Send>
auto counted_from(int root, const HostModel& model, const Send& send) {
  return [root, ranks = model.ranks(), &send](int from, int to) {
    send((from + root) % ranks, (to + root) % ranks);
  };
}

template <typename Send>
auto turned_round(Send send) {
  return [send](int from, int to) { send(to, from); };
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

std::vector<Round> binomial_to_root(const HostModel& model, int root) {
  std::vector<Round> rounds;
  for (int distance = 1; distance < model.ranks(); distance *= 2) {
    rounds.push_back(round_with(model, [&](const auto& send) {
      for_each_child(model.ranks(), distance, counted_from(root, model, send));
    }));
  }
  return rounds;
}

std::vector<Round> binomial_from_root(const HostModel& model, int root) {
  std::vector<Round> rounds;
  for (int distance = 1; distance < model.ranks(); distance *= 2) {
    rounds.push_back(round_with(model, [&](const auto& send) {
      for_each_child(model.ranks(), distance, turned_round(counted_from(root, model, send)));
    }));
  }
  std::reverse(rounds.begin(), rounds.end());
  return rounds;
}

std::vector<Round> linear_to_root(const HostModel& model, int root) {
  std::vector<Round> rounds;
  for (int rank = 1; rank < model.ranks(); ++rank) {
    rounds.push_back(round_with(model, [&](const auto& send) { counted_from(root, model, send)(rank, 0); }));
  }
  return rounds;
}

std::vector<Round> linear_from_root(const HostModel& model, int root) {
  std::vector<Round> rounds;
  for (int rank = 1; rank < model.ranks(); ++rank) {
    rounds.push_back(round_with(model, [&](const auto& send) { counted_from(root, model, send)(0, rank); }));
  }
  return rounds;
}

Round chain_from_root(const HostModel& model, int root) {
  return round_with(model, [&](const auto& send) {
    for (int rank = 1; rank < model.ranks(); ++rank) counted_from(root, model, send)(rank - 1, rank);
  });
}

Round chain_to_root(const HostModel& model, int root) {
  return round_with(model, [&](const auto& send) {
    for (int rank = 1; rank < model.ranks(); ++rank) counted_from(root, model, send)(rank, rank - 1);
  });
}

}  // namespace collbench::analysis
