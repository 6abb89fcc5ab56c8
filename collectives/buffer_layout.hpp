#pragma once
#include <cstdint>

#include "base/record/measurement.hpp"
#include "collectives/operations.hpp"

namespace collbench::collectives {

/// Bytes of the buffers that a row needs on one rank, with what lies before the data.
struct BufferBytes {
  std::uint64_t send = 0;     ///< 0 in place
  std::uint64_t receive = 0;  ///< in place: the one buffer
};

/// A part of one of a rank's two buffers, in bytes.
struct BufferRange {
  bool of_receive_buffer = false;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

/// Where a row's data lie on one rank.
struct BufferLayout {
  BufferRange input;   ///< where the operation reads
  BufferRange output;  ///< all that it may write
  BufferRange result;  ///< what it must write
};

/// All that follows from a row's key on one rank. Worked out once per row and kept: a row is visited in every
/// pass, and AllToAllv's layout alone costs O(ranks²).
struct RowLayout {
  CallContext call;
  Layout elements;  ///< that this rank's call moves
  BufferBytes bytes;
  BufferLayout buffers;
};

/// What the row's call depends on, for this rank. `traffic` outlives it.
[[nodiscard]] CallContext call_context(const RowKey& key, int rank, int ranks, const TrafficMatrix& traffic,
                                       const BufferUse& use);

/// The row's layout. In place as NCCL and nccl-tests define it: of two buffers of different length the
/// smaller one is the rank's own block of the larger one; a rank that has only the smaller one has it alone.
[[nodiscard]] RowLayout row_layout(const RowKey& key, const CallContext& call);

}  // namespace collbench::collectives
