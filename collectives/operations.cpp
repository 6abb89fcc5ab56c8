// The operations that can be measured: what a call moves, and what its receive buffer holds afterwards.
#include "collectives/operations.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace collbench::collectives {
namespace {

std::uint64_t total(std::uint64_t count, const CallContext& call) {
  return count * static_cast<std::uint64_t>(call.ranks);
}

/// `elements` on the root, nothing elsewhere.
std::uint64_t on_root(std::uint64_t elements, const CallContext& call) {
  return call.rank == call.root ? elements : 0;
}

/// Where this rank's block begins in a buffer of one block per rank.
std::uint64_t own_block(const Layout& layout, const CallContext& call) {
  return static_cast<std::uint64_t>(call.rank) * layout.count;
}

/// The same stretch of every rank's send buffer, in order of rank.
std::vector<Segment> from_every_rank(const Layout& layout, const CallContext& call,
                                     std::uint64_t source_index) {
  std::vector<Segment> segments;
  for (int source = 0; source < call.ranks; ++source)
    segments.push_back({.source = source, .source_index = source_index, .length = layout.count});
  return segments;
}

std::vector<Segment> reduced(std::uint64_t source_index, std::uint64_t length) {
  return {{.source = Segment::kReduced, .source_index = source_index, .length = length}};
}

Layout same_buffers(std::uint64_t count, const CallContext& /*shape*/) {
  return {.count = count, .size_elements = count, .send_elements = count, .receive_elements = count};
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

/// Every rank gets the reduction of all ranks' buffers.
constexpr Collective kAllReduce{
    OperationId::all_reduce, same_buffers,
    [](const Layout& layout, const CallContext& /*shape*/) { return reduced(0, layout.count); }};

/// A training step: compute that touches no buffer, then AllReduce.
constexpr Collective kStep{
    OperationId::step, same_buffers,
    [](const Layout& layout, const CallContext& /*shape*/) { return reduced(0, layout.count); }};

/// Every rank gets the buffers of all ranks, in order of rank. S is the whole receive buffer.
constexpr Collective kAllGather{
    OperationId::all_gather,
    [](std::uint64_t count, const CallContext& call) {
      const std::uint64_t all = total(count, call);
      return Layout{.count = count, .size_elements = all, .send_elements = count, .receive_elements = all};
    },
    [](const Layout& layout, const CallContext& call) { return from_every_rank(layout, call, 0); }};

/// Rank r gets block r of the reduction of all ranks' buffers. S is the whole send buffer.
constexpr Collective kReduceScatter{
    OperationId::reduce_scatter,
    [](std::uint64_t count, const CallContext& call) {
      const std::uint64_t all = total(count, call);
      return Layout{.count = count, .size_elements = all, .send_elements = all, .receive_elements = count};
    },
    [](const Layout& layout, const CallContext& call) {
      return reduced(own_block(layout, call), layout.count);
    }};

/// Rank r gets block r of every rank's buffer, in order of rank. S is one rank's whole buffer.
constexpr Collective kAllToAll{
    OperationId::all_to_all,
    [](std::uint64_t count, const CallContext& call) {
      const std::uint64_t all = total(count, call);
      return Layout{.count = count, .size_elements = all, .send_elements = all, .receive_elements = all};
    },
    [](const Layout& layout, const CallContext& call) {
      return from_every_rank(layout, call, own_block(layout, call));
    }};

/// Every rank sends each rank as much as the traffic matrix says; what arrives stands in order of the
/// senders. S is the most that one rank sends or receives.
constexpr Collective kAllToAllv{OperationId::all_to_all_v, all_to_all_v_layout, all_to_all_v_result};

/// The ring shift of nccl-tests: rank r sends its buffer to r + 1 and receives that of r − 1.
constexpr Collective kSendRecv{
    OperationId::send_recv, same_buffers, [](const Layout& layout, const CallContext& call) {
      const int previous = (call.rank + call.ranks - 1) % call.ranks;
      return std::vector<Segment>{{.source = previous, .source_index = 0, .length = layout.count}};
    }};

/// Ranks 0 and p − 1 send each other a message in turn; the others look on. S is the message, and its time is
/// half of a round trip, as OSU's osu_latency and IMB's PingPong have it.
constexpr Collective kPingPong{
    OperationId::ping_pong,
    [](std::uint64_t count, const CallContext& call) {
      const std::uint64_t moved = ping_pong_peer(call.rank, call.ranks) ? count : 0;
      return Layout{
          .count = count, .size_elements = count, .send_elements = moved, .receive_elements = moved};
    },
    [](const Layout& layout, const CallContext& call) {
      const int peer = ping_pong_peer(call.rank, call.ranks).value_or(call.rank);
      return std::vector<Segment>{{.source = peer, .source_index = 0, .length = layout.receive_elements}};
    }};

/// Every rank gets the root's buffer, the root included. S is that buffer.
constexpr Collective kBroadcast{
    OperationId::broadcast,
    [](std::uint64_t count, const CallContext& call) {
      return Layout{.count = count,
                    .size_elements = count,
                    .send_elements = on_root(count, call),
                    .receive_elements = count};
    },
    [](const Layout& layout, const CallContext& call) {
      return std::vector<Segment>{{.source = call.root, .source_index = 0, .length = layout.count}};
    }};

/// The root gets the reduction over the buffers of all ranks. S is one rank's buffer.
constexpr Collective kReduce{
    OperationId::reduce,
    [](std::uint64_t count, const CallContext& call) {
      return Layout{.count = count,
                    .size_elements = count,
                    .send_elements = count,
                    .receive_elements = on_root(count, call)};
    },
    [](const Layout& layout, const CallContext& /*shape*/) { return reduced(0, layout.receive_elements); }};

/// The root gets the buffers of all ranks, in order of rank. S is its receive buffer.
constexpr Collective kGather{OperationId::gather,
                             [](std::uint64_t count, const CallContext& call) {
                               const std::uint64_t all = total(count, call);
                               return Layout{.count = count,
                                             .size_elements = all,
                                             .send_elements = count,
                                             .receive_elements = on_root(all, call)};
                             },
                             [](const Layout& layout, const CallContext& call) {
                               return call.rank == call.root ? from_every_rank(layout, call, 0)
                                                             : std::vector<Segment>{};
                             }};

/// Every rank gets its part of the root's buffer, in order of rank. S is the root's send buffer.
constexpr Collective kScatter{
    OperationId::scatter,
    [](std::uint64_t count, const CallContext& call) {
      const std::uint64_t all = total(count, call);
      return Layout{.count = count,
                    .size_elements = all,
                    .send_elements = on_root(all, call),
                    .receive_elements = count};
    },
    [](const Layout& layout, const CallContext& call) {
      return std::vector<Segment>{
          {.source = call.root, .source_index = own_block(layout, call), .length = layout.count}};
    }};

constexpr std::array<OperationId, 11> kMeasurable{
    OperationId::all_reduce, OperationId::all_gather, OperationId::reduce_scatter, OperationId::all_to_all,
    OperationId::send_recv,  OperationId::ping_pong,  OperationId::broadcast,      OperationId::reduce,
    OperationId::gather,     OperationId::scatter,    OperationId::all_to_all_v};
constexpr std::size_t kDefault = 5;

/// The registry: an operation that is not named here does not compile. Null for one that is only imported.
const Collective* find_collective(OperationId id) {
  switch (id) {
    case OperationId::all_reduce:
      return &kAllReduce;
    case OperationId::step:
      return &kStep;
    case OperationId::all_gather:
      return &kAllGather;
    case OperationId::reduce_scatter:
      return &kReduceScatter;
    case OperationId::all_to_all:
      return &kAllToAll;
    case OperationId::all_to_all_v:
      return &kAllToAllv;
    case OperationId::send_recv:
      return &kSendRecv;
    case OperationId::ping_pong:
      return &kPingPong;
    case OperationId::broadcast:
      return &kBroadcast;
    case OperationId::reduce:
      return &kReduce;
    case OperationId::gather:
      return &kGather;
    case OperationId::scatter:
      return &kScatter;
    case OperationId::hypercube:
      return nullptr;
  }
  return nullptr;
}

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

const Collective& collective(OperationId id) {
  if (const Collective* found = find_collective(id)) return *found;
  throw not_measurable(id);
}

}  // namespace collbench::collectives
