#pragma once
#include <cstdint>

#include "base/record/measurement.hpp"
#include "collectives/operations.hpp"

namespace collbench::collectives {

/// Bytes of the buffers that a row needs on one rank.
struct BufferBytes {
  std::uint64_t send = 0;     ///< 0 in place
  std::uint64_t receive = 0;  ///< in place: the one buffer
};

/// A stretch of one of a rank's two buffers, in bytes.
struct BufferRange {
  bool of_receive_buffer = false;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

/// Where a row's data lie on one rank.
struct BufferLayout {
  BufferRange input;   ///< where the operation reads
  BufferRange result;  ///< what it must write
};

/// What the row's call depends on, for this rank.
[[nodiscard]] CallContext shape_of(const RowKey& key, int rank, int ranks, const TrafficMatrix& traffic);

/// How many elements this rank's call of the row moves.
[[nodiscard]] Layout layout_of(const RowKey& key, const CallContext& shape);

/// What its buffers take on this rank.
[[nodiscard]] BufferBytes buffer_bytes_of(const RowKey& key, const CallContext& shape);

/// Where its data lie. In place as NCCL and nccl-tests define it: of two buffers of different length the
/// smaller one is the rank's own block of the larger one; a rank that has only the smaller one has it alone.
[[nodiscard]] BufferLayout buffer_layout_of(const RowKey& key, const CallContext& shape);

}  // namespace collbench::collectives
