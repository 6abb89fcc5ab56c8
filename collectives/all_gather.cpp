#include "collectives/all_gather.hpp"

namespace collbench {
namespace {

Layout layout(std::uint64_t asked_bytes, std::size_t element_bytes, int ranks) {
  const std::uint64_t count = elements_per_part(asked_bytes, element_bytes, ranks);
  const std::uint64_t total = count * static_cast<std::uint64_t>(ranks);
  return {
      .count = count, .size_bytes = total * element_bytes, .send_elements = count, .receive_elements = total};
}

std::vector<Segment> result(const Layout& layout, int /*rank*/, int ranks) {
  std::vector<Segment> segments;
  for (int source = 0; source < ranks; ++source) {
    segments.push_back({.source = source, .source_index = 0, .length = layout.count});
  }
  return segments;
}

}  // namespace

const Collective kAllGather{.id = OperationId::all_gather, .layout = layout, .result = result};

}  // namespace collbench
