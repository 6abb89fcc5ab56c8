// The operations that can be measured: what a call moves, and what its receive buffer holds afterwards.
#include "collectives/operations.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace collbench::collectives {
namespace {

std::vector<Segment> one_segment(int source, std::uint64_t source_index, std::uint64_t length) {
  return {{.source = source, .source_index = source_index, .length = length}};
}

std::vector<Segment> reduced(std::uint64_t source_index, std::uint64_t length) {
  return one_segment(Segment::kReduced, source_index, length);
}

/// The same stretch of every rank's send buffer, in order of rank.
std::vector<Segment> from_every_rank(const Layout& layout, const CallContext& call,
                                     std::uint64_t source_index) {
  std::vector<Segment> segments;
  for (int source = 0; source < call.ranks; ++source)
    segments.push_back({.source = source, .source_index = source_index, .length = layout.count});
  return segments;
}

/// Elements between two ranks of a call of `count`.
class Elements {
 public:
  Elements(std::uint64_t count, const CallContext& call)
      : count_(count), pack_(call.pack), traffic_(*call.traffic), fullest_(fullest_weight(traffic_)) {}

  [[nodiscard]] std::uint64_t between(int from, int to) const {
    return traffic_elements(traffic_, fullest_, from, to, count_, pack_);
  }
  [[nodiscard]] std::uint64_t sent_by(int rank) const {
    std::uint64_t sum = 0;
    for (int to = 0; to < traffic_.ranks; ++to) sum += between(rank, to);
    return sum;
  }
  [[nodiscard]] std::uint64_t received_by(int rank) const {
    std::uint64_t sum = 0;
    for (int from = 0; from < traffic_.ranks; ++from) sum += between(from, rank);
    return sum;
  }

 private:
  std::uint64_t count_;
  std::uint64_t pack_;
  const TrafficMatrix& traffic_;
  double fullest_;
};

Layout all_to_all_v_layout(std::uint64_t count, const CallContext& call) {
  const Elements elements(count, call);
  Layout layout{.count = count,
                .size_elements = 0,
                .send_elements = elements.sent_by(call.rank),
                .receive_elements = elements.received_by(call.rank)};
  for (int rank = 0; rank < call.ranks; ++rank) {
    layout.size_elements =
        std::max({layout.size_elements, elements.sent_by(rank), elements.received_by(rank)});
  }
  return layout;
}

std::vector<Segment> all_to_all_v_result(const Layout& layout, const CallContext& call) {
  const Elements elements(layout.count, call);
  std::vector<Segment> segments;
  for (int source = 0; source < call.ranks; ++source) {
    std::uint64_t begin = 0;
    for (int before = 0; before < call.rank; ++before) begin += elements.between(source, before);
    segments.push_back(
        {.source = source, .source_index = begin, .length = elements.between(source, call.rank)});
  }
  return segments;
}

constexpr std::array<OperationId, 11> kMeasurable{
    OperationId::all_reduce, OperationId::all_gather, OperationId::reduce_scatter, OperationId::all_to_all,
    OperationId::send_recv,  OperationId::ping_pong,  OperationId::broadcast,      OperationId::reduce,
    OperationId::gather,     OperationId::scatter,    OperationId::all_to_all_v};
constexpr std::size_t kDefault = 5;

}  // namespace

std::uint64_t pack_elements(std::size_t element_bytes, const BufferUse& use) {
  return use.exact_counts ? 1 : std::max<std::size_t>(1, kPackBytes / element_bytes);
}

std::uint64_t count_for(const Operation& operation, std::uint64_t asked_bytes, std::size_t element_bytes,
                        const CallContext& call) {
  if (asked_bytes == 0) return 0;
  const std::uint64_t elements = asked_bytes / element_bytes;
  if (operation.size_meaning != SizeMeaning::total) return std::max<std::uint64_t>(1, elements);
  const std::uint64_t part = elements / static_cast<std::uint64_t>(call.ranks);
  return std::max(call.pack, part / call.pack * call.pack);
}

std::optional<int> ping_pong_peer(int rank, int ranks) {
  if (rank == 0) return ranks - 1;
  if (rank == ranks - 1) return 0;
  return std::nullopt;
}

Exchanges exchanges(std::uint64_t count, const CallContext& call) {
  const Elements elements(count, call);
  Exchanges all;
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  for (int peer = 0; peer < call.ranks; ++peer) {
    all.sent_from.push_back(sent);
    all.received_at.push_back(received);
    all.sent.push_back(elements.between(call.rank, peer));
    all.received.push_back(elements.between(peer, call.rank));
    sent += all.sent.back();
    received += all.received.back();
  }
  return all;
}

std::span<const OperationId> measurable_operations() { return kMeasurable; }

std::span<const OperationId> default_operations() { return measurable_operations().first(kDefault); }

Error not_measurable(OperationId id) {
  return {ExitStatus::not_here, std::string(operation(id).name), "cannot be measured, only imported",
          "leave it out; --ops all is every operation that can"};
}

Collective collective(OperationId id) {
  if (id == OperationId::hypercube) throw not_measurable(id);
  return {id};
}

Layout Collective::layout(std::uint64_t count, const CallContext& call) const {
  const std::uint64_t all = count * static_cast<std::uint64_t>(call.ranks);
  const auto on_root = [&call](std::uint64_t elements) { return call.rank == call.root ? elements : 0; };
  const auto moves = [count](std::uint64_t size, std::uint64_t sent, std::uint64_t received) {
    return Layout{.count = count, .size_elements = size, .send_elements = sent, .receive_elements = received};
  };
  switch (id) {
    case OperationId::all_reduce:
    case OperationId::step:
    case OperationId::send_recv:
      return moves(count, count, count);
    case OperationId::all_gather:  // S is the whole receive buffer
      return moves(all, count, all);
    case OperationId::reduce_scatter:  // the whole send buffer
      return moves(all, all, count);
    case OperationId::all_to_all:  // one rank's whole buffer
      return moves(all, all, all);
    case OperationId::all_to_all_v:  // the most that one rank sends or receives
      return all_to_all_v_layout(count, call);
    case OperationId::ping_pong: {  // the message; all but two ranks look on
      const std::uint64_t moved = ping_pong_peer(call.rank, call.ranks) ? count : 0;
      return moves(count, moved, moved);
    }
    case OperationId::broadcast:  // the root's buffer
      return moves(count, on_root(count), count);
    case OperationId::reduce:  // one rank's buffer
      return moves(count, count, on_root(count));
    case OperationId::gather:  // the root's receive buffer
      return moves(all, count, on_root(all));
    case OperationId::scatter:  // the root's send buffer
      return moves(all, on_root(all), count);
    case OperationId::hypercube:
      break;
  }
  throw not_measurable(id);
}

std::vector<Segment> Collective::result(const Layout& layout, const CallContext& call) const {
  // Where this rank's block begins in a buffer of one block per rank.
  const std::uint64_t own_block = static_cast<std::uint64_t>(call.rank) * layout.count;
  switch (id) {
    case OperationId::all_reduce:
    case OperationId::step:  // compute that touches no buffer, then AllReduce
      return reduced(0, layout.count);
    case OperationId::all_gather:
      return from_every_rank(layout, call, 0);
    case OperationId::reduce_scatter:
      return reduced(own_block, layout.count);
    case OperationId::all_to_all:
      return from_every_rank(layout, call, own_block);
    case OperationId::all_to_all_v:
      return all_to_all_v_result(layout, call);
    case OperationId::send_recv:  // the ring shift of nccl-tests: rank r sends to r + 1
      return one_segment((call.rank + call.ranks - 1) % call.ranks, 0, layout.count);
    case OperationId::ping_pong:
      // Ranks 0 and p − 1 send each other a message in turn. Its time is half of a round trip, as OSU's
      // osu_latency and IMB's PingPong have it.
      return one_segment(ping_pong_peer(call.rank, call.ranks).value_or(call.rank), 0,
                         layout.receive_elements);
    case OperationId::broadcast:  // the root gets its own as well
      return one_segment(call.root, 0, layout.count);
    case OperationId::reduce:
      return reduced(0, layout.receive_elements);
    case OperationId::gather:
      return call.rank == call.root ? from_every_rank(layout, call, 0) : std::vector<Segment>{};
    case OperationId::scatter:
      return one_segment(call.root, own_block, layout.count);
    case OperationId::hypercube:
      break;
  }
  throw not_measurable(id);
}

}  // namespace collbench::collectives
