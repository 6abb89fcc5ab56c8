#include "collectives/reduce_scatter.hpp"

namespace collbench {
namespace {

Layout layout(std::uint64_t asked_bytes, std::size_t element_bytes, int ranks) {
  const std::uint64_t count = elements_per_part(asked_bytes, element_bytes, ranks);
  const std::uint64_t total = count * static_cast<std::uint64_t>(ranks);
  return {
      .count = count, .size_bytes = total * element_bytes, .send_elements = total, .receive_elements = count};
}

std::vector<Segment> result(const Layout& layout, int rank, int /*ranks*/) {
  const std::uint64_t begin = static_cast<std::uint64_t>(rank) * layout.count;
  return {{.source = Segment::kReduced, .source_index = begin, .length = layout.count}};
}

}  // namespace

const Collective kReduceScatter{.id = OperationId::reduce_scatter, .layout = layout, .result = result};

}  // namespace collbench
