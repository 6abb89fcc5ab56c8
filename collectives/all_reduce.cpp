#include "collectives/all_reduce.hpp"

namespace collbench {
namespace {

Layout layout(std::uint64_t count, const CallShape& /*shape*/) {
  return {.count = count, .size_elements = count, .send_elements = count, .receive_elements = count};
}

std::vector<Segment> result(const Layout& layout, const CallShape& /*shape*/) {
  return {{.source = Segment::kReduced, .source_index = 0, .length = layout.count}};
}

}  // namespace

const Collective kAllReduce{.id = OperationId::all_reduce, .layout = layout, .result = result};

}  // namespace collbench
