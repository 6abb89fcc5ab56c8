#include "collectives/all_reduce.hpp"

namespace collbench {
namespace {

Layout layout(std::uint64_t asked_bytes, std::size_t element_bytes, int /*ranks*/) {
  const std::uint64_t count = elements_per_part(asked_bytes, element_bytes, 1);
  return {
      .count = count, .size_bytes = count * element_bytes, .send_elements = count, .receive_elements = count};
}

std::vector<Segment> result(const Layout& layout, int /*rank*/, int /*ranks*/) {
  return {{.source = Segment::kReduced, .source_index = 0, .length = layout.count}};
}

}  // namespace

const Collective kAllReduce{.id = OperationId::all_reduce, .layout = layout, .result = result};

}  // namespace collbench
