#include "collectives/scatter.hpp"

namespace collbench {
namespace {

Layout layout(std::uint64_t count, const CallShape& shape) {
  const std::uint64_t total = count * static_cast<std::uint64_t>(shape.ranks);
  const std::uint64_t send = shape.rank == shape.root ? total : 0;
  return {.count = count, .size_elements = total, .send_elements = send, .receive_elements = count};
}

std::vector<Segment> result(const Layout& layout, const CallShape& shape) {
  const std::uint64_t begin = static_cast<std::uint64_t>(shape.rank) * layout.count;
  return {{.source = shape.root, .source_index = begin, .length = layout.count}};
}

}  // namespace

const Collective kScatter{.id = OperationId::scatter, .layout = layout, .result = result};

}  // namespace collbench
