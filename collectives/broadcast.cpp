#include "collectives/broadcast.hpp"

namespace collbench {
namespace {

Layout layout(std::uint64_t count, const CallShape& shape) {
  const std::uint64_t send = shape.rank == shape.root ? count : 0;
  return {.count = count, .size_elements = count, .send_elements = send, .receive_elements = count};
}

std::vector<Segment> result(const Layout& layout, const CallShape& shape) {
  return {{.source = shape.root, .source_index = 0, .length = layout.count}};
}

}  // namespace

const Collective kBroadcast{.id = OperationId::broadcast, .layout = layout, .result = result};

}  // namespace collbench
