#include "tests/collectives/mpi/open_mpi/expected_messages.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <utility>

namespace collbench::collectives {
namespace {

/// The messages of one rank, in elements.
class Sender {
 public:
  Sender(const CollectiveCall& call, int rank) : call_(call), rank_(rank) {}

  [[nodiscard]] int ranks() const { return call_.ranks; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] std::uint64_t count() const { return call_.count; }
  [[nodiscard]] int right(int distance = 1) const { return (rank_ + distance) % call_.ranks; }
  [[nodiscard]] int left(int distance = 1) const { return (rank_ - distance + call_.ranks) % call_.ranks; }

  void send(int to, std::uint64_t elements, bool persistent = false) {
    messages_.push_back({to, elements * call_.element_bytes, persistent});
  }
  [[nodiscard]] Messages messages() const { return messages_; }

 private:
  CollectiveCall call_;
  int rank_;
  Messages messages_;
};

/// Size of part `index` when `elements` are dealt to `parts` parts, the first ones one larger.
std::uint64_t part(std::uint64_t elements, std::uint64_t parts, std::uint64_t index) {
  return elements / parts + (index < elements % parts ? 1 : 0);
}

/// A number of ranks that is no power of two: the first 2 × extra ranks work in pairs, and one of each pair
/// takes part as a virtual rank.
struct PairedRanks {
  int power;  ///< virtual ranks
  int extra;  ///< pairs
  int stays;  ///< which of a pair takes part: 0 the even one, 1 the odd one

  PairedRanks(int ranks, int who_stays)
      : power(static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)))),
        extra(ranks - power),
        stays(who_stays) {}
  [[nodiscard]] bool paired(int rank) const { return rank < 2 * extra; }
  [[nodiscard]] bool leaves(int rank) const { return paired(rank) && rank % 2 != stays; }
  [[nodiscard]] int virtual_rank(int rank) const { return paired(rank) ? rank / 2 : rank - extra; }
  [[nodiscard]] int real_rank(int v) const { return v < extra ? 2 * v + stays : v + extra; }
  /// Ranks whose blocks the virtual ranks [first, last) stand for.
  [[nodiscard]] std::uint64_t blocks(int first, int last) const {
    return static_cast<std::uint64_t>(last - first + std::max(0, std::min(last, extra) - first));
  }
};

// AllReduce: count elements on every rank ----------------------------------------------------------------

void all_reduce_basic_linear(Sender& s) {
  if (s.rank() != 0) {
    s.send(0, s.count());
    return;
  }
  // the reduction sends nothing from the root; the broadcast goes to everybody
  for (int to = 1; to < s.ranks(); ++to) s.send(to, s.count());
}

void all_reduce_recursive_doubling(Sender& s) {
  const PairedRanks pairs(s.ranks(), 1);
  if (pairs.leaves(s.rank())) {
    s.send(s.rank() + 1, s.count());
    return;
  }
  const int v = pairs.virtual_rank(s.rank());
  for (int distance = 1; distance < pairs.power; distance *= 2) {
    s.send(pairs.real_rank(v ^ distance), s.count());
  }
  if (pairs.paired(s.rank())) s.send(s.rank() - 1, s.count());
}

void all_reduce_ring(Sender& s, std::uint64_t phases) {
  const auto ranks = static_cast<std::uint64_t>(s.ranks());
  const auto block = [&](int step) {
    return part(s.count(), ranks, static_cast<std::uint64_t>((s.rank() - step + s.ranks()) % s.ranks()));
  };
  for (std::uint64_t phase = 0; phase < phases; ++phase) {
    for (int step = 0; step < s.ranks() - 1; ++step) s.send(s.right(), part(block(step), phases, phase));
  }
  for (int step = -1; step < s.ranks() - 2; ++step) s.send(s.right(), block(step));
}

void all_reduce_segmented_ring(Sender& s, std::uint64_t segment_elements) {
  const std::uint64_t round = static_cast<std::uint64_t>(s.ranks()) * segment_elements;
  const std::uint64_t rest = s.count() % round;
  const bool one_more = rest >= static_cast<std::uint64_t>(s.ranks()) && rest > round / 2;
  all_reduce_ring(s, s.count() / round + (one_more ? 1 : 0));
}

void all_reduce_rabenseifner(Sender& s) {
  const PairedRanks pairs(s.ranks(), 0);
  const std::uint64_t half = s.count() / 2;
  if (pairs.leaves(s.rank())) {
    s.send(s.rank() - 1, half);
    s.send(s.rank() - 1, s.count() - half);
    return;
  }
  if (pairs.paired(s.rank())) s.send(s.rank() + 1, s.count() - half);
  std::vector<std::pair<int, std::uint64_t>> kept;  // peer and elements, to be sent back, last one first
  std::uint64_t window = s.count();
  for (int distance = 1; distance < pairs.power; distance *= 2) {
    const int peer = pairs.real_rank(pairs.virtual_rank(s.rank()) ^ distance);
    const std::uint64_t keep = s.rank() < peer ? window / 2 : window - window / 2;
    s.send(peer, window - keep);
    kept.emplace_back(peer, keep);
    window = keep;
  }
  std::ranges::reverse(kept);
  for (const auto& [peer, elements] : kept) s.send(peer, elements);
  if (pairs.paired(s.rank())) s.send(s.rank() + 1, s.count());
}

// AllGather: count elements from every rank --------------------------------------------------------------

void all_gather_bruck(Sender& s) {
  for (int distance = 1; distance < s.ranks(); distance *= 2) {
    s.send(s.left(distance),
           s.count() * static_cast<std::uint64_t>(std::min(distance, s.ranks() - distance)));
  }
}

void all_gather_recursive_doubling(Sender& s) {
  for (int distance = 1; distance < s.ranks(); distance *= 2) {
    s.send(s.rank() ^ distance, s.count() * static_cast<std::uint64_t>(distance));
  }
}

void ring_of_blocks(Sender& s) {
  for (int step = 1; step < s.ranks(); ++step) s.send(s.right(), s.count());
}

void all_gather_neighbor(Sender& s) {
  const bool even = s.rank() % 2 == 0;
  for (int step = 0; step < s.ranks() / 2; ++step) {
    s.send((step % 2 == 0) == even ? s.right() : s.left(), step == 0 ? s.count() : 2 * s.count());
  }
}

void two_proc(Sender& s) { s.send(1 - s.rank(), s.count()); }

// ReduceScatter: count elements to every rank ------------------------------------------------------------

void reduce_scatter_recursive_halving(Sender& s) {
  const PairedRanks pairs(s.ranks(), 1);
  if (pairs.leaves(s.rank())) {
    s.send(s.rank() + 1, s.count() * static_cast<std::uint64_t>(s.ranks()));
    return;
  }
  const int v = pairs.virtual_rank(s.rank());
  for (int first = 0, width = pairs.power / 2; width > 0; width /= 2) {
    const int low = first;
    const int high = first + width;
    const bool keeps_high = (v & width) != 0;
    const int given = keeps_high ? low : high;
    s.send(pairs.real_rank(v ^ width), s.count() * pairs.blocks(given, given + width));
    first = keeps_high ? high : low;
  }
  if (pairs.paired(s.rank())) s.send(s.rank() - 1, s.count());
}

void reduce_scatter_butterfly(Sender& s) {
  const PairedRanks pairs(s.ranks(), 1);
  if (pairs.leaves(s.rank())) {
    s.send(s.rank() + 1, s.count() * static_cast<std::uint64_t>(s.ranks()));
    return;
  }
  const int v = pairs.virtual_rank(s.rank());
  int first = 0;
  for (int distance = 1, width = pairs.power / 2; width > 0; distance *= 2, width /= 2) {
    const bool keeps_high = (v & distance) != 0;
    const int given = keeps_high ? first : first + width;
    s.send(pairs.real_rank(v ^ distance), s.count() * pairs.blocks(given, given + width));
    if (keeps_high) first += width;
  }
  // what is left is the block of the virtual rank with the mirrored bits, whose pair it may stand for
  if (first < pairs.extra) s.send(pairs.real_rank(first) - 1, s.count());
  if (first != v) s.send(pairs.real_rank(first), s.count());
}

// AllToAll: count elements to every rank -----------------------------------------------------------------

void all_to_all_linear(Sender& s) {
  for (int distance = 1; distance < s.ranks(); ++distance) s.send(s.left(distance), s.count(), true);
}

void all_to_all_linear_sync(Sender& s) {
  for (int distance = 1; distance < s.ranks(); ++distance) s.send(s.left(distance), s.count());
}

void all_to_all_pairwise(Sender& s) {
  for (int distance = 1; distance < s.ranks(); ++distance) s.send(s.right(distance), s.count());
}

void all_to_all_bruck(Sender& s) {
  for (int distance = 1; distance < s.ranks(); distance *= 2) {
    std::uint64_t blocks = 0;
    for (int i = 1; i < s.ranks(); ++i) blocks += (i & distance) != 0 ? 1 : 0;
    s.send(s.right(distance), blocks * s.count());
  }
}

void all_to_all_in_place(Sender& s) {
  for (int distance = 1; distance <= s.ranks() / 2; ++distance) {
    if (s.left(distance) != s.right(distance)) s.send(s.left(distance), s.count());
    s.send(s.right(distance), s.count());
  }
}

using Script = std::function<void(Sender&)>;

std::map<std::string, Script> scripts(OperationId operation, std::uint64_t segment_elements) {
  switch (operation) {
    case OperationId::all_reduce:
      return {{"basic_linear", all_reduce_basic_linear},
              {"recursive_doubling", all_reduce_recursive_doubling},
              {"ring", [](Sender& s) { all_reduce_ring(s, 1); }},
              {"segmented_ring", [=](Sender& s) { all_reduce_segmented_ring(s, segment_elements); }},
              {"rabenseifner", all_reduce_rabenseifner}};
    case OperationId::all_gather:
      return {{"bruck", all_gather_bruck},
              {"recursive_doubling", all_gather_recursive_doubling},
              {"ring", ring_of_blocks},
              {"neighbor", all_gather_neighbor},
              {"two_proc", two_proc}};
    case OperationId::reduce_scatter:
      return {{"recursive_halving", reduce_scatter_recursive_halving},
              {"ring", ring_of_blocks},
              {"butterfly", reduce_scatter_butterfly}};
    default:
      return {{"linear", all_to_all_linear},          {"linear_sync", all_to_all_linear_sync},
              {"pairwise", all_to_all_pairwise},      {"modified_bruck", all_to_all_bruck},
              {"basic_inplace", all_to_all_in_place}, {"two_proc", two_proc}};
  }
}

}  // namespace

std::optional<Messages> expected_messages(const std::string& algorithm, const CollectiveCall& call, int rank,
                                          std::uint64_t segment_elements) {
  if (algorithm == "self") return Messages{};
  if (algorithm == "segmented_ring" && segment_elements == 0) return std::nullopt;
  const auto all = scripts(call.operation, segment_elements);
  const auto found = all.find(algorithm);
  if (found == all.end()) return std::nullopt;
  Sender sender(call, rank);
  found->second(sender);
  return sender.messages();
}

}  // namespace collbench::collectives
