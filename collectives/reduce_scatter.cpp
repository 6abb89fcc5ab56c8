#include "collectives/reduce_scatter.hpp"

namespace collbench {
namespace {

Layout layout(std::uint64_t count, const CallShape& shape) {
  const std::uint64_t total = count * static_cast<std::uint64_t>(shape.ranks);
  return {.count = count, .size_elements = total, .send_elements = total, .receive_elements = count};
}

std::vector<Segment> result(const Layout& layout, const CallShape& shape) {
  const std::uint64_t begin = static_cast<std::uint64_t>(shape.rank) * layout.count;
  return {{.source = Segment::kReduced, .source_index = begin, .length = layout.count}};
}

}  // namespace

const Collective kReduceScatter{.id = OperationId::reduce_scatter, .layout = layout, .result = result};

}  // namespace collbench
