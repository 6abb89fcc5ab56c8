#include "collectives/buffer_layout.hpp"

#include <algorithm>

namespace collbench::collectives {
namespace {

BufferLayout buffer_layout(const Layout& elements, const CallContext& call, bool in_place,
                           std::uint64_t element_bytes) {
  const std::uint64_t begin = call.unaligned_elements * element_bytes;
  const std::uint64_t sent = elements.send_elements * element_bytes;
  const std::uint64_t received = elements.receive_elements * element_bytes;
  BufferLayout buffers{.input = {.of_receive_buffer = in_place, .offset = begin, .length = sent},
                       .output = {.of_receive_buffer = true,
                                  .offset = begin,
                                  .length = in_place ? std::max(sent, received) : received},
                       .result = {.of_receive_buffer = true, .offset = begin, .length = received}};
  if (!in_place) return buffers;
  const bool has_both = elements.send_elements > 0 && elements.receive_elements > 0;
  const std::uint64_t own_block =
      has_both ? static_cast<std::uint64_t>(call.rank) * elements.count * element_bytes : 0;
  if (elements.send_elements < elements.receive_elements) buffers.input.offset += own_block;
  if (elements.send_elements > elements.receive_elements) buffers.result.offset += own_block;
  return buffers;
}

}  // namespace

CallContext call_context(const RowKey& key, int rank, int ranks, const TrafficMatrix& traffic,
                         const BufferUse& use) {
  return {.rank = rank,
          .ranks = ranks,
          .root = key.root.value_or(0),
          .traffic = &traffic,
          .pack = pack_elements(traits(key.type).bytes, use),
          .unaligned_elements = use.unaligned_elements};
}

RowLayout row_layout(const RowKey& key, const CallContext& call) {
  const Layout elements = collective(key.operation).layout(key.count, call);
  const std::uint64_t element_bytes = traits(key.type).bytes;
  const BufferLayout buffers = buffer_layout(elements, call, key.in_place, element_bytes);
  const auto end = [](const BufferRange& range) { return range.offset + range.length; };
  return {.call = call,
          .elements = elements,
          .bytes = {.send = key.in_place ? 0 : end(buffers.input), .receive = end(buffers.output)},
          .buffers = buffers};
}

}  // namespace collbench::collectives
