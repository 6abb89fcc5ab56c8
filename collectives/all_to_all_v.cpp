#include "collectives/all_to_all_v.hpp"

#include <algorithm>

namespace collbench {
namespace {

/// Elements between two ranks of a call of `count`.
class Elements {
 public:
  Elements(std::uint64_t count, const TrafficMatrix& traffic)
      : count_(count), traffic_(traffic), fullest_(fullest_weight(traffic)) {}

  [[nodiscard]] std::uint64_t between(int from, int to) const {
    return traffic_elements(traffic_, fullest_, from, to, count_);
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
  const TrafficMatrix& traffic_;
  double fullest_;
};

Layout layout(std::uint64_t count, const CallShape& shape) {
  const Elements elements(count, *shape.traffic);
  Layout layout{.count = count,
                .size_elements = 0,
                .send_elements = elements.sent_by(shape.rank),
                .receive_elements = elements.received_by(shape.rank)};
  for (int rank = 0; rank < shape.ranks; ++rank) {
    layout.size_elements =
        std::max({layout.size_elements, elements.sent_by(rank), elements.received_by(rank)});
  }
  return layout;
}

std::vector<Segment> result(const Layout& layout, const CallShape& shape) {
  const Elements elements(layout.count, *shape.traffic);
  std::vector<Segment> segments;
  for (int source = 0; source < shape.ranks; ++source) {
    std::uint64_t begin = 0;
    for (int before = 0; before < shape.rank; ++before) begin += elements.between(source, before);
    segments.push_back(
        {.source = source, .source_index = begin, .length = elements.between(source, shape.rank)});
  }
  return segments;
}

}  // namespace

Exchanges exchanges(std::uint64_t count, const CallShape& shape) {
  const Elements elements(count, *shape.traffic);
  Exchanges all;
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  for (int peer = 0; peer < shape.ranks; ++peer) {
    all.sent_from.push_back(sent);
    all.received_at.push_back(received);
    all.sent.push_back(elements.between(shape.rank, peer));
    all.received.push_back(elements.between(peer, shape.rank));
    sent += all.sent.back();
    received += all.received.back();
  }
  return all;
}

const Collective kAllToAllv{.id = OperationId::all_to_all_v, .layout = layout, .result = result};

}  // namespace collbench
