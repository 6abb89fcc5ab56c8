#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/record/operation.hpp"

namespace collbench {

/// How many elements one rank's call moves. All counts are of elements.
struct Layout {
  std::uint64_t count = 0;             ///< the count argument of the call
  std::uint64_t size_bytes = 0;        ///< S of the size column: what really moves
  std::uint64_t send_elements = 0;     ///< length of the send buffer
  std::uint64_t receive_elements = 0;  ///< length of the receive buffer
};

/// Where a stretch of a receive buffer comes from: `length` elements of the send buffer of `source`, from
/// `source_index` on. kReduced stands for the reduction over all ranks' elements at those indices.
struct Segment {
  static constexpr int kReduced = -1;
  int source = kReduced;
  std::uint64_t source_index = 0;
  std::uint64_t length = 0;
};

/// What an operation that can be measured does, whatever library does it. One file each; registry.hpp lists
/// them.
struct Collective {
  OperationId id;
  /// The layout for about `asked_bytes` in the size column on `ranks` ranks: rounded down to whole elements,
  /// the same for every rank, but never to nothing unless nothing was asked for.
  Layout (*layout)(std::uint64_t asked_bytes, std::size_t element_bytes, int ranks);
  /// What the receive buffer of `rank` holds afterwards, from its beginning.
  std::vector<Segment> (*result)(const Layout& layout, int rank, int ranks);
};

/// `asked_bytes` in whole elements for each of `parts` equal parts; at least one unless nothing was asked
/// for.
[[nodiscard]] std::uint64_t elements_per_part(std::uint64_t asked_bytes, std::size_t element_bytes,
                                              int parts);

}  // namespace collbench
