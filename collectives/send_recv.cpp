#include "collectives/send_recv.hpp"

namespace collbench {
namespace {

Layout layout(std::uint64_t count, const CallShape& /*shape*/) {
  return {.count = count, .size_elements = count, .send_elements = count, .receive_elements = count};
}

std::vector<Segment> result(const Layout& layout, const CallShape& shape) {
  return {
      {.source = (shape.rank + shape.ranks - 1) % shape.ranks, .source_index = 0, .length = layout.count}};
}

}  // namespace

const Collective kSendRecv{.id = OperationId::send_recv, .layout = layout, .result = result};

}  // namespace collbench
