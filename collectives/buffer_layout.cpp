#include "collectives/buffer_layout.hpp"

#include <algorithm>

namespace collbench::collectives {
namespace {

BufferBytes buffer_bytes(const Layout& elements, bool in_place, std::uint64_t element_bytes) {
  if (in_place) {
    return {.send = 0,
            .receive = std::max(elements.send_elements, elements.receive_elements) * element_bytes};
  }
  return {.send = elements.send_elements * element_bytes,
          .receive = elements.receive_elements * element_bytes};
}

BufferLayout buffer_layout(const Layout& elements, const CallContext& call, bool in_place,
                           std::uint64_t element_bytes) {
  BufferLayout buffers{
      .input = {.of_receive_buffer = in_place, .offset = 0, .length = elements.send_elements * element_bytes},
      .result = {
          .of_receive_buffer = true, .offset = 0, .length = elements.receive_elements * element_bytes}};
  if (!in_place) return buffers;
  const bool has_both = elements.send_elements > 0 && elements.receive_elements > 0;
  const std::uint64_t own_block =
      has_both ? static_cast<std::uint64_t>(call.rank) * elements.count * element_bytes : 0;
  if (elements.send_elements < elements.receive_elements) buffers.input.offset = own_block;
  if (elements.send_elements > elements.receive_elements) buffers.result.offset = own_block;
  return buffers;
}

}  // namespace

CallContext call_context(const RowKey& key, int rank, int ranks, const TrafficMatrix& traffic) {
  return {.rank = rank, .ranks = ranks, .root = key.root.value_or(0), .traffic = &traffic};
}

RowLayout row_layout(const RowKey& key, const CallContext& call) {
  const Layout elements = collective(key.operation).layout(key.count, call);
  const std::uint64_t element_bytes = traits(key.type).bytes;
  return {.call = call,
          .elements = elements,
          .bytes = buffer_bytes(elements, key.in_place, element_bytes),
          .buffers = buffer_layout(elements, call, key.in_place, element_bytes)};
}

}  // namespace collbench::collectives
