#pragma once
#include <cstdint>

#include "base/record/measurement.hpp"
#include "collectives/collective.hpp"

namespace collbench {

/// Bytes of the buffers that a row needs on one rank.
struct BufferBytes {
  std::uint64_t send = 0;     ///< 0 in place
  std::uint64_t receive = 0;  ///< in place: the one buffer
};

/// How many elements the calls of this row move on `ranks` ranks.
[[nodiscard]] Layout layout_of(const RowKey& key, int ranks);

/// What its buffers take on one rank.
[[nodiscard]] BufferBytes buffer_bytes_of(const RowKey& key, int ranks);

}  // namespace collbench
