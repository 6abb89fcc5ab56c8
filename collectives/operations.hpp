#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "base/record/operation.hpp"
#include "base/record/traffic_matrix.hpp"

namespace collbench::collectives {

/// How the rows of a run use their buffers.
struct BufferUse {
  bool exact_counts = false;             ///< a rank's part may be any number of elements
  std::uint64_t unaligned_elements = 0;  ///< both buffers begin so many elements late
};

/// What one rank's call depends on, beside how much it moves.
struct CallContext {
  int rank = 0;
  int ranks = 1;
  int root = 0;                            ///< of operations that have one
  const TrafficMatrix* traffic = nullptr;  ///< of AllToAllv: for as many ranks
  std::uint64_t pack = 1;                  ///< elements of which each rank's part is a multiple
  std::uint64_t unaligned_elements = 0;    ///< as in BufferUse
};

inline constexpr std::size_t kPackBytes = 16;

/// Elements of which each rank's part is a multiple: those of 16 bytes, unless counts are exact. NCCL moves
/// 16 bytes at once where a part begins and ends at multiples of them, and otherwise element by element
/// (v2.28.9-1, src/device/common_kernel.h, reduceCopy). nccl-tests rounds to the same (2.19.6,
/// src/all_gather.cu and others, GetCollByteCount).
[[nodiscard]] std::uint64_t pack_elements(std::size_t element_bytes, const BufferUse& use);

/// How many elements one rank's call moves. All counts are of elements.
struct Layout {
  std::uint64_t count = 0;             ///< the count argument of the call; the same on every rank
  std::uint64_t size_elements = 0;     ///< S of the size column: what really moves; the same on every rank
  std::uint64_t send_elements = 0;     ///< length of this rank's send buffer
  std::uint64_t receive_elements = 0;  ///< length of this rank's receive buffer
};

/// Where a stretch of a receive buffer comes from: `length` elements of the send buffer of `source`, from
/// `source_index` on. kReduced stands for the reduction over all ranks' elements at those indices.
struct Segment {
  static constexpr int kReduced = -1;
  int source = kReduced;
  std::uint64_t source_index = 0;
  std::uint64_t length = 0;
};

/// What an operation that can be measured does, whatever library does it.
struct Collective {
  OperationId id;
  /// What a call of `count` elements takes on this rank.
  [[nodiscard]] Layout layout(std::uint64_t count, const CallContext& call) const;
  /// What this rank's receive buffer holds afterwards, from its beginning.
  [[nodiscard]] std::vector<Segment> result(const Layout& layout, const CallContext& call) const;
};

/// The count argument for about `asked_bytes` in the size column: rounded down to whole elements, and a
/// rank's part of a whole to whole packs, but never to nothing unless nothing was asked for.
[[nodiscard]] std::uint64_t count_for(const Operation& operation, std::uint64_t asked_bytes,
                                      std::size_t element_bytes, const CallContext& call);

/// The rank that exchanges messages with this one in PingPong; none for those that look on.
[[nodiscard]] std::optional<int> ping_pong_peer(int rank, int ranks);

/// What one rank exchanges with each rank, by rank, and where it begins in its buffers. Elements.
struct Exchanges {
  std::vector<std::uint64_t> sent;
  std::vector<std::uint64_t> sent_from;
  std::vector<std::uint64_t> received;
  std::vector<std::uint64_t> received_at;
};

/// What a call of AllToAllv with `count` exchanges.
[[nodiscard]] Exchanges exchanges(std::uint64_t count, const CallContext& call);

/// The collective operations that can be measured, in the order in which --ops all shows them. A Step, which
/// can be measured as well, is none.
[[nodiscard]] std::span<const OperationId> measurable_operations();

/// Those of a run that does not say: AllReduce, AllGather, ReduceScatter, AllToAll, SendRecv.
[[nodiscard]] std::span<const OperationId> default_operations();

/// That an operation cannot be measured (not_here): what every backend answers for one that it has no call
/// for.
[[nodiscard]] Error not_measurable(OperationId id);

/// The operation with this id. Throws not_measurable for one that is only imported.
[[nodiscard]] Collective collective(OperationId id);

}  // namespace collbench::collectives
