#include "collectives/gather.hpp"

namespace collbench {
namespace {

Layout layout(std::uint64_t count, const CallShape& shape) {
  const std::uint64_t total = count * static_cast<std::uint64_t>(shape.ranks);
  const std::uint64_t receive = shape.rank == shape.root ? total : 0;
  return {.count = count, .size_elements = total, .send_elements = count, .receive_elements = receive};
}

std::vector<Segment> result(const Layout& layout, const CallShape& shape) {
  std::vector<Segment> segments;
  if (shape.rank != shape.root) return segments;
  for (int source = 0; source < shape.ranks; ++source) {
    segments.push_back({.source = source, .source_index = 0, .length = layout.count});
  }
  return segments;
}

}  // namespace

const Collective kGather{.id = OperationId::gather, .layout = layout, .result = result};

}  // namespace collbench
