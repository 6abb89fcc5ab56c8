#include "collectives/all_to_all.hpp"

namespace collbench {
namespace {

Layout layout(std::uint64_t count, const CallShape& shape) {
  const std::uint64_t total = count * static_cast<std::uint64_t>(shape.ranks);
  return {.count = count, .size_elements = total, .send_elements = total, .receive_elements = total};
}

std::vector<Segment> result(const Layout& layout, const CallShape& shape) {
  const std::uint64_t begin = static_cast<std::uint64_t>(shape.rank) * layout.count;
  std::vector<Segment> segments;
  for (int source = 0; source < shape.ranks; ++source) {
    segments.push_back({.source = source, .source_index = begin, .length = layout.count});
  }
  return segments;
}

}  // namespace

const Collective kAllToAll{.id = OperationId::all_to_all, .layout = layout, .result = result};

}  // namespace collbench
