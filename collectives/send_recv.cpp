#include "collectives/send_recv.hpp"

namespace collbench {
namespace {

Layout layout(std::uint64_t asked_bytes, std::size_t element_bytes, int /*ranks*/) {
  const std::uint64_t count = elements_per_part(asked_bytes, element_bytes, 1);
  return {
      .count = count, .size_bytes = count * element_bytes, .send_elements = count, .receive_elements = count};
}

std::vector<Segment> result(const Layout& layout, int rank, int ranks) {
  return {{.source = (rank + ranks - 1) % ranks, .source_index = 0, .length = layout.count}};
}

}  // namespace

const Collective kSendRecv{.id = OperationId::send_recv, .layout = layout, .result = result};

}  // namespace collbench
