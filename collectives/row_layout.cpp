#include "collectives/row_layout.hpp"

#include <algorithm>

#include "collectives/registry.hpp"

namespace collbench {

Layout layout_of(const RowKey& key, int ranks) {
  return collective(key.operation).layout(key.size_bytes, traits(key.type).bytes, ranks);
}

BufferBytes buffer_bytes_of(const RowKey& key, int ranks) {
  const Layout layout = layout_of(key, ranks);
  const std::uint64_t element_bytes = traits(key.type).bytes;
  if (key.in_place) {
    return {.send = 0, .receive = std::max(layout.send_elements, layout.receive_elements) * element_bytes};
  }
  return {.send = layout.send_elements * element_bytes, .receive = layout.receive_elements * element_bytes};
}

}  // namespace collbench
