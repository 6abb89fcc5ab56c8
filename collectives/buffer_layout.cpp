#include "collectives/buffer_layout.hpp"

#include <algorithm>

#include "collectives/operations.hpp"

namespace collbench::collectives {

CallContext shape_of(const RowKey& key, int rank, int ranks, const TrafficMatrix& traffic) {
  return {.rank = rank, .ranks = ranks, .root = key.root.value_or(0), .traffic = &traffic};
}

Layout layout_of(const RowKey& key, const CallContext& shape) {
  return collective(key.operation).layout(key.count, shape);
}

BufferBytes buffer_bytes_of(const RowKey& key, const CallContext& shape) {
  const Layout layout = layout_of(key, shape);
  const std::uint64_t element_bytes = traits(key.type).bytes;
  if (key.in_place) {
    return {.send = 0, .receive = std::max(layout.send_elements, layout.receive_elements) * element_bytes};
  }
  return {.send = layout.send_elements * element_bytes, .receive = layout.receive_elements * element_bytes};
}

BufferLayout buffer_layout_of(const RowKey& key, const CallContext& shape) {
  const Layout layout = layout_of(key, shape);
  const std::uint64_t element_bytes = traits(key.type).bytes;
  BufferLayout places{
      .input = {.of_receive_buffer = key.in_place,
                .offset = 0,
                .length = layout.send_elements * element_bytes},
      .result = {.of_receive_buffer = true, .offset = 0, .length = layout.receive_elements * element_bytes}};
  if (!key.in_place) return places;
  const bool has_both = layout.send_elements > 0 && layout.receive_elements > 0;
  const std::uint64_t own_block =
      has_both ? static_cast<std::uint64_t>(shape.rank) * layout.count * element_bytes : 0;
  if (layout.send_elements < layout.receive_elements) places.input.offset = own_block;
  if (layout.send_elements > layout.receive_elements) places.result.offset = own_block;
  return places;
}

}  // namespace collbench::collectives
