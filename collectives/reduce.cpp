#include "collectives/reduce.hpp"

namespace collbench {
namespace {

Layout layout(std::uint64_t count, const CallShape& shape) {
  const std::uint64_t receive = shape.rank == shape.root ? count : 0;
  return {.count = count, .size_elements = count, .send_elements = count, .receive_elements = receive};
}

std::vector<Segment> result(const Layout& layout, const CallShape& /*shape*/) {
  return {{.source = Segment::kReduced, .source_index = 0, .length = layout.receive_elements}};
}

}  // namespace

const Collective kReduce{.id = OperationId::reduce, .layout = layout, .result = result};

}  // namespace collbench
